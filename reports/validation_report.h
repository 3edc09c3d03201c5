// What `validate` found, as text, Markdown and CSV.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reports/record_table.h"
#include "sim/result/validation.h"

namespace busbar {

/// Systems, the whole, the `worst` rows that are furthest off, what was not simulated, what was recorded.
[[nodiscard]] std::string validation_text(const Validation& validation, std::size_t worst);
/// The same as tables of Markdown.
[[nodiscard]] std::string validation_markdown(const Validation& validation, std::size_t worst);
/// The tables without rows, for their columns.
[[nodiscard]] std::vector<RecordTable> validation_shapes();
/// One line per row, the suites after each other.
[[nodiscard]] std::string validation_csv(std::span<const Validation> suites);

}  // namespace busbar
