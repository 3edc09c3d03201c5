// What the suites of training runs have in common: which rows, in parallel, what becomes of refusals.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/worker_pool.h"
#include "validate/figures.h"
#include "validate/run_suites.h"

namespace busbar {

/// "Llama3-8B, 64 GPUs, tp 4 dp 16".
[[nodiscard]] inline std::string what_of(const RunRow& run) {
  return fmt::format("{}, {} GPU{}{}{}", run.model, run.gpus(), run.gpus() == 1 ? "" : "s",
                     run.layout.empty() ? "" : ", ", run.layout);
}

/// "dgxc, H100"; of a run with files of its own its system alone.
[[nodiscard]] inline std::string system_of(const RunRow& run) {
  return run.topology_file.empty() ? fmt::format("{}, {}", run.source, run.gpu) : run.gpu;
}

/// The rows of `rows` that the options ask for. Errors (Error, kInput): none is.
template <class Row>
std::vector<Row> chosen_rows(std::vector<Row> rows, std::string_view suite, const SuiteOptions& options) {
  std::vector<Row> chosen;
  std::size_t number = 0;
  for (Row& row : rows) {
    const RunRow& run = row.run;
    if (!matches({{"source", run.source},
                  {"framework", run.framework},
                  {"gpu", run.gpu},
                  {"id", run.id},
                  {"model", run.model}},
                 options.filters))
      continue;
    if (options.most_gpus > 0 && run.gpus() > options.most_gpus) continue;
    if (number++ % options.every == 0) chosen.push_back(std::move(row));
  }
  if (chosen.empty()) fail_empty(suite);
  return chosen;
}

/// The rows of all tables of a suite's folder.
template <class Row>
std::vector<Row> all_rows(const std::string& folder, std::string_view suite,
                          std::vector<Row> (*read)(std::string_view, const std::string&)) {
  std::vector<Row> rows;
  for (const std::string& path : tables_in(fmt::format("{}/{}", folder, suite)))
    for (Row& row : read(load_text(path), path)) rows.push_back(std::move(row));
  return rows;
}

/// Predicts all rows, the costliest first, and lists those that the simulator refuses, with what it says.
/// `cost(row)` orders; `predict(row)` gives a ValidationRow.
template <class Row, class Cost, class Predict>
void predict_rows(Validation& validation, const std::vector<Row>& rows, const SuiteOptions& options,
                  Cost cost, Predict predict) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost(rows[a]) > cost(rows[b]); });
  std::vector<std::optional<ValidationRow>> predicted(rows.size());
  std::vector<std::string> refusals(rows.size());
  const auto job = [&](std::size_t i) {
    if (refusals[i] = rows[i].run.not_simulated; !refusals[i].empty()) return;
    try {
      predicted[i] = predict(rows[i]);
    } catch (const Error& error) {
      refusals[i] = error.what();
    }
  };
  run_jobs(order, options.threads, job, [&](std::size_t done) {
    if (options.progress) options.progress(done, rows.size());
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (predicted[i])
      validation.rows.push_back(std::move(*predicted[i]));
    else if (!refusals[i].empty())
      validation.not_simulated.push_back({rows[i].run.id, system_of(rows[i].run), refusals[i]});
  }
}

/// The parts of a row's record that every suite fills alike.
[[nodiscard]] inline ValidationRow record_of(const RunRow& run) {
  return {.id = run.id,
          .what = what_of(run),
          .system = system_of(run),
          .source = run.source,
          .framework = run.framework,
          .gpu = run.gpu,
          .gpus = run.gpus()};
}

}  // namespace busbar
