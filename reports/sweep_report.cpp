// Sweeps as text, Markdown and CSV.
#include <fmt/format.h>

#include <algorithm>

#include "reports/record_table.h"
#include "reports/summary.h"
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

using enum Align;

CellModel figure_cell(double value) { return {fmt::format("{:.2f}", value), fmt::format("{:.6g}", value)}; }
CellModel us_cell(double seconds) { return figure_cell(1e6 * seconds); }
CellModel percent_cell(double share) {
  return {fmt::format("{:+.1f}", 100 * share), fmt::format("{:.4g}", 100 * share)};
}
CellModel for_programs(std::string text) { return {"", std::move(text)}; }

using Columns = std::vector<ColumnModel>;
using Cells = std::vector<CellModel>;

Columns plain_columns() {
  return {{"operation", "", kLeft, "", Reader::kPrograms},
          {"size", "bytes"},
          {"count", ""},
          {"type", "", kLeft},
          {"redop", "", kLeft},
          {"root", ""},
          {"ranks", "", kRight, "", Reader::kPrograms},
          {"time", "us"},
          {"algbw", "GB/s"},
          {"busbw", "GB/s"},
          {"algorithm", "", kLeft},
          {"protocol", "", kLeft},
          {"channels", ""},
          {"limit", "", kLeft}};
}

Cells plain_cells(const Sweep& s, const SweepRow& r) {
  return {name_cell(std::string(name_of(r.operation))),
          count_cell(r.size.count()),
          count_cell(r.count),
          name_cell(std::string(name_of(s.type))),
          name_cell(redop(s, r)),
          count_cell(s.root),
          count_cell(s.ranks),
          us_cell(r.time.seconds()),
          figure_cell(r.algbw_Bps / 1e9),
          figure_cell(r.busbw_Bps / 1e9),
          name_cell(r.algorithm),
          name_cell(r.protocol),
          count_cell(r.channels),
          name_cell(r.limit)};
}

void add_interval(RecordTable& table, const Sweep& s) {
  table.columns.insert(table.columns.end(), {{"from", "us"}, {"to", "us"}});
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const auto& interval = s.rows[i].interval;
    table.rows[i].push_back(interval ? us_cell(interval->first.seconds()) : CellModel{});
    table.rows[i].push_back(interval ? us_cell(interval->second.seconds()) : CellModel{});
  }
}

void add_measured(RecordTable& table, const Sweep& s) {
  table.columns.insert(table.columns.end(), {{"measured", "us"},
                                             {"error", "percent"},
                                             {"measured_choice", "", kLeft, "", Reader::kPrograms},
                                             {"choice_agrees", "", kLeft, "", Reader::kPrograms}});
  if (names_choices(s)) table.columns.push_back({"choice", "", kLeft, "", Reader::kPeople});
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const auto& m = s.rows[i].measured;
    if (!m) {
      table.rows[i].resize(table.columns.size());
      continue;
    }
    const bool named = !m->choice.empty();
    Cells cells{us_cell(m->time.seconds()), percent_cell(m->error), for_programs(m->choice),
                for_programs(!named      ? ""
                             : m->agrees ? "yes"
                                         : "no")};
    if (names_choices(s))
      cells.push_back({!named ? "" : m->agrees ? "agrees" : "measured " + printable(m->choice), ""});
    table.rows[i].insert(table.rows[i].end(), cells.begin(), cells.end());
  }
}

const ComparedSweep::Row* row_of_size(const ComparedSweep& other, Bytes size) {
  for (const ComparedSweep::Row& row : other.rows)
    if (row.size == size) return &row;
  return nullptr;
}

// Names are long: people find them below the table, by number.
void add_compared(RecordTable& table, const Sweep& s, std::size_t number) {
  const ComparedSweep& other = s.compared[number];
  const std::string n = fmt::format("{}", number + 1);
  table.columns.insert(table.columns.end(), {{"compared_" + n, "", kLeft, "", Reader::kPrograms},
                                             {"time[" + n + "]", "us", kRight, "time_" + n},
                                             {"busbw[" + n + "]", "GB/s", kRight, "busbw_" + n},
                                             {"change[" + n + "]", "percent", kRight, "change_" + n}});
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    table.rows[i].push_back(for_programs(other.name));
    const ComparedSweep::Row* row = row_of_size(other, s.rows[i].size);
    if (row != nullptr) {
      table.rows[i].push_back(us_cell(row->time_s));
      table.rows[i].push_back(row->busbw_Bps > 0 ? figure_cell(row->busbw_Bps / 1e9) : CellModel{});
      if (row->time_s > 0) table.rows[i].push_back(percent_cell(s.rows[i].time.seconds() / row->time_s - 1));
    }
    table.rows[i].resize(table.columns.size());
  }
}

RecordTable sweep_table(const Sweep& s) {
  RecordTable table{.name = "sweep",
                    .title = "Sizes",
                    .columns = plain_columns(),
                    .rows = {},
                    .keys = 2,
                    .heads_with_units = true};
  for (const SweepRow& r : s.rows) table.rows.push_back(plain_cells(s, r));
  if (has_intervals(s)) add_interval(table, s);
  if (s.comparison) add_measured(table, s);
  for (std::size_t i = 0; i < s.compared.size(); ++i) add_compared(table, s, i);
  return table;
}

std::vector<std::string> remarks(const Sweep& s) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < s.compared.size(); ++i)
    lines.push_back(fmt::format("[{}]: {}; change: of the time, from there to here", i + 1,
                                printable(s.compared[i].name)));
  for (const std::string& note : s.notes) lines.push_back("note: " + printable(note));
  for (const Warning& w : s.warnings) lines.push_back("warning: " + printable(w.text));
  return lines;
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

std::string heading(const Sweep& s) {
  return fmt::format("{} on {}: {} ranks on {} host{}\n", name_of_operation(s), printable(s.cluster_name),
                     s.ranks, s.hosts, s.hosts == 1 ? "" : "s");
}

}  // namespace

std::string sweep_text(const Sweep& s) {
  std::string text = "# " + heading(s) + table_text(sweep_table(s), 0);
  if (s.half_bandwidth_size && s.rows.size() > 1 && s.rows.back().limit != "latency")
    text += fmt::format("# half of the best busbw is reached at {} ({} B)\n", to_text(*s.half_bandwidth_size),
                        s.half_bandwidth_size->count());
  if (s.comparison) text += comparison_text(*s.comparison);
  for (const std::string& line : remarks(s)) text += "# " + line + "\n";
  return text;
}

std::string sweep_markdown(const Sweep& s) {
  std::string text = "## " + markdown_prose(heading(s)) + section_markdown(sweep_table(s));
  if (s.comparison) text += "\n" + markdown_prose(comparison_text(*s.comparison).substr(2));
  const std::vector<std::string> lines = remarks(s);
  if (!lines.empty()) text += "\n";
  for (const std::string& line : lines) text += "- " + markdown_prose(line) + "\n";
  return text;
}

RecordTable sweep_shape() {
  Sweep none;
  none.comparison.emplace();
  none.compared.emplace_back();
  return sweep_table(none);
}

std::string sweep_csv(const Sweep& s) { return table_csv(sweep_table(s)); }

ComparedSweep compared_with(const OldResult& before, const Sweep& after) {
  const std::string operation = name_of_operation(after);
  if (!before.is_sweep())
    throw Error({.where = before.name, .expected = "a sweep", .given = "the result of a step"});
  if (before.operation != operation)
    throw Error(
        {.where = before.name, .expected = "a sweep of " + operation, .given = "one of " + before.operation});
  ComparedSweep other{.name = before.title(), .rows = before.rows};
  const bool common = std::any_of(after.rows.begin(), after.rows.end(), [&](const SweepRow& row) {
    return row_of_size(other, row.size) != nullptr;
  });
  if (!common) throw Error({.where = before.name, .message = "the two sweeps have no size in common"});
  return other;
}

}  // namespace busbar
