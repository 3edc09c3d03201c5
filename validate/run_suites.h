// The suites of published tables: read, predicted, compared.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/result/validation.h"
#include "validate/kernel_suite.h"
#include "validate/run_row.h"
#include "validate/suite.h"

namespace busbar {

/// "source=dgxc": rows whose column has that value.
struct RowFilter {
  std::string column, value;
};

struct SuiteOptions {
  std::vector<RowFilter> filters;  // all must hold
  std::size_t threads = 0;         // 0: one per core
  std::int64_t most_gpus = 0;      // larger jobs are left out; 0: none
  std::size_t every = 1;           // of what is left, each n-th row
  bool cross_validate = false;     // collectives: each system by a fit to all others
  /// Called as rows (tables, systems) are done, by one thread at a time.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct Suite {
  std::string_view name;  // "steps"
  std::string_view help;
  std::span<const std::string_view> filters;  // columns
  /// `folder`: that of the suites' data.
  Validation (*run)(const std::string& folder, const Profile& profile, const SuiteOptions& options);
};
[[nodiscard]] std::span<const Suite> suites();  // THE table
/// Requires: a suite of that name.
[[nodiscard]] const Suite& suite_called(std::string_view name);

/// Of "column=value". Errors (Error, kInput): no "=", a column that the suite's filters do not have.
[[nodiscard]] RowFilter parse_filter(std::string_view text, const Suite& suite);

Validation run_collectives(const std::string& folder, const Profile& profile, const SuiteOptions& options);
Validation run_kernels(const std::string& folder, const Profile& profile, const SuiteOptions& options);
Validation run_calibration(const std::string& folder, const Profile& profile, const SuiteOptions& options);
Validation run_steps(const std::string& folder, const Profile& profile, const SuiteOptions& options);
Validation run_sweeps(const std::string& folder, const Profile& profile, const SuiteOptions& options);
Validation run_memory(const std::string& folder, const Profile& profile, const SuiteOptions& options);

/// What the suites do once their tables are read; a user's own suite does the same.
Validation predict_tables(std::span<const SuiteTable> tables, const Profile& profile,
                          const SuiteOptions& options);
Validation predict_kernels(std::span<const KernelTable> tables, const Profile& profile,
                           const SuiteOptions& options);

/// A published step time.
struct StepRow {
  RunRow run;
  double measured_s = 0;
  std::int64_t operations = 0;  // of one rank, relative to other rows
};
/// Peak memory of a job, or that it ran out of it.
struct MemoryRow {
  RunRow run;
  bool fits = false;
  double peak_bytes = 0;  // reserved on the fullest rank; 0: it did not fit
};
Validation predict_steps(std::string_view suite, std::vector<StepRow> rows, const Profile& profile,
                         const SuiteOptions& options);
Validation predict_memory(std::vector<MemoryRow> rows, const Profile& profile, const SuiteOptions& options);
/// Errors (Error, kInput) with file, line and column.
[[nodiscard]] std::vector<StepRow> read_steps(std::string_view text, const std::string& name);
[[nodiscard]] std::vector<MemoryRow> read_memory(std::string_view text, const std::string& name);

/// Whether a row whose columns are `labels` is asked for. Requires: every filter's column is a label.
[[nodiscard]] bool matches(const std::map<std::string_view, std::string>& labels,
                           std::span<const RowFilter> filters);

/// An empty record with what all suites say of themselves.
[[nodiscard]] Validation validation_of(std::string_view suite, std::string_view quantity,
                                       std::string_view unit, const Profile& profile,
                                       const SuiteOptions& options);
/// Throws Error (kInput): the options leave no row of a suite.
[[noreturn]] void fail_empty(std::string_view suite);

}  // namespace busbar
