#include "validate/run_suites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/base/named_table.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 4> kCollectiveColumns = {"system", "class", "operation", "table"};
constexpr std::array<std::string_view, 3> kKernelColumns = {"gpu", "kind", "type"};
constexpr std::array<std::string_view, 5> kRunColumns = {"source", "framework", "gpu", "id", "model"};

constexpr std::array<Suite, 6> kSuites = {{
    {"collectives", "published tables of single collectives: time by size", kCollectiveColumns,
     run_collectives},
    {"calibration", "tables predicted from others of their own system: operations, larger groups",
     kCollectiveColumns, run_calibration},
    {"kernels", "published times of matmuls and attention by shape", kKernelColumns, run_kernels},
    {"steps", "published training steps: step time", kRunColumns, run_steps},
    {"sweeps", "sweeps of layouts whose tables leave the precision open: step time", kRunColumns, run_sweeps},
    {"memory", "published training jobs: peak memory, and whether they fit", kRunColumns, run_memory},
}};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

const Suite& suite_called(std::string_view name) {
  const Suite* found = find_row(suites(), name);
  BUSBAR_CHECK(found != nullptr);
  return *found;
}

RowFilter parse_filter(std::string_view text, const Suite& suite) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error({.where = "--filter",
                 .expected = fmt::format("column=value, such as {}=...", suite.filters.front()),
                 .given = quoted(text)});
  const std::string_view column = text.substr(0, equals);
  if (std::find(suite.filters.begin(), suite.filters.end(), column) == suite.filters.end())
    throw Error({.where = "--filter",
                 .expected = fmt::format("of the suite {} {}", suite.name, one_of(suite.filters)),
                 .given = quoted(column),
                 .suggestion = did_you_mean(column, suite.filters)});
  return {std::string(column), std::string(text.substr(equals + 1))};
}

bool matches(const std::map<std::string_view, std::string>& labels, std::span<const RowFilter> filters) {
  return std::all_of(filters.begin(), filters.end(), [&](const RowFilter& filter) {
    const auto label = labels.find(filter.column);
    BUSBAR_CHECK(label != labels.end());
    return label->second == filter.value;
  });
}

Validation validation_of(std::string_view suite, std::string_view quantity, std::string_view unit,
                         const Profile& profile, const SuiteOptions& options) {
  Validation validation{.suite = std::string(suite),
                        .quantity = std::string(quantity),
                        .unit = std::string(unit),
                        .calibration = profile.name};
  for (const RowFilter& filter : options.filters)
    validation.filters.push_back(filter.column + "=" + filter.value);
  if (options.most_gpus > 0) validation.filters.push_back(fmt::format("at most {} GPUs", options.most_gpus));
  if (options.every > 1) validation.filters.push_back(fmt::format("one row in {}", options.every));
  return validation;
}

void fail_empty(std::string_view suite) {
  throw Error({.where = fmt::format("suite {}", suite), .message = "the filters leave no row"});
}

}  // namespace busbar
