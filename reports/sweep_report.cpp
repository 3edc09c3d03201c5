// Sweeps as text and CSV.
#include <fmt/format.h>

#include <algorithm>

#include "reports/section.h"
#include "reports/summary.h"
#include "reports/table.h"
#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

std::string redop(const Sweep& s, const SweepRow& r) {
  return is_reducing(r.operation) ? std::string(name_of(s.reduction)) : "none";
}

std::string name_of_operation(const Sweep& s) {
  return s.rows.empty() ? "" : std::string(name_of(s.rows.front().operation));
}

bool has_intervals(const Sweep& s) {
  return std::any_of(s.rows.begin(), s.rows.end(), [](const SweepRow& r) { return r.interval.has_value(); });
}

bool names_choices(const Sweep& s) { return s.comparison && s.comparison->summary.choices > 0; }

void add_measured(std::vector<std::string>& cells, const SweepRow& r, bool with_choice) {
  if (!r.measured) return;
  cells.push_back(fmt::format("{:.2f}", r.measured->time.microseconds()));
  cells.push_back(fmt::format("{:+.1f}", 100 * r.measured->error));
  if (!with_choice || r.measured->choice.empty()) return;
  cells.push_back(r.measured->agrees ? "agrees" : "measured " + printable(r.measured->choice));
}

// The columns of the text, and of Markdown.
Section sweep_table(const Sweep& s) {
  using enum Align;
  std::vector<Align> align{kRight, kRight, kLeft, kLeft, kRight, kRight,
                           kRight, kRight, kLeft, kLeft, kRight, kLeft};
  if (has_intervals(s)) align.insert(align.end(), {kRight, kRight});
  align.insert(align.end(), {kRight, kRight, kLeft});
  std::vector<std::string> header{"size(B)",   "count",    "type",        "redop",
                                  "root",      "time(us)", "algbw(GB/s)", "busbw(GB/s)",
                                  "algorithm", "protocol", "channels",    "limit"};
  if (has_intervals(s)) header.insert(header.end(), {"from(us)", "to(us)"});
  if (s.comparison) header.insert(header.end(), {"measured(us)", "error(%)"});
  if (names_choices(s)) header.emplace_back("choice");
  Section table{.title = "Sizes", .align = std::move(align), .rows = {std::move(header)}};
  for (const SweepRow& r : s.rows) {
    std::vector<std::string> cells{fmt::format("{}", r.size.count()),
                                   fmt::format("{}", r.count),
                                   std::string(name_of(s.type)),
                                   redop(s, r),
                                   fmt::format("{}", s.root),
                                   fmt::format("{:.2f}", r.time.microseconds()),
                                   fmt::format("{:.2f}", r.algbw_Bps / 1e9),
                                   fmt::format("{:.2f}", r.busbw_Bps / 1e9),
                                   r.algorithm,
                                   r.protocol,
                                   fmt::format("{}", r.channels),
                                   printable(r.limit)};
    if (has_intervals(s))
      for (const auto end : {&std::pair<Time, Time>::first, &std::pair<Time, Time>::second})
        cells.push_back(r.interval ? fmt::format("{:.2f}", ((*r.interval).*end).microseconds()) : "");
    add_measured(cells, r, names_choices(s));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string text_of(const Section& section) {
  TextTable table(section.align);
  for (const auto& row : section.rows) table.add(row);
  return table.text(0);
}

std::string comparison_text(const SweepComparison& comparison) {
  const ErrorSummary& m = comparison.summary;
  std::string text =
      fmt::format("# against {}: {} row{}", printable(comparison.source), m.rows, m.rows == 1 ? "" : "s");
  if (m.rows > m.small)
    text += fmt::format(
        ", median |error| {:.1f} %, mean |error| {:.1f} %, bias {:+.1f} %, worst {:+.1f} % at {} B",
        100 * m.median_abs, 100 * m.mean_abs, 100 * m.bias, 100 * m.worst, m.worst_size.count());
  if (m.small > 0) text += fmt::format("; without {} below 1 KiB", m.small);
  if (m.choices > 0) text += fmt::format("; the choice agrees in {} of {}", m.agreeing, m.choices);
  return text + "\n";
}

// Four cells, each with its comma; empty where nothing was measured.
std::string measured_csv(const SweepRow& r) {
  if (!r.measured) return ",,,,";
  const std::string agrees = r.measured->choice.empty() ? "" : r.measured->agrees ? "yes" : "no";
  return fmt::format(",{:.6g},{:.4g},{},{}", r.measured->time.microseconds(), 100 * r.measured->error,
                     csv_cell(r.measured->choice), agrees);
}

}  // namespace

std::string sweep_text(const Sweep& s) {
  std::string text =
      fmt::format("# {} on {}: {} ranks on {} host{}\n{}", name_of_operation(s), printable(s.cluster_name),
                  s.ranks, s.hosts, s.hosts == 1 ? "" : "s", text_of(sweep_table(s)));
  if (s.half_bandwidth_size && s.rows.size() > 1 && s.rows.back().limit != "latency")
    text += fmt::format("# half of the best busbw is reached at {} ({} B)\n", to_text(*s.half_bandwidth_size),
                        s.half_bandwidth_size->count());
  if (s.comparison) text += comparison_text(*s.comparison);
  for (const std::string& note : s.notes) text += fmt::format("# note: {}\n", printable(note));
  for (const Warning& w : s.warnings) text += fmt::format("# warning: {}\n", printable(w.text));
  return text;
}

std::string sweep_markdown(const Sweep& s) {
  Section table = sweep_table(s);
  table.align.resize(table.rows.front().size());
  std::string text =
      fmt::format("## {} on {}: {} ranks on {} host{}\n{}", name_of_operation(s), printable(s.cluster_name),
                  s.ranks, s.hosts, s.hosts == 1 ? "" : "s", section_markdown(table));
  if (s.comparison) text += "\n" + comparison_text(*s.comparison).substr(2);
  for (const std::string& note : s.notes) text += fmt::format("\n- {}", printable(note));
  for (const Warning& w : s.warnings) text += fmt::format("\n- warning: {}", printable(w.text));
  return text.ends_with('\n') ? text : text + "\n";
}

std::string sweep_csv(const Sweep& s) {
  std::string text =
      "operation,size_bytes,count,type,redop,root,ranks,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,"
      "channels,limit";
  if (has_intervals(s)) text += ",from_us,to_us";
  text += s.comparison ? ",measured_us,error_percent,measured_choice,choice_agrees\n" : "\n";
  for (const SweepRow& r : s.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{},{},{},{}", name_of(r.operation),
                        r.size.count(), r.count, name_of(s.type), redop(s, r), s.root, s.ranks,
                        r.time.microseconds(), r.algbw_Bps / 1e9, r.busbw_Bps / 1e9, csv_cell(r.algorithm),
                        csv_cell(r.protocol), r.channels, csv_cell(r.limit));
    if (r.interval)
      text +=
          fmt::format(",{:.6g},{:.6g}", r.interval->first.microseconds(), r.interval->second.microseconds());
    else if (has_intervals(s))
      text += ",,";
    text += (s.comparison ? measured_csv(r) : "") + "\n";
  }
  return text;
}

std::string compare_text(const OldResult& before, const Sweep& after) {
  const std::string operation = name_of_operation(after);
  if (!before.is_sweep())
    throw Error({.where = before.name, .expected = "a sweep", .given = "the result of a step"});
  if (before.operation != operation)
    throw Error(
        {.where = before.name, .expected = "a sweep of " + operation, .given = "one of " + before.operation});
  bool common = false;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"size(B)", "before(us)", "after(us)", "change"});
  for (const SweepRow& row : after.rows) {
    const auto was = std::find_if(before.sweep_times_s.begin(), before.sweep_times_s.end(),
                                  [&](const auto& p) { return p.first == row.size.count(); });
    if (was == before.sweep_times_s.end()) continue;
    common = true;
    table.add(
        {fmt::format("{}", row.size.count()), fmt::format("{:.2f}", was->second * 1e6),
         fmt::format("{:.2f}", row.time.microseconds()),
         was->second > 0 ? fmt::format("{:+.1f} %", 100 * (row.time.seconds() / was->second - 1)) : ""});
  }
  if (!common) throw Error({.where = before.name, .message = "the two sweeps have no size in common"});
  return fmt::format("# compared with {} ({})\n{}", printable(before.name), printable(before.operation),
                     table.text(0));
}

}  // namespace busbar
