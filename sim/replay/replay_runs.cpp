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
    return a.at != b.at ? a.at < b.at : a.rank > b.rank;
  });
}

// Serial latency before the first strands.
Time first_latency(const Plan& plan) {
  return plan.phases.empty() ? Time::zero() : plan.phases.front().latency;
}

}  // namespace

// HBM traffic of a member = sum over strands of multiplicity x rate x bytes touched per byte carried.
void Replay::update_memory_traffic() {
  std::sort(rerated_runs_.begin(), rerated_runs_.end());
  rerated_runs_.erase(std::unique(rerated_runs_.begin(), rerated_runs_.end()), rerated_runs_.end());
  for (const std::uint32_t run_id : rerated_runs_) {
    Run& run = runs_[run_id];
    if (run.strands_left == 0 || run.planned->plan.memory_bytes_per_byte == 0) continue;
    const Plan& plan = run.planned->plan;
    double rate = 0;
    for (std::size_t i = 0; i < run.strands.size(); ++i)
      if (run_of_strand_[run.strands[i].index()] == run_id)
        rate += strands_.rate(run.strands[i]) *
                static_cast<double>(plan.phases[run.phase].strands[i].multiplicity);
    const std::int64_t now = std::llround(std::min(rate * plan.memory_bytes_per_byte, 1e18));
    for (const Arrival& m : run.members) kernels_.change_communication(m.rank, 0, now - run.memory_Bps);
    run.memory_Bps = now;
  }
  rerated_runs_.clear();
}

// The channels' SMs are taken from here to the end of the operation, waiting included.
void Replay::arrive(std::uint32_t rank, std::uint32_t stream, const Op& op) {
  const std::uint32_t lane = ranks_[rank].first_lane + stream;
  lanes_[lane].status = LaneStatus::kWaiting;
  ++exposure_.counts(rank).collective_waits;
  const GroupId g = group(rank, op);
  const auto size = static_cast<std::uint32_t>(plans_.members(g).size());
  const bool complete = rendezvous_.arrive(g, size, {.rank = rank, .lane = lane, .op = &op, .at = now_});
  const PlannedOperation*& planned = forming_[g.index()];
  if (planned == nullptr)
    planned = &plans_.collective(g, op, kinds_.names[kind_of(rank, op_number(rank, stream))]);
  kernels_.change_communication(rank, planned->plan.sms, 0);
  if (complete) launch_collective(g, *std::exchange(planned, nullptr));
}

void Replay::post(std::uint32_t rank, std::uint32_t stream, const Op& op) {
  const std::uint32_t lane_id = ranks_[rank].first_lane + stream;
  Lane& lane = lanes_[lane_id];
  lane.status = LaneStatus::kWaiting;
  lane.pending = static_cast<std::uint32_t>(op.transfers.size());
  exposure_.counts(rank).peer_waits += static_cast<std::int32_t>(op.transfers.size());
  if (lane.pending == 0) {
    end_op(lane_id, lane.trigger);
    return;
  }
  for (std::uint32_t t = 0; t < op.transfers.size(); ++t) {
    const Arrival arrival{.rank = rank, .lane = lane_id, .op = &op, .transfer = t, .at = now_};
    if (const auto match = rendezvous_.post(arrival, peer(rank, op.transfers[t]), op.transfers[t].is_send))
      launch_transfer(*match);
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
  const std::uint32_t stream = last.lane - ranks_[last.rank].first_lane;
  const std::uint32_t node = history_.add({.parent = lanes_[last.lane].trigger,
                                           .rank = last.rank,
                                           .program = index_.programs[ranks_[last.rank].program].program,
                                           .op = op_number(last.rank, stream),
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

void Replay::launch_collective(GroupId group, const PlannedOperation& planned) {
  std::vector<Arrival> members = rendezvous_.take(group);
  const Arrival last = latest(members);
  for (const Arrival& m : members) {
    note(m.rank);
    --exposure_.counts(m.rank).collective_waits;
    ++exposure_.counts(m.rank).transfers;
    Lane& lane = lanes_[m.lane];
    lane.status = LaneStatus::kRunning;
    lane.pending = lane.running = 1;
    lane.record = planned.record;
    lane.started = now_;
  }
  const std::uint32_t run = new_run(planned, std::move(members), last, false);
  queue_.push(now_ + first_latency(planned.plan), {kRunBegin, run, 0});
}

void Replay::launch_transfer(const Rendezvous::Match& match) {
  const std::uint32_t from = match.sender.rank;
  const std::uint32_t to = match.receiver.rank;
  const std::uint32_t op = op_number(from, match.sender.lane - ranks_[from].first_lane);
  const Bytes bytes = match.sender.op->transfers[match.sender.transfer].bytes;
  const PlannedOperation& planned = plans_.transfer(from, to, bytes, kinds_.names[kind_of(from, op)]);
  std::vector<Arrival> members{match.sender, match.receiver};
  const Arrival last = latest(members);
  for (const Arrival& m : members) {
    note(m.rank);
    --exposure_.counts(m.rank).peer_waits;
    ++exposure_.counts(m.rank).transfers;
    kernels_.change_communication(m.rank, planned.plan.sms, 0);
    Lane& lane = lanes_[m.lane];
    if (lane.running++ == 0) lane.started = now_;
    lane.status = LaneStatus::kRunning;
    lane.record = planned.record;
  }
  const std::uint32_t run = new_run(planned, std::move(members), last, true);
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
    for (const Arrival& m : run.members) kernels_.change_communication(m.rank, 0, -run.memory_Bps);
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
  ++record.runs;
  record.time_ps += static_cast<double>((now_ - run.start).ps());
  history_.at(run.node).end = now_;
  if (recorder_ && run.is_transfer) recorder_->end_transfer(*this, run.members, run.start);
  for (const Arrival& m : run.members) {
    note(m.rank);
    --exposure_.counts(m.rank).transfers;
    kernels_.change_communication(m.rank, -run.planned->plan.sms, 0);
    --lanes_[m.lane].running;
    if (--lanes_[m.lane].pending == 0) end_op(m.lane, run.node);
  }
  history_.release(run.node);
  runs_[run_id] = {};
  free_runs_.push_back(run_id);
}

}  // namespace busbar
