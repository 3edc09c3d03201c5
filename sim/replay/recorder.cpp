#include "sim/replay/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.h"
#include "sim/replay/replay.h"

namespace busbar {

namespace {

TimelineOperation describe(const Op& op, const std::string& kind) {
  TimelineOperation o{.id = op.id,
                      .phase = std::string(name_of(op.phase)),
                      .stream = op.stream,
                      .layer = op.layer,
                      .microbatch = op.microbatch};
  switch (op.kind) {
    case OpKind::kCompute:
      o.what = "compute";
      o.flops = op.work->flops;
      return o;
    case OpKind::kHost:
      o.what = "host";
      return o;
    case OpKind::kCollective:
      o.what = name_of(op.collective);
      o.bytes = op.bytes;
      break;
    case OpKind::kSend:
      o.what = "send";
      break;
    case OpKind::kRecv:
      o.what = "recv";
      break;
    case OpKind::kBatch:
      o.what = "batch";
      break;
  }
  o.group = kind;
  for (const Transfer& t : op.transfers) o.bytes += t.bytes;
  return o;
}

}  // namespace

void LoadCurve::add(Time at, double share) {
  if (!samples_.empty() && samples_.back().at == at) samples_.pop_back();
  if (!samples_.empty() && samples_.back().share == share) return;
  if (samples_.empty() && share == 0) return;
  samples_.push_back({at, share});
  if (samples_.size() == kMost) thin();
}

void LoadCurve::thin() {
  std::vector<LoadSample> kept;
  for (std::size_t i = 0; i + 2 < samples_.size(); i += 2) {
    const double first = (samples_[i + 1].at - samples_[i].at).seconds();
    const double second = (samples_[i + 2].at - samples_[i + 1].at).seconds();
    kept.push_back(
        {samples_[i].at, (samples_[i].share * first + samples_[i + 1].share * second) / (first + second)});
  }
  // kMost is even: the last two stay as they are.
  kept.insert(kept.end(), samples_.end() - 2, samples_.end());
  samples_ = std::move(kept);
}

Recorder::Recorder(const Replay& replay, const Topology& topology, const TimelineRequest& request)
    : track_of_(replay.ranks().size(), -1) {
  choose_tracks(replay, request);
  refuse_if_too_large(replay);
  describe_programs(replay);
  classify_links(topology);
}

void Recorder::choose_tracks(const Replay& replay, const TimelineRequest& request) {
  const System& system = replay.system();
  std::vector<std::uint64_t> alike(replay.index().programs.size(), 0);
  std::vector<std::uint32_t> chosen = request.ranks;
  for (std::uint32_t player = 0; player < system.players.size(); ++player) {
    std::uint64_t& of_program = alike[replay.ranks()[player].program];
    if (of_program == 0 && request.ranks.empty()) chosen.push_back(replay.rank_of(player));
    of_program += system.players[player].alike;
  }
  std::sort(chosen.begin(), chosen.end());
  for (const std::uint32_t rank : chosen) {
    if (rank >= system.player_of_rank.size())
      throw Error({.where = "--trace-ranks",
                   .expected = fmt::format("ranks below {}", system.player_of_rank.size()),
                   .given = fmt::format("{}", rank)});
    const std::uint32_t player = system.player_of_rank[rank];
    const std::uint32_t program = replay.ranks()[player].program;
    track_of_[player] = static_cast<std::int32_t>(timeline_.tracks.size());
    timeline_.tracks.push_back({.rank = rank,
                                .program = replay.index().programs[program].program,
                                .alike = alike[program],
                                .slices = {}});
  }
}

// Two slices an operation: waiting and running.
void Recorder::refuse_if_too_large(const Replay& replay) const {
  double slices = 0;
  for (const TimelineTrack& t : timeline_.tracks)
    slices += 2.0 * static_cast<double>(replay.trace().programs[t.program].ops.size()) *
              static_cast<double>(replay.trace().repeat);
  const double bytes = slices * kTimelineBytesPerSlice;
  if (bytes <= kLargestTimeline) return;
  throw Error({.where = "--trace",
               .expected = "a timeline of at most 1 GB",
               .given = fmt::format("about {:.1f} GB for {} ranks", bytes / 1e9, timeline_.tracks.size()),
               .suggestion = "choose fewer with --trace-ranks 0, or a smaller \"repeat\""});
}

void Recorder::describe_programs(const Replay& replay) {
  const auto& programs = replay.trace().programs;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    TimelineProgram& program =
        timeline_.programs.emplace_back(TimelineProgram{programs[p].name, programs[p].streams, {}});
    for (std::uint32_t o = 0; o < programs[p].ops.size(); ++o) {
      const Op& op = programs[p].ops[o];
      program.operations.push_back(
          describe(op, communicates(op) ? replay.kinds()[replay.kinds_by_op(p)[o]] : std::string()));
    }
  }
}

void Recorder::classify_links(const Topology& topology) {
  std::map<std::string, std::uint32_t> known;
  load_of_link_.assign(topology.links().size(), 0);
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const std::string name = topology.link_class(LinkId::from_index(i));
    const auto [it, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(known.size()));
    if (is_new) timeline_.counters.push_back({name, {}});
    class_of_link_.push_back(it->second);
  }
  loads_.resize(known.size());
  curves_.resize(known.size());
}

void Recorder::end_op(const Replay& replay, std::uint32_t player, std::uint32_t stream, std::uint32_t node) {
  if (!shows(player)) return;
  const std::uint32_t number = replay.op_number(player, stream);
  const Op& op = *replay.present_op(player, stream);
  const Lane& lane = replay.lanes()[replay.ranks()[player].first_lane + stream];
  TimelineSlice slice{
      .operation = number, .arrive = lane.arrived, .start = lane.started, .end = replay.now()};
  if (op.kind == OpKind::kCollective || !op.transfers.empty()) {
    slice.choice = lane.record;
    slice.last_rank = replay.rank_of(replay.history().at(node).player);
  }
  if (lane.trigger != History::kNone) {
    const HistoryNode& cause = replay.history().at(lane.trigger);
    slice.cause = {replay.rank_of(cause.player), cause.program, cause.op};
  }
  timeline_.tracks[static_cast<std::size_t>(track_of_[player])].slices.push_back(slice);
}

// Between classes only where the ranks that are shown write to each other.
void Recorder::end_transfer(const Replay& replay, std::span<const Arrival> members, Time start) {
  const Arrival& from = members[0];
  const Arrival& to = members[1];
  if (!shows(from.player) || !shows(to.player)) return;
  const Mailbox& box =
      replay.system().mailboxes[replay.mailbox(from.player, from.op->transfers[from.transfer])];
  if (box.from != replay.rank_of(from.player) || box.to != replay.rank_of(to.player)) return;
  timeline_.messages.push_back({.from = box.from,
                                .from_stream = from.lane - replay.ranks()[from.player].first_lane,
                                .to = box.to,
                                .to_stream = to.lane - replay.ranks()[to.player].first_lane,
                                .bytes = from.op->transfers[from.transfer].bytes,
                                .start = start,
                                .end = replay.now()});
}

void Recorder::sample(Time now, std::span<const StrandSet::LoadChange> changes) {
  changed_.clear();
  for (const StrandSet::LoadChange& change : changes) {
    double& load = load_of_link_[change.resource];
    if (load == change.share) continue;
    const std::uint32_t c = class_of_link_[change.resource];
    auto& loads = loads_[c];
    if (load != 0)
      if (const auto it = loads.find(load); --it->second == 0) loads.erase(it);
    if (change.share != 0) ++loads[change.share];
    load = change.share;
    changed_.push_back(c);
  }
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const std::uint32_t c : changed_)
    curves_[c].add(now, loads_[c].empty() ? 0 : loads_[c].rbegin()->first);
}

Timeline Recorder::take(Replay& replay) {
  for (std::size_t c = 0; c < curves_.size(); ++c) timeline_.counters[c].samples = curves_[c].take();
  std::erase_if(timeline_.counters, [](const TimelineCounter& c) { return c.samples.empty(); });
  for (const OperationRecord& r : replay.plans().records())
    timeline_.choices.push_back({r.algorithm, r.protocol, r.channels, r.ranks});
  for (TimelineTrack& track : timeline_.tracks)
    for (const TimelineSlice& slice : track.slices)
      if (slice.choice != TimelineSlice::kNone) {
        TimelineOperation& o = timeline_.programs[track.program].operations[slice.operation];
        const OperationRecord& r = replay.plans().records()[slice.choice];
        // A batch goes both ways: it has no one bandwidth.
        if (o.what != "batch") o.busbw_factor = busbw_factor(r.kind, r.ranks);
      }
  // A track is filled as its streams end; a viewer wants it in the order of time.
  for (TimelineTrack& track : timeline_.tracks)
    std::stable_sort(track.slices.begin(), track.slices.end(),
                     [](const TimelineSlice& a, const TimelineSlice& b) { return a.arrive < b.arrive; });
  return std::move(timeline_);
}

}  // namespace busbar
