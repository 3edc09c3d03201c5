// Compute kernels under way on each GPU: they advance by their roofline over what communication leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/kernel_shape.h"
#include "sim/base/units.h"

namespace busbar {

/// Kernels on GPUs. One alone takes max(sm_s / SM share left, memory_s / HBM share left). Kernels that run
/// together on one GPU are slowed by one common factor when their demands exceed what is left. Reservations
/// and HBM use of communication are integers, so that their sums do not depend on their order.
class KernelSet {
 public:
  struct Gpu {
    std::int64_t sms = 1;
    std::int64_t memory_Bps = 1;
  };
  explicit KernelSet(std::vector<Gpu> gpus);

  /// Starts a kernel; returns its slot. Its first rate comes with the next `settle`.
  std::uint32_t start(std::uint32_t gpu, KernelDemand demand, Time now);
  void finish(std::uint32_t slot);
  /// Communication takes (or with negative numbers gives back) SMs and HBM bandwidth of a GPU.
  void change_communication(std::uint32_t gpu, std::int64_t sms, std::int64_t memory_Bps);

  struct Ending {
    std::uint32_t slot;
    Time at;
    std::uint32_t stamp;
  };
  /// New rates on the GPUs that changed; returns endings that are new or moved. Valid until the next call.
  [[nodiscard]] std::span<const Ending> settle(Time now);
  [[nodiscard]] bool is_current(std::uint32_t slot, std::uint32_t stamp) const {
    return slots_[slot].live && slots_[slot].stamp == stamp;
  }
  /// The GPU that a slot's kernel runs on.
  [[nodiscard]] std::uint32_t gpu(std::uint32_t slot) const { return slots_[slot].gpu; }

 private:
  struct Slot {
    KernelDemand demand;
    double rate = 0;       // share of the kernel per second
    double remaining = 1;  // share of the kernel
    Time touched;
    std::uint32_t gpu = 0;
    std::uint32_t stamp = 0;
    bool live = false;
  };
  struct State {
    Gpu gpu;
    std::int64_t sms_taken = 0;
    std::int64_t memory_taken = 0;
    std::vector<std::uint32_t> running;
    bool dirty = false;
  };
  void mark(std::uint32_t gpu);
  [[nodiscard]] double common_factor(const State& state) const;

  std::vector<State> gpus_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> dirty_;
  std::vector<Ending> endings_;
};

}  // namespace busbar
