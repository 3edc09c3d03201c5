// Numbers of a profile that are measured by themselves: copies, matmuls, launches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/result/measurement.h"
#include "topologies/topology.h"

namespace busbar {

/// Sets them in `profile` to the medians over GPUs and shapes, and appends their record to its calibration:
/// of copies the share of the memory's bandwidth, of matmuls the share of the modelled speed, of launches
/// the time. Intervals: 95 % of the median's normal approximation, 1.2533 standard errors of the mean.
/// Each counts for the generation of the GPU that it ran on (rank 0 where it does not say). `notes` gets what
/// cannot be used, and why: faster than the datasheet, launches below 100 ns or above 10 ms, no such rank.
void calibrate_kernels(Profile& profile, const Topology& topology, std::span<const MeasuredKernel> kernels,
                       std::vector<std::string>& notes);

/// The rate of a copy or matmul over the most that its GPU's datasheet allows (and 5 %): above 1 it is none.
/// 0: a launch, or a GPU whose figures are not known.
[[nodiscard]] double faster_than_datasheet(const MeasuredKernel& kernel, const Topology& topology);

/// Measured over modelled time of one kernel on a GPU of the topology (rank 0 where it does not say), by the
/// profile, outside a step. Nothing: launches, or a GPU whose figures are not known.
[[nodiscard]] std::optional<double> slowness_of(const MeasuredKernel& kernel, const Topology& topology,
                                                const Profile& profile);

}  // namespace busbar
