#include "sim/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/replay/diagnose.h"

namespace busbar {

const Program& Replay::program_of(std::uint32_t player) const {
  return trace_->programs[index_.programs[ranks_[player].program].program];
}

std::uint32_t Replay::op_number(std::uint32_t player, std::uint32_t stream) const {
  const RankState& r = ranks_[player];
  return index_.programs[r.program].streams[stream][lanes_[r.first_lane + stream].position];
}

const Op* Replay::present_op(std::uint32_t player, std::uint32_t stream) const {
  const RankState& r = ranks_[player];
  if (r.finished) return nullptr;
  const auto& ops = index_.programs[r.program].streams[stream];
  const std::uint32_t position = lanes_[r.first_lane + stream].position;
  return position < ops.size() ? &program_of(player).ops[ops[position]] : nullptr;
}

std::uint32_t Replay::mailbox(std::uint32_t player, const Transfer& transfer) const {
  const PeerBoxes& boxes = system_.boxes(player, transfer.peer_slot);
  return transfer.is_send ? boxes.out : boxes.in;
}

void Replay::record(const TimelineRequest& request) {
  recorder_ = std::make_unique<Recorder>(*this, *topology_, request);
  strands_.watch_loads();
}

void Replay::explain() { explainer_ = std::make_unique<Explainer>(*topology_); }

// An error without a place (a time beyond the range) is the step's.
void Replay::run() {
  try {
    run_events();
  } catch (const Error& e) {
    if (!e.parts().where.empty()) throw;
    ErrorParts parts = e.parts();
    parts.where = fmt::format("step {}", quoted(trace_->name));
    throw Error(parts);
  }
}

void Replay::run_events() {
  for (std::uint32_t player = 0; player < ranks_.size(); ++player) {
    mark(player);
    if (ranks_[player].lanes_left == 0) ranks_[player].finished = true;
  }
  drain_instant();
  while (!queue_.empty() && !rendezvous_.failure()) {
    now_ = queue_.next_time();
    drain_instant();
  }
  if (rendezvous_.failure()) throw Error(*rendezvous_.failure());
  for (const RankState& r : ranks_) {
    if (r.finished) continue;
    if (system_.merges()) throw Error({.kind = ErrorKind::kJob, .message = "deadlock"});  // of which ranks?
    throw_deadlock(*this);
  }
}

// All events of one instant, and all that they start, before rates are solved once; rates may end something
// at once, so until the instant is empty.
void Replay::drain_instant() {
  for (;;) {
    while (!queue_.empty() && queue_.next_time() == now_) handle(queue_.pop());
    if (!dirty_.empty()) {
      std::vector<std::uint32_t> players;
      players.swap(dirty_);
      for (const std::uint32_t player : players) {
        ranks_[player].dirty = false;
        start_ready(player);
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
    case kHostEnd:
      end_alone(event.index);
      return;
  }
}

void Replay::settle() {
  for (const StrandSet::Ending& e : strands_.settle(now_)) {
    queue_.push(e.at, {kStrandEnd, e.strand.value(), e.stamp});
    rerated_runs_.push_back(run_of_strand_[e.strand.index()]);
  }
  if (recorder_) recorder_->sample(now_, strands_.load_changes());
  update_memory_traffic();
  for (const KernelSet::Ending& e : kernels_.settle(now_)) queue_.push(e.at, {kKernelEnd, e.slot, e.stamp});
}

void Replay::mark(std::uint32_t player) {
  if (ranks_[player].dirty) return;
  ranks_[player].dirty = true;
  dirty_.push_back(player);
}

void Replay::start_ready(std::uint32_t player) {
  const RankState& r = ranks_[player];
  const auto streams = static_cast<std::uint32_t>(index_.programs[r.program].streams.size());
  for (std::uint32_t s = 0; s < streams; ++s)
    if (is_ready(player, s)) start(player, s);
}

bool Replay::is_ready(std::uint32_t player, std::uint32_t stream) const {
  const RankState& r = ranks_[player];
  const IndexedProgram& program = index_.programs[r.program];
  const Lane& lane = lanes_[r.first_lane + stream];
  if (r.finished || lane.status != LaneStatus::kIdle || lane.position >= program.streams[stream].size())
    return false;
  for (const Dependency& d : program.dependencies_of(program.streams[stream][lane.position]))
    if (lanes_[r.first_lane + d.stream].position <= d.position) return false;
  return true;
}

void Replay::start(std::uint32_t player, std::uint32_t stream) {
  const std::uint32_t number = op_number(player, stream);
  const Op& op = program_of(player).ops[number];
  Lane& lane = lanes_[ranks_[player].first_lane + stream];
  if (!ends_only_) lane.trigger = trigger_of(player, stream);
  history_.hold(lane.trigger);
  lane.arrived = lane.started = now_;
  note(player);
  switch (index_.programs[ranks_[player].program].kinds[number]) {
    case OpKind::kCompute:
      return start_kernel(player, stream, number);
    case OpKind::kHost:
      return start_host(player, stream, op);
    case OpKind::kCollective:
      return arrive(player, stream, op);
    case OpKind::kSend:
    case OpKind::kRecv:
    case OpKind::kBatch:
      return post(player, stream, op);
  }
}

// The latest end among the operations that this one waited for; ties: the earlier one in the program.
std::uint32_t Replay::trigger_of(std::uint32_t player, std::uint32_t stream) const {
  const RankState& r = ranks_[player];
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
  for (const Dependency& d : program.dependencies_of(op_number(player, stream)))
    if (lanes_[r.first_lane + d.stream].position == d.position + 1)
      consider(lanes_[r.first_lane + d.stream].last);
  return best;
}

void Replay::start_kernel(std::uint32_t player, std::uint32_t stream, std::uint32_t op) {
  const std::uint32_t lane = ranks_[player].first_lane + stream;
  lanes_[lane].status = LaneStatus::kRunning;
  ++exposure_.counts(player).kernels;
  const std::uint32_t rank = rank_of(player);
  KernelDemand demand = demands_[demands_of_rank_[rank]][op];
  const double times = (slowdown_.empty() ? 1 : slowdown_[rank]) / placement_.scales().compute;
  if (times != 1) demand = {demand.sm_s * times, demand.memory_s * times};
  const std::uint32_t slot = kernels_.start(player, demand, now_);
  if (lane_of_kernel_.size() <= slot) lane_of_kernel_.resize(slot + 1);
  lane_of_kernel_[slot] = lane;
}

// The host's time is nobody's: neither a kernel nor a transfer.
void Replay::start_host(std::uint32_t player, std::uint32_t stream, const Op& op) {
  const std::uint32_t lane = ranks_[player].first_lane + stream;
  lanes_[lane].status = LaneStatus::kRunning;
  const Time busy = scaled(op.work->duration.value_or(Time::zero()), placement_.scales().launch);
  queue_.push(now_ + busy, {kHostEnd, lane, 0});
}

void Replay::end_kernel(std::uint32_t slot) {
  const std::uint32_t lane_id = lane_of_kernel_[slot];
  const std::uint32_t player = player_of_lane_[lane_id];
  kernels_.finish(slot);
  note(player);
  --exposure_.counts(player).kernels;
  end_alone(lane_id);
}

// The end of what a rank did by itself.
void Replay::end_alone(std::uint32_t lane_id) {
  const std::uint32_t player = player_of_lane_[lane_id];
  const Lane& lane = lanes_[lane_id];
  const std::uint32_t stream = lane_id - ranks_[player].first_lane;
  if (ends_only_) return end_op(lane_id, History::kNone);
  const std::uint32_t node = history_.add({.parent = lane.trigger,
                                           .player = player,
                                           .program = index_.programs[ranks_[player].program].program,
                                           .op = op_number(player, stream),
                                           .start = lane.started,
                                           .end = now_});
  end_op(lane_id, node);
  history_.release(node);
}

void Replay::end_op(std::uint32_t lane_id, std::uint32_t node) {
  Lane& lane = lanes_[lane_id];
  const std::uint32_t player = player_of_lane_[lane_id];
  RankState& r = ranks_[player];
  const std::uint32_t stream = lane_id - r.first_lane;
  if (timeline_of_[player] >= 0 && r.passes == 0) {  // later passes repeat the first
    const Op& op = *present_op(player, stream);
    timelines_[static_cast<std::size_t>(timeline_of_[player])].entries.push_back(
        {.stream = program_of(player).streams[stream],
         .operation = op.id,
         .what = std::string(activity_of(op)),
         .group = communicates(op) ? kinds_.names[kind_of(player, op_number(player, stream))] : "",
         .arrive = lane.arrived,
         .start = lane.started,
         .end = now_});
  }
  if (recorder_) recorder_->end_op(*this, player, stream, node);
  history_.hold(node);
  history_.release(lane.trigger);
  history_.release(lane.last);
  lane.trigger = History::kNone;
  lane.last = node;
  lane.status = LaneStatus::kIdle;
  mark(player);
  if (++lane.position == index_.programs[r.program].streams[stream].size() && --r.lanes_left == 0)
    end_pass(player);
}

void Replay::end_pass(std::uint32_t player) {
  RankState& r = ranks_[player];
  if (++r.passes == 1 && trace_->staggered) {
    note(player);
    exposure_.restart(player);
    r.begin = now_;
  }
  if (r.passes == passes()) {
    r.finished = true;
    r.end = now_;
    note(player);
    return;
  }
  const IndexedProgram& program = index_.programs[r.program];
  for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
    lanes_[r.first_lane + s].position = 0;
    if (!program.streams[s].empty()) ++r.lanes_left;
  }
}

// Brings a rank's accounts up to this instant, blaming exposed time on the earliest transfer under way.
void Replay::note(std::uint32_t player) {
  if (ends_only_ || exposure_.since(player) == now_) return;
  std::uint32_t blame = 0;
  const Lane* to_blame = nullptr;
  if (Exposure::activity(exposure_.counts(player)) == Activity::kExposed) {
    const RankState& r = ranks_[player];
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
  const Time exposed = exposure_.advance(player, now_, blame);
  if (to_blame != nullptr)
    plans_.records()[to_blame->record].exposed_ps +=
        static_cast<double>(exposed.ps()) * static_cast<double>(system_.players[player].alike);
}

}  // namespace busbar
