#include "reports/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/step_tables.h"
#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::size_t kCollectivesShown = 6;
constexpr std::size_t kLinksShown = 3;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Both definitions where they differ by a per mille of the peak: recomputation counts in the second alone.
std::string utilisation(const RunResult& r, double mfu) {
  const double hfu = mfu * r.hardware_flops / r.model_flops;
  const std::string text = fmt::format("MFU {}", percent(mfu));
  return r.hardware_flops > 0 && hfu - mfu >= 0.001 ? fmt::format("{}, HFU {}", text, percent(hfu)) : text;
}

// ", 395 ms to 441 ms".
std::string interval_text(const RunResult& r) {
  if (!r.step_time_interval) return "";
  return fmt::format(", {} to {}", to_text(r.step_time_interval->first),
                     to_text(r.step_time_interval->second));
}

std::string heading(const RunResult& r) {
  const double step = r.step_time.seconds();
  std::string text =
      fmt::format("{} on {}: {} {}\n\n  step time  {}{}", printable(r.step_name), printable(r.cluster_name),
                  r.ranks, r.ranks == 1 ? "GPU" : "GPUs", to_text(r.step_time), interval_text(r));
  if (step > 0 && r.tokens > 0)
    text += fmt::format("    {:.0f} tokens/s, {:.0f} per GPU", r.tokens / step, r.tokens / step / r.ranks);
  if (step > 0 && r.model_flops > 0) {
    const double rate = r.model_flops / step / r.ranks;
    text += fmt::format(", {:.0f} TFLOP/s per GPU", rate / 1e12);
    if (r.peak_flops) text += fmt::format(" ({})", utilisation(r, rate / *r.peak_flops));
  }
  return text + "\n";
}

// The palette's numbers, which terminals map to colours that suit their paper. Source: ECMA-48,
// section 8.3.117.
constexpr int kRed = 31, kGreen = 32, kYellow = 33, kBlue = 34, kGrey = 90;

std::string painted(const std::string& text, int colour, bool colours) {
  return colours && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
}

std::string split_text(const RunResult& r, bool colours) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  const double step = std::max(1e-12, r.step_time.seconds());
  const auto add = [&](const std::string& name, Time time, int colour) {
    if (time > Time::zero())
      table.add({name, to_text(time), percent(time.seconds() / step),
                 painted(bar(time.seconds() / step, kBarWidth), colour, colours)});
  };
  add("compute", r.split.compute, kBlue);
  for (const auto& [group, time] : r.split.exposed_by_group)
    add(fmt::format("exposed {}", printable(group)), time, kYellow);
  add("pipeline bubble", r.split.bubble, kGrey);
  add("waiting for stragglers", r.split.straggler_wait, kRed);
  add("idle", r.split.idle, kGrey);
  return fmt::format("\nWhere it went (rank {}, which ends last)\n{}", r.last_rank, table.text(2));
}

// The bubble over the rest of the step too, and the stage or expert rank that sets the pace.
std::string balance_text(const RunResult& r) {
  std::string text;
  if (r.split.bubble > Time::zero())
    text += fmt::format("  the bubble is {} of the step, {} of the rest of it\n",
                        percent(bubble_of_step(r.split)), percent(bubble_of_ideal(r.split)));
  const ComputeBalance balance = compute_balance(r.roles);
  if (balance.imbalance >= 1.005)
    text += fmt::format("  {} computes longest: {}, {:.2f} x the mean of all ranks\n",
                        printable(r.roles[balance.busiest].program),
                        to_text(r.roles[balance.busiest].compute), balance.imbalance);
  return text;
}

std::string tables_text(const RunResult& r) {
  std::string text;
  if (!r.collectives.empty()) text += section_text(collectives_table(r), kCollectivesShown);
  if (!r.links.empty()) text += section_text(links_table(r), kLinksShown);
  return text;
}

// What removing each cause would save, by what it takes now.
std::string advice(const RunResult& r) {
  const double step = std::max(1e-12, r.step_time.seconds());
  std::string text = "\nWhat would help\n";
  // What communication takes on the critical path bounds what any change to it can save.
  Time path;
  for (const CriticalSegment& s : r.critical_path)
    if (s.what != "compute") path += s.end - s.start;
  const Time most = std::min(path, r.split.exposed + r.split.straggler_wait + r.split.bubble);
  const double share = most.seconds() / step;
  const double waiting = (r.split.bubble + r.split.straggler_wait).seconds() / step;
  if (share >= 0.02) {
    text += fmt::format(
        "  hiding or speeding up communication: up to {} ({}), and what kernels gain without it beside them",
        to_text(most), percent(share));
    if (!r.links.empty() && r.links.front().peak_fraction > 0.9)
      text += fmt::format("; the {} links carry {} of what they sustain while it runs",
                          printable(r.links.front().link_class), percent(r.links.front().peak_fraction));
    text += "\n";
  } else {
    text += fmt::format("  communication is hidden: a faster network saves at most {} ({})\n", to_text(most),
                        percent(share));
  }
  if (waiting >= 0.02) text += fmt::format("  balancing ranks and stages: at most {}\n", percent(waiting));
  text += fmt::format("  faster kernels (precision, shapes, GPU): they fill {} of the step\n",
                      percent(r.split.compute.seconds() / step));
  return text;
}

std::string memory_text(const RunResult& r, bool colours) {
  if (!r.memory) return "";
  const MemoryRecord& m = *r.memory;
  std::string text = fmt::format("\nMemory per GPU  {}", to_si_text(m.total));
  if (m.capacity)
    text += fmt::format(" of {} ({})", to_si_text(*m.capacity),
                        *m.fits ? painted("fits", kGreen, colours) : painted("DOES NOT FIT", kRed, colours));
  const std::pair<const char*, Bytes> parts[] = {{"parameters", m.parameters},
                                                 {"gradients", m.gradients},
                                                 {"optimizer", m.optimizer},
                                                 {"activations", m.activations},
                                                 {"buffers", m.buffers}};
  const char* separator = ": ";
  for (const auto& [name, bytes] : parts) {
    if (bytes.count() == 0) continue;
    text += fmt::format("{}{} {}", separator, name, to_si_text(bytes));
    separator = ", ";
  }
  return text + "\n";
}

constexpr double kSlower = 1.02;  // our choice: kernels beside communication differ by less

// One rank whose kernels lead the path, and take longer than those of the rank that ends last, is slower, or
// has more to do.
std::string pacemaker_text(const RunResult& r) {
  std::map<std::uint32_t, Time> compute;
  Time all;
  for (const CriticalSegment& s : r.critical_path)
    if (s.what == "compute") {
      compute[s.rank] += s.end - s.start;
      all += s.end - s.start;
    }
  const auto most = std::max_element(compute.begin(), compute.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool others_wait = r.split.exposed + r.split.straggler_wait > Time::zero() && most != compute.end() &&
                           most->first != r.last_rank;
  if (!others_wait || most->second.seconds() < 0.8 * all.seconds() ||
      most->second.seconds() < kSlower * r.split.compute.seconds())
    return "";
  return fmt::format("  its kernels are rank {}'s ({} of {}): {} there holds all others up\n", most->first,
                     to_text(most->second), to_text(all),
                     r.split.bubble > Time::zero() ? "a heavier stage, or a slower GPU," : "a slower GPU");
}

// Runs of the same kind of segment on the critical path, in order of their share.
std::string path_text(const RunResult& r) {
  std::vector<std::pair<std::string, Time>> parts;
  for (const CriticalSegment& s : r.critical_path) {
    const std::string name =
        s.phase.empty() || s.phase == "none" ? s.what : fmt::format("{} {}", s.phase, s.what);
    const auto it = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == name; });
    if (it == parts.end()) {
      parts.emplace_back(name, s.end - s.start);
    } else {
      it->second += s.end - s.start;
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, time] : parts)
    if (time > Time::zero()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, to_text(time));
  if (text.empty()) return "";
  return "\nCritical path  " + text + "\n" + pacemaker_text(r);
}

std::string notes_text(const RunResult& r, bool colours) {
  std::string text;
  if (!r.assumptions.empty()) text += "\nAssumptions\n";
  for (const std::string& a : r.assumptions) text += fmt::format("  {}\n", printable(a));
  if (!r.warnings.empty()) text += painted("\nWarnings", kRed, colours) + "\n";
  for (const Warning& w : r.warnings) text += fmt::format("  {}\n", printable(w.text));
  return text;
}

}  // namespace

std::string summary_text(const RunResult& r, bool colours) {
  return heading(r) + split_text(r, colours) + balance_text(r) + tables_text(r) + path_text(r) + advice(r) +
         memory_text(r, colours) + notes_text(r, colours);
}

std::string compared_text(const RunResult& r) {
  std::string text;
  for (std::size_t i = 0; i < r.compared.size(); ++i) text += section_text(compared_table(r, i));
  return text;
}

ComparedStep compared_with(const OldResult& before, const RunResult& after) {
  if (before.is_sweep())
    throw Error({.where = before.name,
                 .expected = "the result of a step",
                 .given = "a sweep of " + before.operation});
  ComparedStep other{.name = before.title(), .times_s = {}};
  for (const auto& [key, now] : times_of(after))
    for (const auto& [known, was] : before.times_s)
      if (known == key && (was != 0 || now != 0)) other.times_s.emplace_back(key, was);
  return other;
}

}  // namespace busbar
