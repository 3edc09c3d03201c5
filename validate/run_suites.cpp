#include "validate/run_suites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/base/named_table.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 5> kFilterColumns = {"source", "framework", "gpu", "id", "model"};

constexpr std::array<Suite, 2> kSuites = {{
    {"steps", "published training steps: step time", run_steps},
    {"memory", "published training jobs: peak memory, and whether they fit", run_memory},
}};

const std::string& value_of(const RunRow& run, std::string_view column) {
  if (column == "source") return run.source;
  if (column == "framework") return run.framework;
  if (column == "gpu") return run.gpu;
  return column == "id" ? run.id : run.model;
}

}  // namespace

std::span<const std::string_view> filter_columns() { return kFilterColumns; }

RowFilter parse_filter(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error(
        {.where = "--filter", .expected = "column=value, such as source=torchtitan", .given = quoted(text)});
  const std::string_view column = text.substr(0, equals);
  if (std::find(kFilterColumns.begin(), kFilterColumns.end(), column) == kFilterColumns.end())
    throw Error({.where = "--filter",
                 .expected = one_of(kFilterColumns),
                 .given = quoted(column),
                 .suggestion = did_you_mean(column, kFilterColumns)});
  return {std::string(column), std::string(text.substr(equals + 1))};
}

bool matches(const RunRow& run, std::span<const RowFilter> filters) {
  return std::all_of(filters.begin(), filters.end(),
                     [&](const RowFilter& filter) { return value_of(run, filter.column) == filter.value; });
}

std::span<const Suite> suites() { return kSuites; }

}  // namespace busbar
