// What `calibrate` found, as text, Markdown and CSV.
#pragma once

#include <string>
#include <vector>

#include "reports/record_table.h"
#include "sim/result/calibration.h"

namespace busbar {

/// Numbers with interval, origin and rows; errors; what stays default and what would pin it; outliers;
/// breaks.
[[nodiscard]] std::string calibration_text(const CalibrationReport& report);
[[nodiscard]] std::string calibration_markdown(const CalibrationReport& report);
/// One line per number.
[[nodiscard]] std::string calibration_csv(const CalibrationReport& report);

/// The tables without rows, for their columns.
[[nodiscard]] std::vector<RecordTable> calibration_shapes();

/// Changes beyond their interval first.
[[nodiscard]] std::string comparison_text(const ProfileComparison& comparison);
[[nodiscard]] std::string comparison_markdown(const ProfileComparison& comparison);
[[nodiscard]] std::string comparison_csv(const ProfileComparison& comparison);

}  // namespace busbar
