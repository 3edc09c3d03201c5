// Communications of a replay: meeting, running on strands, ending.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/replay/replay.h"

namespace busbar {

namespace {

// The member that came last, ties the lowest rank, is the one that everybody waited for.
const Arrival& latest(const std::vector<Arrival>& arrivals) {
  return *std::max_element(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return a.at != b.at ? a.at < b.at : a.player > b.player;
  });
}

// Serial latency before the first strands.
Time first_latency(const Plan& plan) {
  return plan.phases.empty() ? Time::zero() : plan.phases.front().latency;
}

}  // namespace

// Faster than any memory, small enough to add up.
constexpr double kFastestMemory_Bps = 1e16;

// HBM traffic of a member = sum over strands of multiplicity x rate x bytes touched per byte carried, each
// rounded, so that the sum of equal strands is the same however they are listed.
void Replay::update_memory_traffic() {
  std::sort(rerated_runs_.begin(), rerated_runs_.end());
  rerated_runs_.erase(std::unique(rerated_runs_.begin(), rerated_runs_.end()), rerated_runs_.end());
  for (const std::uint32_t run_id : rerated_runs_) {
    Run& run = runs_[run_id];
    if (run.strands_left == 0 || run.planned->plan.memory_bytes_per_byte == 0) continue;
    const PlannedOperation& planned = *run.planned;
    std::int64_t now = 0;
    for (std::size_t i = 0; i < run.strands.size(); ++i) {
      if (run_of_strand_[run.strands[i].index()] != run_id) continue;
      const Strand& strand = planned.plan.phases[run.phase].strands[i];
      const std::int64_t alike = planned.alike.empty() ? 1 : planned.alike[run.phase][i];
      const double one = strands_.rate(run.strands[i]) * planned.plan.memory_bytes_per_byte;
      now += std::llround(std::min(one, kFastestMemory_Bps)) * strand.multiplicity * alike;
    }
    for (const Arrival& m : run.members) kernels_.change_communication(m.player, 0, now - run.memory_Bps);
    run.memory_Bps = now;
  }
  rerated_runs_.clear();
}

// The channels' SMs are taken from here to the end of the operation, waiting included.
void Replay::arrive(std::uint32_t player, std::uint32_t stream, const Op& op) {
  const std::uint32_t lane = ranks_[player].first_lane + stream;
  lanes_[lane].status = LaneStatus::kWaiting;
  ++exposure_.counts(player).collective_waits;
  const std::uint32_t m = meeting(player, op);
  const bool complete = rendezvous_.arrive(m, {.player = player, .lane = lane, .op = &op, .at = now_});
  const PlannedOperation*& planned = forming_[m];
  if (planned == nullptr) {
    const std::uint32_t program = index_.programs[ranks_[player].program].program;
    planned = &planned_for(system_.meetings[m].calls, calls_.of(program, op_number(player, stream)));
  }
  kernels_.change_communication(player, planned->plan.sms, 0);
  if (complete) launch_collective(m, *std::exchange(planned, nullptr));
}

void Replay::post(std::uint32_t player, std::uint32_t stream, const Op& op) {
  const std::uint32_t lane_id = ranks_[player].first_lane + stream;
  Lane& lane = lanes_[lane_id];
  lane.status = LaneStatus::kWaiting;
  lane.pending = static_cast<std::uint32_t>(op.transfers.size());
  exposure_.counts(player).peer_waits += static_cast<std::int32_t>(op.transfers.size());
  if (lane.pending == 0) {
    end_op(lane_id, lane.trigger);
    return;
  }
  for (std::uint32_t t = 0; t < op.transfers.size(); ++t) {
    const Arrival arrival{.player = player, .lane = lane_id, .op = &op, .transfer = t, .at = now_};
    const std::uint32_t box = mailbox(player, op.transfers[t]);
    if (const auto match = rendezvous_.post(box, arrival, op.transfers[t].is_send))
      launch_transfer(box, *match);
  }
}

std::uint32_t Replay::new_run(const PlannedOperation& planned, std::vector<Arrival> members,
                              const Arrival& last, bool is_transfer) {
  std::uint32_t id = 0;
  if (free_runs_.empty()) {
    id = static_cast<std::uint32_t>(runs_.size());
    runs_.emplace_back();
  } else {
    id = free_runs_.back();
    free_runs_.pop_back();
  }
  const std::uint32_t stream = last.lane - ranks_[last.player].first_lane;
  std::uint32_t node = History::kNone;
  if (!ends_only_)
    node = history_.add({.parent = lanes_[last.lane].trigger,
                         .player = last.player,
                         .program = index_.programs[ranks_[last.player].program].program,
                         .op = op_number(last.player, stream),
                         .is_collective = true,
                         .start = now_,
                         .end = now_});
  if (explainer_) explainer_->start(planned, members, last, history_, history_.at(node).parent);
  runs_[id] = {.planned = &planned,
               .members = std::move(members),
               .node = node,
               .is_transfer = is_transfer,
               .start = now_};
  return id;
}

void Replay::launch_collective(std::uint32_t meeting, const PlannedOperation& planned) {
  std::vector<Arrival> members = rendezvous_.take(meeting);
  const Arrival last = latest(members);
  for (const Arrival& m : members) {
    note(m.player);
    --exposure_.counts(m.player).collective_waits;
    ++exposure_.counts(m.player).transfers;
    Lane& lane = lanes_[m.lane];
    lane.status = LaneStatus::kRunning;
    lane.pending = lane.running = 1;
    lane.record = planned.record;
    lane.started = now_;
  }
  const std::uint32_t run = new_run(planned, std::move(members), last, false);
  runs_[run].alike = system_.meetings[meeting].alike;
  queue_.push(now_ + first_latency(planned.plan), {kRunBegin, run, 0});
}

void Replay::launch_transfer(std::uint32_t mailbox, const Rendezvous::Match& match) {
  const RankState& sender = ranks_[match.sender.player];
  const std::uint32_t op = op_number(match.sender.player, match.sender.lane - sender.first_lane);
  const std::uint32_t call = calls_.of(index_.programs[sender.program].program, op, match.sender.transfer);
  const PlannedOperation& planned = planned_for(system_.mailboxes[mailbox].calls, call);
  std::vector<Arrival> members{match.sender, match.receiver};
  const Arrival last = latest(members);
  for (const Arrival& m : members) {
    note(m.player);
    --exposure_.counts(m.player).peer_waits;
    ++exposure_.counts(m.player).transfers;
    kernels_.change_communication(m.player, planned.plan.sms, 0);
    Lane& lane = lanes_[m.lane];
    if (lane.running++ == 0) lane.started = now_;
    lane.status = LaneStatus::kRunning;
    lane.record = planned.record;
  }
  const std::uint32_t run = new_run(planned, std::move(members), last, true);
  runs_[run].alike = system_.mailboxes[mailbox].alike;
  queue_.push(now_ + first_latency(planned.plan), {kRunBegin, run, 0});
}

void Replay::begin(std::uint32_t run_id) {
  const Plan& plan = runs_[run_id].planned->plan;
  const std::size_t phase = runs_[run_id].phase;
  if (phase >= plan.phases.size() || plan.phases[phase].strands.empty()) return end_strands(run_id);
  runs_[run_id].strands.clear();
  for (const Strand& strand : plan.phases[phase].strands) {
    const StrandId id = strands_.add(strand, now_);
    if (run_of_strand_.size() <= id.index()) run_of_strand_.resize(id.index() + 1);
    run_of_strand_[id.index()] = run_id;
    runs_[run_id].strands.push_back(id);
  }
  runs_[run_id].strands_left = plan.phases[phase].strands.size();
}

void Replay::end_strand(StrandId strand) {
  const std::uint32_t run_id = run_of_strand_[strand.index()];
  plans_.records()[runs_[run_id].planned->record].bottleneck = strands_.bottleneck(strand);
  strands_.finish(strand);
  run_of_strand_[strand.index()] = History::kNone;
  if (--runs_[run_id].strands_left == 0) return end_strands(run_id);
  rerated_runs_.push_back(run_id);
}

void Replay::end_strands(std::uint32_t run_id) {
  Run& run = runs_[run_id];
  if (run.memory_Bps != 0)
    for (const Arrival& m : run.members) kernels_.change_communication(m.player, 0, -run.memory_Bps);
  run.memory_Bps = 0;
  const Plan& plan = run.planned->plan;
  if (++run.phase < plan.phases.size()) {
    queue_.push(now_ + plan.phases[run.phase].latency, {kRunBegin, run_id, 0});
    return;
  }
  const Time tail = plan.tail;
  if (tail > Time::zero()) {
    queue_.push(now_ + tail, {kRunEnd, run_id, 0});
  } else {
    end_run(run_id);
  }
}

void Replay::end_run(std::uint32_t run_id) {
  Run& run = runs_[run_id];
  OperationRecord& record = plans_.records()[run.planned->record];
  record.runs += run.alike;
  record.time_ps += static_cast<double>((now_ - run.start).ps()) * static_cast<double>(run.alike);
  if (!ends_only_) history_.at(run.node).end = now_;
  if (recorder_ && run.is_transfer) recorder_->end_transfer(*this, run.members, run.start);
  for (const Arrival& m : run.members) {
    note(m.player);
    --exposure_.counts(m.player).transfers;
    kernels_.change_communication(m.player, -run.planned->plan.sms, 0);
    --lanes_[m.lane].running;
    if (--lanes_[m.lane].pending == 0) end_op(m.lane, run.node);
  }
  history_.release(run.node);
  runs_[run_id] = {};
  free_runs_.push_back(run_id);
}

}  // namespace busbar
