// Records that are small enough for a page: of long lists what an eye can tell apart, with all extremes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/result/calibration.h"
#include "sim/result/study.h"
#include "sim/result/sweep.h"
#include "sim/result/validation.h"

namespace busbar {

/// Entries of one list that a page takes. Our choice: more points than this lie on each other on a chart as
/// wide as a page, and rows of 500 bytes stay below 2 MB.
inline constexpr std::size_t kMostOnPage = 3000;

/// `most` of `count` places, ascending: the first of `wanted`, then others spread evenly. All where they are
/// few enough.
[[nodiscard]] std::vector<std::size_t> thinned(std::size_t count, std::size_t most,
                                               std::span<const std::size_t> wanted);

/// Keeps the largest errors and the smallest and largest jobs. Summaries stay those of all rows.
[[nodiscard]] Validation thinned(Validation validation, std::size_t most);
/// Keeps the largest residuals and the rows that the fit does not follow.
[[nodiscard]] CalibrationReport thinned(CalibrationReport report, std::size_t most);
/// Keeps both ends of every stretch with one algorithm and protocol, the best busbw and the largest errors.
[[nodiscard]] Sweep thinned(Sweep sweep, std::size_t most);
/// Keeps each cluster's best layout and the front; `most` is of all clusters together.
[[nodiscard]] Study thinned(Study study, std::size_t most);

}  // namespace busbar
