// What an expert would say of a layout before it runs: each remark with a number and the remedy.
#pragma once

#include <vector>

#include "workloads/workload.h"

namespace busbar {

/// Fewer microbatches than stages; a vocabulary that tp does not divide; activations that sequence
/// parallelism would not keep. `layers` and `memory`: of the first stage. Silent about what is worth little:
/// padding below 1 % of the vocabulary, activations below 10 % of the memory.
[[nodiscard]] std::vector<Remark> layout_remarks(const Workload& workload, const std::vector<Layer>& layers,
                                                 const MemoryUse& memory);

}  // namespace busbar
