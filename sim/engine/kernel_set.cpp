#include "sim/engine/kernel_set.h"

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

// Communication never takes the whole GPU: NCCL's channels are far fewer than SMs, and HBM serves everyone a
// little. The floor keeps a wrong profile from stopping compute for ever.
constexpr double kSmallestShare = 1.0 / 16;

double share_left(std::int64_t total, std::int64_t taken) {
  return std::max(kSmallestShare, static_cast<double>(total - taken) / static_cast<double>(total));
}

// Seconds of a kernel that has a GPU to itself.
double alone(const KernelDemand& d) { return std::max(d.sm_s, d.memory_s); }

}  // namespace

KernelSet::KernelSet(std::vector<Gpu> gpus) : gpus_(gpus.size()) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    BUSBAR_CHECK(gpus[i].sms > 0 && gpus[i].memory_Bps > 0);
    gpus_[i].gpu = gpus[i];
  }
}

void KernelSet::mark(std::uint32_t gpu) {
  if (gpus_[gpu].dirty) return;
  gpus_[gpu].dirty = true;
  dirty_.push_back(gpu);
}

std::uint32_t KernelSet::start(std::uint32_t gpu, KernelDemand demand, Time now) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  const std::uint32_t stamp = slots_[slot].stamp;
  slots_[slot] = {.demand = demand, .touched = now, .gpu = gpu, .stamp = stamp, .live = true};
  gpus_[gpu].running.push_back(slot);
  mark(gpu);
  return slot;
}

void KernelSet::finish(std::uint32_t slot) {
  Slot& s = slots_[slot];
  BUSBAR_CHECK(s.live);
  s.live = false;
  ++s.stamp;
  std::vector<std::uint32_t>& running = gpus_[s.gpu].running;
  running.erase(std::find(running.begin(), running.end(), slot));
  mark(s.gpu);
  free_.push_back(slot);
}

void KernelSet::change_communication(std::uint32_t gpu, std::int64_t sms, std::int64_t memory_Bps) {
  gpus_[gpu].sms_taken += sms;
  gpus_[gpu].memory_taken += memory_Bps;
  if (!gpus_[gpu].running.empty()) mark(gpu);
}

// A kernel alone at full speed demands the share sm_s / alone of the SMs and memory_s / alone of the HBM.
// When the sums exceed what is left, all slow down by the same factor.
double KernelSet::common_factor(const State& state) const {
  double sm_demand = 0;
  double memory_demand = 0;
  for (const std::uint32_t slot : state.running) {
    const KernelDemand& d = slots_[slot].demand;
    if (alone(d) == 0) continue;
    sm_demand += d.sm_s / alone(d);
    memory_demand += d.memory_s / alone(d);
  }
  double factor = 1;
  if (sm_demand > 0) factor = std::min(factor, share_left(state.gpu.sms, state.sms_taken) / sm_demand);
  if (memory_demand > 0)
    factor = std::min(factor, share_left(state.gpu.memory_Bps, state.memory_taken) / memory_demand);
  return factor;
}

std::span<const KernelSet::Ending> KernelSet::settle(Time now) {
  endings_.clear();
  for (const std::uint32_t g : dirty_) {
    gpus_[g].dirty = false;
    const double factor = common_factor(gpus_[g]);
    for (const std::uint32_t slot : gpus_[g].running) {
      Slot& s = slots_[slot];
      const double seconds = alone(s.demand);
      const double rate = seconds == 0 ? HUGE_VAL : factor / seconds;
      if (rate == s.rate) continue;
      if (s.rate > 0) s.remaining = std::max(0.0, s.remaining - s.rate * (now - s.touched).seconds());
      s.touched = now;
      s.rate = rate;
      ++s.stamp;
      // With the GPU to itself the time is the demand itself: no detour over 1 / (1 / t).
      const double left = seconds == 0 ? 0 : s.remaining * seconds / factor;
      endings_.push_back({slot, now + Time::from_seconds(left), s.stamp});
    }
  }
  dirty_.clear();
  return endings_;
}

}  // namespace busbar
