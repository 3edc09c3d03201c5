// One self-contained page per result: the record that --json writes, and the script that draws it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/result/calibration.h"
#include "sim/result/run_result.h"
#include "sim/result/study.h"
#include "sim/result/sweep.h"
#include "sim/result/validation.h"

namespace busbar {

/// Asked before any work is done for a page. Errors (Error, kSystem): Busbar was built without its pages; the
/// message says what was missing then.
void require_html();

/// `title` may be anything; `record` is JSON; `packed` is "" or base64 (see packed_lists()).
[[nodiscard]] std::string html_page(std::string_view title, std::string_view record,
                                    std::string_view packed = {});

[[nodiscard]] std::string step_html(const RunResult& result);
[[nodiscard]] std::string sweep_html(const Sweep& sweep);
[[nodiscard]] std::string validation_html(std::span<const Validation> suites);
[[nodiscard]] std::string calibration_html(const CalibrationReport& report);
[[nodiscard]] std::string comparison_html(const ProfileComparison& comparison);
[[nodiscard]] std::string health_html(const HealthReport& report);
[[nodiscard]] std::string study_html(const Study& study);

/// JSON text for a script element: what could end the element, hide its end or break a line of JavaScript is
/// written as \uXXXX, which JSON allows in strings, and nowhere else do these characters stand. Line breaks
/// and indentation between tokens are left out.
[[nodiscard]] std::string for_script(std::string_view json);
/// `text` for an HTML element or a quoted attribute.
[[nodiscard]] std::string for_html(std::string_view text);

}  // namespace busbar
