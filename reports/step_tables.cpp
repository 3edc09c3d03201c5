#include "reports/step_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/sensitivity_report.h"
#include "sim/base/error.h"
#include "sim/result/run_result_io.h"

namespace busbar {

namespace {

using enum Align;

constexpr std::size_t kRowsOfMarkdown = 20;

RecordTable whole_table(const RunResult& r) {
  RecordTable table{
      .name = "step", .title = "The step", .columns = {{"", "", kLeft}, {"value", ""}}, .rows = {}};
  const double step = r.step_time.seconds();
  // Programs know the figures by the names that the JSON gives them, which carry the unit.
  const auto add = [&](const char* name, const char* key, CellModel cell) {
    table.rows.push_back({{name, key}, std::move(cell)});
  };
  add("step time", "step_time_s", time_cell(step));
  add("GPUs", "ranks", count_cell(r.ranks));
  if (step <= 0) return table;
  if (r.tokens > 0)
    add("tokens per second", "tokens_per_s",
        {fmt::format("{:.0f}", r.tokens / step), fmt::format("{}", r.tokens / step)});
  if (r.model_flops > 0) {
    const double rate = r.model_flops / step / r.ranks;
    add("model FLOP/s per GPU", "model_flops_per_s_per_gpu",
        {fmt::format("{:.0f} TFLOP/s", rate / 1e12), fmt::format("{}", rate)});
    if (r.peak_flops) add("MFU", "mfu", share_cell(rate / *r.peak_flops));
  }
  return table;
}

RecordTable split_table(const RunResult& r) {
  RecordTable table{.name = "split",
                    .title = fmt::format("Where it went (rank {}, which ends last)", r.last_rank),
                    .columns = {{"part", "", kLeft}, {"time", "s"}, {"of the step", "share"}},
                    .rows = {}};
  const double step = std::max(1e-12, r.step_time.seconds());
  const auto add = [&](const std::string& name, Time time) {
    if (time > Time::zero())
      table.rows.push_back({name_cell(name), time_cell(time.seconds()), share_cell(time.seconds() / step)});
  };
  add("compute", r.split.compute);
  for (const auto& [group, time] : r.split.exposed_by_group) add("exposed " + group, time);
  add("pipeline bubble", r.split.bubble);
  add("waiting for stragglers", r.split.straggler_wait);
  add("idle", r.split.idle);
  return table;
}

RecordTable roles_table(const RunResult& r) {
  RecordTable table{.name = "roles",
                    .title = "Roles (mean over their ranks)",
                    .columns = {{"role", "", kLeft}, {"ranks", ""}, {"compute", "s"}, {"bubble", "s"}},
                    .rows = {}};
  for (const RoleRecord& role : r.roles)
    table.rows.push_back({name_cell(role.program), count_cell(role.ranks), time_cell(role.compute.seconds()),
                          time_cell(role.bubble.seconds())});
  return table;
}

RecordTable memory_table(const MemoryRecord& m) {
  RecordTable table{.name = "memory",
                    .title = "Memory of the fullest GPU",
                    .columns = {{"part", "", kLeft}, {"size", "bytes"}},
                    .rows = {}};
  const auto add = [&](const char* name, Bytes bytes) {
    table.rows.push_back({name_cell(name), bytes_cell(bytes.as_double())});
  };
  add("parameters", m.parameters);
  add("gradients", m.gradients);
  add("optimizer", m.optimizer);
  add("activations", m.activations);
  add("buffers", m.buffers);
  add("total", m.total);
  if (m.capacity) add("capacity", *m.capacity);
  return table;
}

std::string list_of(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("\n### {}\n\n", title);
  for (const std::string& line : lines) text += fmt::format("- {}\n", printable(line));
  return text;
}

// Without the sensitivities, which Markdown shows in another way.
std::vector<RecordTable> own_tables(const RunResult& r) {
  std::vector<RecordTable> tables{whole_table(r), split_table(r)};
  if (!r.collectives.empty()) tables.push_back(collectives_table(r));
  if (!r.links.empty()) tables.push_back(links_table(r));
  if (r.roles.size() > 1) tables.push_back(roles_table(r));
  if (r.memory) tables.push_back(memory_table(*r.memory));
  for (std::size_t i = 0; i < r.compared.size(); ++i) tables.push_back(compared_table(r, i));
  return tables;
}

}  // namespace

RecordTable collectives_table(const RunResult& r) {
  RecordTable table{.name = "collectives",
                    .title = "Collectives (algorithm/protocol/channels; exposed in all, mean over ranks)",
                    .columns = {{"operation", "", kLeft},
                                {"group", "", kLeft},
                                {"size", "bytes"},
                                {"algorithm", "", kLeft},
                                {"count", ""},
                                {"time each", "s"},
                                {"busbw", "B/s"},
                                {"busbw alone", "B/s"},
                                {"exposed", "s"}},
                    .rows = {},
                    .keys = 4};
  for (const CollectiveRecord& c : r.collectives)
    table.rows.push_back({name_cell(c.operation), name_cell(fmt::format("{} ({})", c.group, c.ranks)),
                          bytes_cell(c.bytes.as_double()),
                          name_cell(fmt::format("{}/{}/{}", c.algorithm, c.protocol, c.channels)),
                          count_cell(c.count), time_cell(c.time.seconds()), rate_cell(c.busbw_Bps),
                          c.attainable_busbw_Bps > 0 ? rate_cell(c.attainable_busbw_Bps) : CellModel{},
                          time_cell(c.exposed.seconds())});
  return table;
}

RecordTable links_table(const RunResult& r) {
  RecordTable table{.name = "links",
                    .title = "Busiest links (share of what they sustain, over the step and at its peak)",
                    .columns = {{"link", "", kLeft},
                                {"class", "", kLeft},
                                {"alike", ""},
                                {"sustains", "B/s"},
                                {"carried", "bytes"},
                                {"of the step", "share"},
                                {"at peak", "share"}},
                    .rows = {},
                    .keys = 2};
  for (const LinkRecord& l : r.links)
    table.rows.push_back({name_cell(l.name), name_cell(l.link_class),
                          count_cell(static_cast<std::int64_t>(l.members)), rate_cell(l.capacity_Bps),
                          bytes_cell(l.bytes), share_cell(l.busy_fraction), share_cell(l.peak_fraction)});
  return table;
}

RecordTable compared_table(const RunResult& r, std::size_t number) {
  const ComparedStep& other = r.compared[number];
  RecordTable table{.name = fmt::format("compared_{}", number + 1),
                    .title = "Compared with " + printable(other.name),
                    .columns = {{"part", "", kLeft}, {"before", "s"}, {"after", "s"}, {"change", "share"}},
                    .rows = {}};
  for (const auto& [key, now] : times_of(r))
    for (const auto& [known, was] : other.times_s) {
      if (known != key) continue;
      std::string name = key.substr(0, key.size() - 2);  // without the unit
      std::replace(name.begin(), name.end(), '_', ' ');
      table.rows.push_back(
          {{name, key}, time_cell(was), time_cell(now), was > 0 ? change_cell(now / was - 1) : CellModel{}});
    }
  return table;
}

std::vector<RecordTable> step_tables(const RunResult& r) {
  std::vector<RecordTable> tables = own_tables(r);
  if (!r.sensitivity.empty()) tables.push_back(sensitivity_table(r.sensitivity));
  return tables;
}

std::vector<RecordTable> step_shapes() {
  RunResult none;
  none.compared.emplace_back();
  RecordTable compared = compared_table(none, 0);
  compared.name = "compared";
  return {split_table(none), collectives_table(none), links_table(none),    roles_table(none),
          memory_table({}),  std::move(compared),     sensitivity_table({})};
}

std::string step_markdown(const RunResult& r) {
  std::string text =
      fmt::format("## {} on {}: {} {}\n", markdown_prose(printable(r.step_name)),
                  markdown_prose(printable(r.cluster_name)), r.ranks, r.ranks == 1 ? "GPU" : "GPUs");
  for (const RecordTable& table : own_tables(r)) text += section_markdown(table, kRowsOfMarkdown);
  text += sensitivity_markdown(r);
  std::vector<std::string> warnings;
  for (const Warning& w : r.warnings) warnings.push_back(w.text);
  return text + list_of("Assumptions", r.assumptions) + list_of("Warnings", warnings);
}

std::string step_csv(const RunResult& r) { return tidy_csv(step_tables(r)); }

}  // namespace busbar
