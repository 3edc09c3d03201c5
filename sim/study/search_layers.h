// What each layer of a cut model takes a rank: kernels, and the exchanges that they wait for.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "sim/study/search_candidate.h"
#include "sim/study/search_collectives.h"

namespace busbar {

/// Seconds of one layer's pass of one microbatch: from the end of the kernel before to its own last kernel's.
/// `lead` of them pass before its first kernel starts.
struct PassTime {
  double time = 0, lead = 0;
};

/// A layer's passes. `weights`: where the schedule has weight gradients apart. `host`: of the CPU that
/// launches forward and backward.
struct LayerTime {
  PassTime forward, backward, weights;
  double host = 0;
};

/// The layers of a model by cut: those that repeat stand once.
struct CutTimes {
  std::vector<LayerTime> expected;  // other ranks of the hosts do the same at the same time
  std::vector<LayerTime> least;     // nothing else runs: no simulated pass is shorter
  std::int64_t unique_blocks = 0, period = 1;
  std::vector<Layer> layers;  // with their tensors
  /// Number in the lists of layer `i` of the whole model of `blocks` blocks, the embedding first.
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t blocks) const;
};

/// Borrows all three. Safe to use from several threads.
class LayerTimes {
 public:
  LayerTimes(const Workload& base, const Topology& topology, const Profile& profile, CollectiveTimes& times);
  [[nodiscard]] const CutTimes& of(const Candidate& candidate);
  /// Of a kernel that only moves bytes (the optimizer's).
  [[nodiscard]] double traffic_seconds(double bytes) const;
  [[nodiscard]] double sms() const { return static_cast<double>(gpu_.sms); }

 private:
  using Key =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, Recompute, bool, std::int64_t>;
  [[nodiscard]] CutTimes measure(const Candidate& candidate);
  [[nodiscard]] double kernel_seconds(const KernelWork& work) const;

  const Workload& base_;
  Profile profile_;  // with the framework's share of kernels
  const Generation* generation_;
  GpuSpeed gpu_;
  CollectiveTimes& times_;
  std::mutex mutex_;
  std::map<Key, CutTimes> by_cut_;
};

}  // namespace busbar
