// What a step's time depends on, as text and Markdown, and as a table for all else.
#pragma once

#include <span>
#include <string>

#include "reports/record_table.h"
#include "sim/base/units.h"
#include "sim/result/run_result.h"

namespace busbar {

/// A sentence on what would help most, and a table of the parameters that matter; empty without records.
[[nodiscard]] std::string sensitivity_text(const RunResult& result);
[[nodiscard]] std::string sensitivity_markdown(const RunResult& result);
/// The same in parts, of any step's records: the sentence, the table, and what was tried and does not show
/// ("" where all does).
[[nodiscard]] std::string sensitivity_sentence(std::span<const SensitivityRecord> records, Time step);
[[nodiscard]] RecordTable sensitivity_that_matters(std::span<const SensitivityRecord> records);
[[nodiscard]] std::string without_effect(std::span<const SensitivityRecord> records);
/// Every parameter.
[[nodiscard]] RecordTable sensitivity_table(std::span<const SensitivityRecord> records);

}  // namespace busbar
