// A replay once more, under other factors.
#include <algorithm>
#include <bit>

#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "sim/replay/replay.h"

namespace busbar {

// Classes stay classes: a factor is the same for all links, hops and kernels of its sort.
void Replay::reprice() {
  plans_.forget_runs();
  if (!system_.merges() && system_.merged.empty()) return plans_.reprice();
  for (std::size_t i = 0; i < system_.merged.size(); ++i) {
    Plan& plan = system_.merged[i].plan;
    const Plan fresh = plans_.planned_again(system_.merged[i]);
    BUSBAR_CHECK(fresh.phases.size() == plan.phases.size());
    plan.tail = fresh.tail;
    plan.sms = fresh.sms;
    plan.memory_bytes_per_byte = fresh.memory_bytes_per_byte;
    for (std::size_t p = 0; p < plan.phases.size(); ++p) {
      plan.phases[p].latency = fresh.phases[p].latency;
      for (std::size_t s = 0; s < plan.phases[p].strands.size(); ++s)
        plan.phases[p].strands[s].cap = fresh.phases[p].strands[system_.merged_from[i][p][s]].cap;
    }
  }
}

void Replay::capacities_changed() {
  if (placement_.sort_capacities() != implied_at_) {
    const std::vector<bool> implied = find_implied();
    doubtful_.clear();
    for (std::size_t l = 0; l < implied.size(); ++l)
      if (implied_[l] && !implied[l] && (system_.links_used.empty() || system_.links_used[l]))
        doubtful_.push_back(static_cast<std::uint32_t>(l));
    implied_at_ = placement_.sort_capacities();
  }
  reprice();
}

void Replay::rescale(const Scales& scales) {
  placement_.rescale(scales);
  capacities_changed();
}

void Replay::profile_changed() {
  placement_.profile_changed();
  demands_.clear();
  demands_of_rank_.clear();
  price_kernels();
  capacities_changed();
}

// Rates that were found without these links and respect them are max-min fair with them.
bool Replay::implied_held() const {
  constexpr double kFull = 1 + 1e-9;  // what rounding makes of full
  if (doubtful_.empty()) return true;
  const std::vector<ResourceTotals> totals = strands_.totals();
  return std::all_of(doubtful_.begin(), doubtful_.end(),
                     [&](std::uint32_t link) { return totals[link].peak_share <= kFull; });
}

template <class Function>
void Replay::for_each_plan(const Function& function) const {
  const auto all = [&](const std::vector<PlannedCall>& calls) {
    for (const PlannedCall& call : calls) function(call.planned->plan);
  };
  for (const Meeting& meeting : system_.meetings) all(meeting.calls);
  for (const Mailbox& box : system_.mailboxes) all(box.calls);
}

std::uint64_t Replay::plans_print() const {
  std::uint64_t print = 0;
  const auto add = [&](auto value) { print = mix(print, std::bit_cast<std::uint64_t>(value)); };
  for_each_plan([&](const Plan& plan) {
    add(plan.tail.ps());
    for (const PlanPhase& phase : plan.phases) {
      add(phase.latency.ps());
      for (const Strand& strand : phase.strands) add(strand.cap.Bps());
    }
  });
  return print;
}

bool Replay::uses_memory() const {
  bool uses = false;
  for_each_plan([&](const Plan& plan) { uses = uses || plan.memory_bytes_per_byte > 0; });
  return uses;
}

bool Replay::has_launches() const {
  for (const Program& program : trace_->programs)
    for (const Op& op : program.ops)
      if (op.kind == OpKind::kHost) return true;
  return false;
}

void Replay::reset() {
  rendezvous_ = Rendezvous(*trace_, system_);
  strands_ = StrandSet(placement_.capacities(), implied_, system_.links_replayed());
  kernels_ = KernelSet(gpus());
  queue_ = {};
  history_ = {};
  exposure_ = Exposure(system_.players.size(), kinds_.names.size());
  ranks_.clear();
  lanes_.clear();
  player_of_lane_.clear();
  runs_.clear();
  free_runs_.clear();
  rerated_runs_.clear();
  forming_.assign(system_.meetings.size(), nullptr);
  dirty_.clear();
  timelines_.clear();
  now_ = Time::zero();
  seat_players();
}

}  // namespace busbar
