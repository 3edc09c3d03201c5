// Memory of a layout without expanding its step.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "sim/study/search_candidate.h"
#include "workloads/trace.h"

namespace busbar {

/// Layers as the memory model sees them (names and parameter counts), by cut. Safe to use from several
/// threads.
class LayerSizes {
 public:
  explicit LayerSizes(const Workload& base) : base_(base) {}
  [[nodiscard]] const std::vector<Layer>& of(const Candidate& candidate);

 private:
  const Workload& base_;
  std::mutex mutex_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<Layer>> by_cut_;  // tp, cp, ep
};

/// Of the stage that needs most, as expand() would say of it.
[[nodiscard]] MemoryUse fullest_stage(const Workload& workload, const Candidate& candidate,
                                      LayerSizes& sizes);

}  // namespace busbar
