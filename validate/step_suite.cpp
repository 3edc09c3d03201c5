// Published training steps.
#include <array>

#include "sim/replay/simulate.h"
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
  const RunResult result = simulate(topology_of(row.run), expand(workload_of(row.run)), profile, {});
  ValidationRow record = record_of(row.run);
  record.measured = row.measured_s;
  record.predicted = result.step_time.seconds();
  record.shares = shares_of(result);
  return record;
}

}  // namespace

std::vector<StepRow> read_steps(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> columns = run_columns_and(kMore);
  const CsvTable table(text, name, columns);
  std::vector<StepRow> rows;
  for (const CsvRow& row : table.rows()) {
    if (row.text("measured") != "published" && row.text("measured") != "derived")
      row.fail("measured", "published or derived");
    const std::int64_t replicas = row.needed_whole("dp") * row.needed_whole("micro");
    rows.push_back({.run = read_run(row, source_of(name)),
                    .measured_s = row.needed_number("measured_s"),
                    .operations = row.needed_whole("global") / replicas + 1});
  }
  return rows;
}

namespace {

Validation run_rows(std::string_view suite, const std::string& folder, const Profile& profile,
                    const SuiteOptions& options) {
  Validation validation = validation_of(suite, "step time", "s", profile, options);
  const std::vector<StepRow> rows = selected_rows(folder, suite, options, read_steps);
  predict_rows(validation, rows, options, cost_of, [&](const StepRow& row) { return predict(row, profile); });
  sum_up(validation);
  return validation;
}

}  // namespace

Validation run_steps(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  return run_rows("steps", folder, profile, options);
}

Validation run_sweeps(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  return run_rows("sweeps", folder, profile, options);
}

}  // namespace busbar
