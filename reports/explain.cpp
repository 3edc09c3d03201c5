#include "reports/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reports/table.h"
#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr std::size_t kOperationsShown = 12;
constexpr const char* kLegend =
    "S bytes, n ranks, c channels, m of them alike, q = S / (n c); B: what the protocol reaches";

std::string bytes_text(double bytes) {
  if (bytes < 1000) return fmt::format("{:.4g} B", bytes);
  return to_si_text(Bytes(static_cast<std::int64_t>(std::llround(bytes))));
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string name_of_limit(const std::string& what) {
  if (what == "protocol") return "the channels' own ceiling (protocol)";
  if (what == "latency" || what == "nothing") return what;
  return what + " links";
}

// One line under a heading column.
std::string line(std::string_view heading, const std::string& words) {
  return fmt::format("   {:<11}{}\n", heading, words);
}

std::string time_text(const Explanation& e) {
  std::string symbols = "T = latency";
  std::string numbers = to_text(e.latency);
  const auto add = [&](const char* symbol, Time time) {
    if (time == Time::zero()) return;
    symbols += symbol;
    numbers += " + " + to_text(time);
  };
  add(" + V / r", e.transfer);
  add(" + tail", e.tail);
  std::string text = line("time", fmt::format("{} = {} = {}", symbols, numbers, to_text(e.alone)));
  for (const FormulaTerm& t : e.terms) text += line("", fmt::format("{:<8}{}", t.name, printable(t.text)));
  return text;
}

std::string gain_text(Time before, Time after) {
  const double speedup = before.seconds() / after.seconds();
  return speedup < 1.1 ? percent(1 - 1 / speedup) + " less" : fmt::format("{:.2f} x as fast", speedup);
}

std::string limit_text(const Explanation& e) {
  const RateLimit& l = e.limit;
  if (l.what == "nothing" || l.what.empty()) return "";
  // Latency holds no rate, yet it may be most of the time; then the rate comes second.
  const bool mostly_latency = e.latency > e.alone - e.latency;
  std::string out;
  if (mostly_latency)
    out = line("bound by",
               fmt::format("latency: {} of its time", percent(e.latency.seconds() / e.alone.seconds())));
  if (l.what == "latency") return out;
  // A ceiling of the profile has words of its own.
  std::string text = l.link.empty() && l.what != "protocol" ? l.what : name_of_limit(l.what);
  if (!l.link.empty())
    text += fmt::format(": {} carries {:.3g} flows and is full at {:.1f} GB/s", printable(l.link), l.flows,
                        l.capacity_Bps / 1e9);
  out += mostly_latency ? line("", "its rate by " + text) : line("bound by", text);
  if (l.lifted > Time::zero())
    out += line("", fmt::format("without that limit {} ({}), then bound by {}", to_text(l.lifted),
                                gain_text(e.alone, l.lifted), name_of_limit(l.next)));
  return out;
}

std::string beyond_text(const Explanation& e) { return e.beyond.empty() ? "" : line("note", e.beyond); }

std::string transports_text(const Explanation& e) {
  std::string text;
  for (const TransportUse& t : e.transports) {
    const std::string hop =
        t.hop_latency > Time::zero() ? to_text(t.hop_latency) + " a hop" : "no further latency a hop";
    text += fmt::format("{}{} by {} ({}, {} of the nominal rate)", text.empty() ? "" : "; ", t.where,
                        t.transport, hop, percent(t.efficiency));
  }
  return text.empty() ? "" : line("talk", text);
}

// "25.2 + S/19.5 = 132.7 *".
std::string cell_text(const PricedChoice& c) {
  if (!c.available) return "-";
  return fmt::format("{:.1f} + S/{:.1f} = {:.1f}{}", 1e6 * c.latency_s, c.bandwidth_Bps / 1e9,
                     1e6 * c.estimate_s, c.chosen ? " *" : "");
}

// One row per algorithm, one column per protocol.
std::string choices_text(const PricedChoices& choices) {
  if (choices.cells.empty()) return "";
  using enum Align;
  TextTable table({kLeft, kRight, kRight, kRight});
  std::vector<std::string> header{"algorithm"}, row;
  for (const PricedChoice& c : choices.cells) {
    if (c.algorithm != choices.cells.front().algorithm) break;
    header.push_back(c.protocol);
  }
  table.add(header);
  for (const PricedChoice& c : choices.cells) {
    if (!row.empty() && row.front() != c.algorithm) {
      table.add(row);
      row.clear();
    }
    if (row.empty()) row.push_back(c.algorithm);
    row.push_back(cell_text(c));
  }
  table.add(row);
  return line("chosen by", printable(choices.decided_by)) +
         line("", "NCCL's estimates: latency(us) + S / bandwidth(GB/s), corrected by size, = us; * runs") +
         table.text(14);
}

std::string sharing_text(const Explanation& e) {
  if (e.time <= e.alone) return "";
  const double more = e.time.seconds() / std::max(1e-12, e.alone.seconds()) - 1;
  if (more < 0.0005) return "";
  return line(
      "sharing",
      fmt::format("{} in the step, {} longer than the first group alone: others use its links meanwhile, or "
                  "have slower ones",
                  to_text(e.time), percent(more)));
}

std::string waits_text(const Explanation& e) {
  if (e.waited == Time::zero()) return line("waited", "for no member: all arrive together");
  std::string text = fmt::format("{} in all per member for the last to arrive", to_text(e.waited));
  std::string ranks;
  for (const MemberWait& w : e.waited_for)
    ranks += fmt::format("{}rank {} ({})", ranks.empty() ? "" : ", ", w.rank,
                         to_text(Time::picoseconds(w.caused.ps() / std::max(1U, e.ranks))));
  return line("waited", text + ", most for " + ranks);
}

std::string causes_text(const Explanation& e) {
  std::string text;
  for (const StartCause& c : e.started_by)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(c.what), c.count);
  return text.empty() ? "" : line("started by", text);
}

std::string traffic_text(const Explanation& e) {
  if (e.crosses.empty()) return "";
  using enum Align;
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kLeft});
  table.add({"crosses", "bytes", "per GPU", "links", "peak load", "busiest"});
  for (const ClassTraffic& c : e.crosses)
    table.add({printable(c.link_class), bytes_text(c.bytes), bytes_text(c.bytes_per_gpu),
               fmt::format("{}", c.links), percent(c.busiest_share), printable(c.busiest)});
  return table.text(3);
}

std::string heading(const Explanation& e) {
  std::string text = fmt::format("{} of {}", e.operation, bytes_text(e.bytes.as_double()));
  text +=
      fmt::format(" on {} ({} ranks), {} x {}: {} / {}, {} channel{}\n", printable(e.group), e.ranks, e.count,
                  to_text(e.time), e.algorithm, e.protocol, e.channels, e.channels == 1 ? "" : "s");
  return text;
}

std::string body(const Explanation& e) {
  if (e.ranks < 2) return line("", "one rank: it costs nothing and moves nothing");
  return line("how", e.words) + choices_text(e.choices) + transports_text(e) + time_text(e) + limit_text(e) +
         beyond_text(e) + sharing_text(e);
}

// What a collective starts from and must end with. Chunks and members are numbered from 0 in group order.
struct Promise {
  std::string_view operation, before, after;
};
constexpr Promise kPromises[] = {
    {"all_reduce", "every rank holds all chunks of its own", "every rank holds the sum of every chunk"},
    {"all_gather", "each member holds the chunk of its number", "every rank holds all chunks"},
    {"reduce_scatter", "every rank holds all chunks of its own", "each member holds the sum of its chunk"},
    {"broadcast", "the root holds the data", "every rank holds it"},
    {"reduce", "every rank holds all chunks of its own", "the root holds the sum of every chunk"},
    {"gather", "each member holds the chunk of its number", "the root holds all chunks"},
    {"scatter", "the root holds all chunks", "each member holds the chunk of its number"},
    {"all_to_all", "rank s of n holds chunk s n + d for each rank d",
     "rank d holds chunk s n + d of each rank s"},
    {"send_recv", "each member holds the message of its number", "each holds that of the one before it"},
    {"barrier", "each rank has arrived", "each rank knows that all have"},
};

const Promise* promise_of(std::string_view operation) {
  for (const Promise& p : kPromises)
    if (p.operation == operation) return &p;
  return nullptr;
}

std::string participant(std::uint32_t number, bool is_switch) {
  return fmt::format("{} {}", is_switch ? "switch" : "rank", number);
}

std::string rounds_text(const Explanation& e) {
  if (e.rounds.empty()) return "";
  std::string text = "   step by step";
  if (e.chunk_bytes > 0) text += fmt::format(", in chunks of {}", bytes_text(e.chunk_bytes));
  if (e.chunk_bytes > 0 && e.channels > 1) text += fmt::format(" (each cut over {} channels)", e.channels);
  text += "\n";
  const Promise* promise = promise_of(e.operation);
  if (promise != nullptr) text += fmt::format("     before: {}\n", promise->before);
  for (std::size_t r = 0; r < e.rounds.size(); ++r) {
    text += fmt::format("     round {} of {}\n", r + 1, e.rounds.size());
    for (const ExplainedSend& s : e.rounds[r].sends) {
      text += fmt::format("       {} -> {}: chunk {} ({})", participant(s.from, s.from_switch),
                          participant(s.to, s.to_switch), s.chunk, s.reduce ? "reduce" : "copy");
      if (s.reduce) text += fmt::format(", now the sum of ranks {}", fmt::join(s.holds, ", "));
      text += "\n";
    }
  }
  if (promise != nullptr) text += fmt::format("     after: {}\n", promise->after);
  return text;
}

}  // namespace

std::string explain_text(const RunResult& r) {
  std::string text = fmt::format("\nWhy each operation takes its time ({})\n", kLegend);
  for (std::size_t i = 0; i < std::min(kOperationsShown, r.explanations.size()); ++i) {
    const Explanation& e = r.explanations[i];
    text += fmt::format("\n{}. {}", i + 1, heading(e)) + body(e);
    if (e.ranks > 1) text += waits_text(e) + causes_text(e) + traffic_text(e);
  }
  if (r.explanations.empty()) text += "  it does not communicate\n";
  if (r.explanations.size() > kOperationsShown)
    text += fmt::format("\n... and {} more kinds (--json lists them)\n",
                        r.explanations.size() - kOperationsShown);
  return text;
}

std::string explain_text(const Sweep& s) {
  const auto same_choice = [](const Explanation& a, const Explanation& b) {
    return a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels;
  };
  std::string text = fmt::format("\nWhy it takes its time ({}", kLegend);
  if (s.explanations.size() > 1) text += "; the largest size of each choice";
  text += ")\n";
  const std::string* algorithm = nullptr;
  for (std::size_t i = 0; i < s.explanations.size(); ++i) {
    const Explanation& e = s.explanations[i];
    if (i + 1 < s.explanations.size() && same_choice(e, s.explanations[i + 1])) continue;
    text += "\n" + heading(e) + body(e);
    if (e.ranks > 1) text += traffic_text(e);
    // The steps of an algorithm do not depend on the size.
    if (algorithm == nullptr || *algorithm != e.algorithm) text += rounds_text(e);
    algorithm = &e.algorithm;
  }
  return text;
}

}  // namespace busbar
