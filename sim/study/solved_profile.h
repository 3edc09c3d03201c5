// A calibration from one measured step.
#pragma once

#include "sim/cost/profile.h"
#include "sim/result/solution.h"
#include "sim/study/sensitivity.h"

namespace busbar {

/// The profile whose kernels are as fast as the solution of compute-efficiency says, for the GPU generations
/// that the step ran on; other layouts of the job then start from a measured speed.
/// Requires: the solution has a factor. Errors (Error, kInput): the step gives kernels by their duration,
/// which no profile changes.
[[nodiscard]] Profile with_kernel_speed(const Profile& profile, const StudiedStep& step,
                                        const Solution& solution);

}  // namespace busbar
