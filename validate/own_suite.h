// A user's own suite: a file of the schema busbar.suite/1 (docs/formats.md) that says what was measured,
// where.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/result/validation.h"
#include "validate/run_suites.h"
#include "validate/suite.h"

namespace busbar {

/// What one file holds, by kind of measurement.
struct OwnSuite {
  std::string name;
  std::vector<SuiteTable> tables;  // of collectives
  std::vector<StepRow> steps;      // of "runs", which have files of their own, and of CSV files
  std::vector<MemoryRow> memory;
  std::vector<KernelTable> kernels;
  /// "steps" -> "median" -> what must not be exceeded.
  std::map<std::string, std::map<std::string, double>> recorded;
};

/// `find` looks names up in the catalogues, as in SuitePlace. Errors (Error, kInput) with the place in the
/// file, or the line of a table that it names.
[[nodiscard]] OwnSuite read_own_suite(
    const std::string& path, const std::function<std::string(const std::string&, std::string_view)>& find);

/// The suites that the file has rows of, in the order of suites().
[[nodiscard]] std::vector<std::string_view> kinds_of(const OwnSuite& suite);

/// One of kinds_of(): predicted, compared, and held to what the file records of it.
[[nodiscard]] Validation run_own_suite(const OwnSuite& suite, std::string_view kind, const Profile& profile,
                                       const SuiteOptions& options);

}  // namespace busbar
