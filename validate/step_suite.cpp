// Published training steps.
#include <algorithm>
#include <array>

#include "sim/base/named_table.h"
#include "sim/replay/simulate.h"
#include "validate/run_names.h"
#include "validate/run_validation.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 2> kMore = {"measured_s", "measured"};

// What a simulation costs grows with the ranks, and with the operations of each.
double cost_of(const StepRow& row) {
  return static_cast<double>(row.run.gpus()) * static_cast<double>(row.operations);
}

StepShares shares_of(const RunResult& result) {
  const double step = result.step_time.seconds();
  return {.compute = result.split.compute.seconds() / step,
          .exposed_communication = result.split.exposed.seconds() / step,
          .bubble = result.split.bubble.seconds() / step};
}

ValidationRow predict(const StepRow& row, const Profile& profile) {
  const Topology topology = topology_of(row.run);
  const RunResult result = simulate(topology, step_of(row.run, topology), profile, {});
  ValidationRow record = record_of(row.run);
  record.measured = row.measured_s;
  record.predicted = result.step_time.seconds();
  record.shares = shares_of(result);
  return record;
}

void check_origin(const CsvRow& row) {
  static constexpr std::array<std::string_view, 3> kOrigins = {"published", "derived", "here"};
  const std::string& given = row.text("measured");
  if (std::find(kOrigins.begin(), kOrigins.end(), given) == kOrigins.end())
    row.fail("measured", one_of(kOrigins), did_you_mean(given, kOrigins));
}

}  // namespace

std::vector<StepRow> read_steps(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> columns = run_columns_and(kMore);
  const CsvTable table(text, name, columns, needed_run_columns());
  std::vector<StepRow> rows;
  RunNames names;
  for (const CsvRow& row : table.rows()) {
    names.check(row);
    check_origin(row);
    const std::int64_t replicas = row.needed_whole("dp") * row.whole("micro").value_or(1);
    rows.push_back({.run = read_run(row, source_of(name)),
                    .measured_s = row.needed_number("measured_s"),
                    .operations = row.needed_whole("global") / replicas + 1});
  }
  return rows;
}

Validation predict_steps(std::string_view suite, std::vector<StepRow> all, const Profile& profile,
                         const SuiteOptions& options) {
  Validation validation = validation_of(suite, "step time", "s", profile, options);
  const std::vector<StepRow> rows = chosen_rows(std::move(all), suite, options);
  predict_rows(validation, rows, options, cost_of, [&](const StepRow& row) { return predict(row, profile); });
  sum_up(validation);
  return validation;
}

Validation run_steps(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  return predict_steps("steps", all_rows(folder, "steps", read_steps), profile, options);
}

Validation run_sweeps(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  return predict_steps("sweeps", all_rows(folder, "sweeps", read_steps), profile, options);
}

}  // namespace busbar
