// What `calibrate --check` found, as text, Markdown and CSV.
#pragma once

#include <string>
#include <vector>

#include "reports/record_table.h"
#include "sim/result/calibration.h"

namespace busbar {

/// What is slow in a line each, then everything that was compared.
[[nodiscard]] std::string health_text(const HealthReport& report);
[[nodiscard]] std::string health_markdown(const HealthReport& report);
[[nodiscard]] std::string health_csv(const HealthReport& report);
/// The tables without rows, for their columns.
[[nodiscard]] std::vector<RecordTable> health_shapes();

}  // namespace busbar
