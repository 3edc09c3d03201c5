#include "sim/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/error.h"
#include "sim/replay/diagnose.h"

namespace busbar {

namespace {

enum EventKind : std::uint32_t { kStrandEnd, kKernelEnd, kRunBegin, kRunEnd };

// The member that came last, ties the lowest rank, is the one that everybody waited for.
const Arrival& latest(const std::vector<Arrival>& arrivals) {
  return *std::max_element(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return a.at != b.at ? a.at < b.at : a.rank > b.rank;
  });
}

}  // namespace

const Program& Replay::program_of(std::uint32_t rank) const {
  return trace_->programs[index_.programs[ranks_[rank].program].program];
}

std::uint32_t Replay::op_number(std::uint32_t rank, std::uint32_t stream) const {
  const RankState& r = ranks_[rank];
  return index_.programs[r.program].streams[stream][lanes_[r.first_lane + stream].position];
}

const Op* Replay::present_op(std::uint32_t rank, std::uint32_t stream) const {
  const RankState& r = ranks_[rank];
  if (r.finished) return nullptr;
  const auto& ops = index_.programs[r.program].streams[stream];
  const std::uint32_t position = lanes_[r.first_lane + stream].position;
  return position < ops.size() ? &program_of(rank).ops[ops[position]] : nullptr;
}

GroupId Replay::group(std::uint32_t rank, const Op& op) const {
  return trace_->bindings[ranks_[rank].binding].groups[op.group_slot];
}

std::uint32_t Replay::peer(std::uint32_t rank, const Transfer& transfer) const {
  const Peer& peer = trace_->bindings[ranks_[rank].binding].peers[transfer.peer_slot];
  return static_cast<std::uint32_t>(peer.relative ? std::int64_t{rank} + peer.value : peer.value);
}

void Replay::run() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    mark(rank);
    if (ranks_[rank].lanes_left == 0) ranks_[rank].finished = true;
  }
  drain_instant();
  while (!queue_.empty() && !rendezvous_.failure()) {
    now_ = queue_.next_time();
    drain_instant();
  }
  if (rendezvous_.failure()) throw Error(*rendezvous_.failure());
  for (const RankState& r : ranks_)
    if (!r.finished) throw_deadlock(*this);
}

// All events of one instant, and all that they start, before rates are solved once; rates may end something at once,
// so until the instant is empty.
void Replay::drain_instant() {
  for (;;) {
    while (!queue_.empty() && queue_.next_time() == now_) handle(queue_.pop());
    if (!dirty_.empty()) {
      std::vector<std::uint32_t> ranks;
      ranks.swap(dirty_);
      for (const std::uint32_t rank : ranks) {
        ranks_[rank].dirty = false;
        start_ready(rank);
      }
      continue;
    }
    settle();
    if (queue_.empty() || queue_.next_time() != now_) return;
  }
}

void Replay::handle(const Event& event) {
  switch (static_cast<EventKind>(event.kind)) {
    case kStrandEnd:
      if (strands_.is_current(StrandId(event.index), event.stamp)) end_strand(StrandId(event.index));
      return;
    case kKernelEnd:
      if (kernels_.is_current(event.index, event.stamp)) end_kernel(event.index);
      return;
    case kRunBegin:
      begin(event.index);
      return;
    case kRunEnd:
      end_run(event.index);
      return;
  }
}

void Replay::settle() {
  for (const StrandSet::Ending& e : strands_.settle(now_)) {
    queue_.push(e.at, {kStrandEnd, e.strand.value(), e.stamp});
    rerated_runs_.push_back(run_of_strand_[e.strand.index()]);
  }
  update_memory_traffic();
  for (const KernelSet::Ending& e : kernels_.settle(now_)) queue_.push(e.at, {kKernelEnd, e.slot, e.stamp});
}

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
        rate += strands_.rate(run.strands[i]) * static_cast<double>(plan.strands[i].multiplicity);
    const std::int64_t now = std::isfinite(rate) ? std::llround(rate * plan.memory_bytes_per_byte) : 0;
    for (const Arrival& m : run.members) kernels_.change_communication(m.rank, 0, now - run.memory_Bps);
    run.memory_Bps = now;
  }
  rerated_runs_.clear();
}

void Replay::mark(std::uint32_t rank) {
  if (ranks_[rank].dirty) return;
  ranks_[rank].dirty = true;
  dirty_.push_back(rank);
}

void Replay::start_ready(std::uint32_t rank) {
  const RankState& r = ranks_[rank];
  const auto streams = static_cast<std::uint32_t>(index_.programs[r.program].streams.size());
  for (std::uint32_t s = 0; s < streams; ++s)
    if (is_ready(rank, s)) start(rank, s);
}

bool Replay::is_ready(std::uint32_t rank, std::uint32_t stream) const {
  const RankState& r = ranks_[rank];
  const IndexedProgram& program = index_.programs[r.program];
  const Lane& lane = lanes_[r.first_lane + stream];
  if (r.finished || lane.status != LaneStatus::kIdle || lane.position >= program.streams[stream].size()) return false;
  for (const Dependency& d : program.dependencies_of(program.streams[stream][lane.position]))
    if (lanes_[r.first_lane + d.stream].position <= d.position) return false;
  return true;
}

void Replay::start(std::uint32_t rank, std::uint32_t stream) {
  const std::uint32_t number = op_number(rank, stream);
  const Op& op = program_of(rank).ops[number];
  Lane& lane = lanes_[ranks_[rank].first_lane + stream];
  lane.trigger = trigger_of(rank, stream);
  history_.hold(lane.trigger);
  lane.arrived = lane.started = now_;
  note(rank);
  switch (op.kind) {
    case OpKind::kCompute: return start_kernel(rank, stream, number);
    case OpKind::kCollective: return arrive(rank, stream, op);
    case OpKind::kSend:
    case OpKind::kRecv:
    case OpKind::kBatch: return post(rank, stream, op);
  }
}

// The latest end among the operations that this one waited for; ties: the earlier one in the program.
std::uint32_t Replay::trigger_of(std::uint32_t rank, std::uint32_t stream) const {
  const RankState& r = ranks_[rank];
  const IndexedProgram& program = index_.programs[r.program];
  const Lane& lane = lanes_[r.first_lane + stream];
  std::uint32_t best = History::kNone;
  const auto consider = [&](std::uint32_t node) {
    if (node == History::kNone) return;
    const HistoryNode& n = history_.at(node);
    if (best == History::kNone || n.end > history_.at(best).end ||
        (n.end == history_.at(best).end && n.op < history_.at(best).op))
      best = node;
  };
  if (lane.position == 0 && r.passes > 0) {
    for (std::uint32_t s = 0; s < program.streams.size(); ++s) consider(lanes_[r.first_lane + s].last);
    return best;
  }
  if (lane.position > 0) consider(lane.last);
  for (const Dependency& d : program.dependencies_of(op_number(rank, stream)))
    if (lanes_[r.first_lane + d.stream].position == d.position + 1) consider(lanes_[r.first_lane + d.stream].last);
  return best;
}

void Replay::start_kernel(std::uint32_t rank, std::uint32_t stream, std::uint32_t op) {
  const std::uint32_t lane = ranks_[rank].first_lane + stream;
  lanes_[lane].status = LaneStatus::kRunning;
  ++exposure_.counts(rank).kernels;
  const std::uint32_t slot = kernels_.start(rank, (*demands_of_rank_[rank])[op], now_);
  if (lane_of_kernel_.size() <= slot) lane_of_kernel_.resize(slot + 1);
  lane_of_kernel_[slot] = lane;
}

void Replay::end_kernel(std::uint32_t slot) {
  const std::uint32_t lane_id = lane_of_kernel_[slot];
  const std::uint32_t rank = rank_of_lane_[lane_id];
  kernels_.finish(slot);
  note(rank);
  --exposure_.counts(rank).kernels;
  Lane& lane = lanes_[lane_id];
  const std::uint32_t stream = lane_id - ranks_[rank].first_lane;
  const std::uint32_t node = history_.add({.parent = lane.trigger,
                                           .rank = rank,
                                           .program = index_.programs[ranks_[rank].program].program,
                                           .op = op_number(rank, stream),
                                           .start = lane.started,
                                           .end = now_});
  end_op(lane_id, node);
  history_.release(node);
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
  if (planned == nullptr) planned = &plans_.collective(g, op, kinds_.names[kind_of(rank, op_number(rank, stream))]);
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

std::uint32_t Replay::new_run(const PlannedOperation& planned, std::vector<Arrival> members, const Arrival& last,
                              bool is_transfer) {
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
  runs_[id] = {.planned = &planned, .members = std::move(members), .node = node, .is_transfer = is_transfer, .start = now_};
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
  queue_.push(now_ + planned.plan.latency, {kRunBegin, run, 0});
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
  queue_.push(now_ + planned.plan.latency, {kRunBegin, run, 0});
}

void Replay::begin(std::uint32_t run_id) {
  const Plan& plan = runs_[run_id].planned->plan;
  if (plan.strands.empty()) return end_strands(run_id);
  for (const Strand& strand : plan.strands) {
    const StrandId id = strands_.add(strand, now_);
    if (run_of_strand_.size() <= id.index()) run_of_strand_.resize(id.index() + 1);
    run_of_strand_[id.index()] = run_id;
    runs_[run_id].strands.push_back(id);
  }
  runs_[run_id].strands_left = plan.strands.size();
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
  const Time tail = run.planned->plan.tail;
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
  record.time += now_ - run.start;
  history_.at(run.node).end = now_;
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

void Replay::end_op(std::uint32_t lane_id, std::uint32_t node) {
  Lane& lane = lanes_[lane_id];
  const std::uint32_t rank = rank_of_lane_[lane_id];
  RankState& r = ranks_[rank];
  const std::uint32_t stream = lane_id - r.first_lane;
  if (timeline_of_rank_[rank] >= 0) {
    const Op& op = *present_op(rank, stream);
    const std::string what(op.kind == OpKind::kCompute      ? "compute"
                           : op.kind == OpKind::kCollective ? name_of(op.collective)
                                                            : "send_recv");
    timelines_[static_cast<std::size_t>(timeline_of_rank_[rank])].entries.push_back(
        {program_of(rank).streams[stream], op.id, what, lane.arrived, lane.started, now_});
  }
  history_.hold(node);
  history_.release(lane.trigger);
  history_.release(lane.last);
  lane.trigger = History::kNone;
  lane.last = node;
  lane.status = LaneStatus::kIdle;
  mark(rank);
  if (++lane.position == index_.programs[r.program].streams[stream].size() && --r.lanes_left == 0) end_pass(rank);
}

void Replay::end_pass(std::uint32_t rank) {
  RankState& r = ranks_[rank];
  if (++r.passes == trace_->repeat) {
    r.finished = true;
    r.end = now_;
    note(rank);
    return;
  }
  const IndexedProgram& program = index_.programs[r.program];
  for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
    lanes_[r.first_lane + s].position = 0;
    if (!program.streams[s].empty()) ++r.lanes_left;
  }
}

// Brings a rank's accounts up to this instant, blaming exposed time on the earliest transfer under way.
void Replay::note(std::uint32_t rank) {
  if (exposure_.since(rank) == now_) return;
  std::uint32_t blame = 0;
  const Lane* to_blame = nullptr;
  if (Exposure::activity(exposure_.counts(rank)) == Activity::kExposed) {
    const RankState& r = ranks_[rank];
    const IndexedProgram& program = index_.programs[r.program];
    std::uint32_t first = History::kNone;
    for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
      const Lane& lane = lanes_[r.first_lane + s];
      if (lane.running == 0) continue;
      const std::uint32_t op = program.streams[s][lane.position];
      if (op < first) {
        first = op;
        to_blame = &lane;
      }
    }
    blame = kinds_.by_op[program.program][first];
  }
  const Time exposed = exposure_.advance(rank, now_, blame);
  if (to_blame != nullptr) plans_.records()[to_blame->record].exposed += exposed;
}

}  // namespace busbar
