// What processes tell each other about a batch, as text.
#pragma once

#include <string>
#include <vector>

#include "calibrate/run/nccl_collectives.h"
#include "calibrate/run/runner.h"

namespace busbar {

/// One line per rank: number, device, host.
[[nodiscard]] std::string places_text(const std::vector<RankPlace>& places);
[[nodiscard]] std::vector<RankPlace> places_from(const std::string& text);

/// One line per member: its rank in the group and its samples.
[[nodiscard]] std::string samples_text(const std::vector<NcclMember>& members,
                                       const std::vector<std::vector<double>>& samples);
void take_samples(const std::string& text, BatchTimes& times);

/// One line per kernel.
[[nodiscard]] std::string kernels_text(const std::vector<MeasuredKernel>& kernels);
void take_kernels(const std::string& text, std::vector<MeasuredKernel>& kernels);

}  // namespace busbar
