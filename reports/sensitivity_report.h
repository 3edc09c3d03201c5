// What a step's time depends on, as text, Markdown and CSV.
#pragma once

#include <span>
#include <string>

#include "reports/section.h"
#include "sim/base/units.h"
#include "sim/result/run_result.h"

namespace busbar {

/// A sentence on what would help most, and a table of the parameters that matter; empty without records.
[[nodiscard]] std::string sensitivity_text(const RunResult& result);
[[nodiscard]] std::string sensitivity_markdown(const RunResult& result);
/// The same in parts, of any step's records: the sentence, the table, and what was tried and does not show
/// ("" where all does).
[[nodiscard]] std::string sensitivity_sentence(std::span<const SensitivityRecord> records, Time step);
[[nodiscard]] Section sensitivity_section(std::span<const SensitivityRecord> records);
[[nodiscard]] std::string without_effect(std::span<const SensitivityRecord> records);
/// Every parameter.
[[nodiscard]] std::string sensitivity_csv(const RunResult& result);

}  // namespace busbar
