// What a step's time depends on, as text, Markdown and CSV.
#pragma once

#include <string>

#include "sim/result/run_result.h"

namespace busbar {

/// A sentence on what would help most, and a table of the parameters that matter; empty without records.
[[nodiscard]] std::string sensitivity_text(const RunResult& result);
[[nodiscard]] std::string sensitivity_markdown(const RunResult& result);
/// Every parameter.
[[nodiscard]] std::string sensitivity_csv(const RunResult& result);

}  // namespace busbar
