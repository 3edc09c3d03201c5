// Published training jobs, by the memory that they took or ran out of.
#include <algorithm>
#include <array>

#include "validate/run_names.h"
#include "validate/run_validation.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 3> kMore = {"fits", "peak_reserved_bytes", "peak_allocated_bytes"};

// A stage keeps the activations of as many microbatches as it has in flight, at most one per stage: more of
// them take longer to lay out and no more memory.
Workload shortened(Workload w) {
  const std::int64_t pass = w.batch.micro * w.parallel.dp;
  const std::int64_t most = 2 * w.parallel.pp * w.parallel.virtual_stages;
  w.batch.global = std::min(w.batch.global, pass * most);
  return w;
}

double peak_of(const Workload& workload) {
  double peak = 0;
  for (const Program& program : expand(shortened(workload)).programs)
    if (program.memory) peak = std::max(peak, program.memory->total().as_double());
  return peak;
}

double capacity_of(const RunRow& run) {
  RunMachine one = run.machine;  // one host is enough to know the GPU
  one.hosts = 1;
  one.fabric = "none";
  RunRow small = run;
  small.machine = one;
  return topology_of(small).gpu_models().front().memory.as_double();
}

void judge(FitVerdicts& verdicts, bool fits, bool predicted) {
  if (fits)
    ++(predicted ? verdicts.fits_right : verdicts.fits_wrong);
  else
    ++(predicted ? verdicts.oom_wrong : verdicts.oom_right);
}

}  // namespace

std::vector<MemoryRow> read_memory(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> columns = run_columns_and(kMore);
  const CsvTable table(text, name, columns, needed_run_columns());
  std::vector<MemoryRow> rows;
  RunNames names;
  for (const CsvRow& row : table.rows()) {
    names.check(row);
    const auto fits = row.yes_no("fits");
    if (!fits) row.fail("fits", "yes or no");
    rows.push_back({.run = read_run(row, source_of(name)),
                    .fits = *fits,
                    .peak_bytes = *fits ? row.needed_number("peak_reserved_bytes") : 0});
  }
  return rows;
}

Validation predict_memory(std::vector<MemoryRow> all, const Profile& profile, const SuiteOptions& options) {
  Validation validation = validation_of("memory", "peak memory", "bytes", profile, options);
  const std::vector<MemoryRow> rows = chosen_rows(std::move(all), "memory", options);
  const auto predict = [&](const MemoryRow& row) {
    ValidationRow record = record_of(row.run);
    record.measured = row.peak_bytes;
    record.predicted = peak_of(workload_of(row.run));
    record.capacity = capacity_of(row.run);
    return record;
  };
  predict_rows(
      validation, rows, options, [](const MemoryRow& row) { return row.run.gpus(); }, predict);
  // Jobs that ran out of memory have no peak to compare with.
  FitVerdicts verdicts;
  for (const ValidationRow& row : validation.rows)
    judge(verdicts, row.measured > 0, row.predicted <= *row.capacity);
  std::erase_if(validation.rows, [](const ValidationRow& row) { return row.measured == 0; });
  validation.fits = verdicts;
  sum_up(validation);
  return validation;
}

Validation run_memory(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  return predict_memory(all_rows(folder, "memory", read_memory), profile, options);
}

}  // namespace busbar
