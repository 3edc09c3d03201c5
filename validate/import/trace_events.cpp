#include "validate/import/trace_events.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "calibrate/import/text_scan.h"

namespace busbar {

namespace {

// What is called an input of one rank there is the full buffer divided by the ranks.
bool gathers(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kGather;
}

void fill(TraceCall& call, const TraceCall& known) {
  if (known.operation) call.operation = known.operation;
  if (call.group == 0) call.group = known.group;
  if (call.members == 0) call.members = known.members;
  if (call.ranks == 0) call.ranks = known.ranks;
  if (call.bytes < 0) {
    call.bytes = known.bytes;
    call.input_only = known.input_only;
  }
  if (call.source < 0) call.source = known.source;
  if (call.target < 0) call.target = known.target;
}

/// Notes by thread and beginning.
class NoteIndex {
 public:
  explicit NoteIndex(const std::vector<TraceNote>& notes) {
    for (const TraceNote& note : notes) by_thread_[note.thread].push_back(&note);
    for (auto& [thread, list] : by_thread_)
      std::stable_sort(list.begin(), list.end(),
                       [](const TraceNote* a, const TraceNote* b) { return a->span.begin < b->span.begin; });
  }
  // All around the launch, the innermost last.
  [[nodiscard]] std::vector<const TraceNote*> around(const TraceLaunch& launch) const {
    std::vector<const TraceNote*> found;
    const auto list = by_thread_.find(launch.thread);
    if (list == by_thread_.end()) return found;
    const auto past =
        std::upper_bound(list->second.begin(), list->second.end(), launch.at,
                         [](std::int64_t at, const TraceNote* n) { return at < n->span.begin; });
    constexpr std::ptrdiff_t kNesting = 8;  // c10d's call, record_param_comms, nccl:..., and ones before
    for (auto it = past; it != list->second.begin() && past - it < kNesting;)
      if (const TraceNote* note = *--it; launch.at < note->span.end) found.push_back(note);
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  std::map<std::int64_t, std::vector<const TraceNote*>> by_thread_;
};

void resolve_by_launch(RankTrace& trace) {
  std::sort(trace.launches.begin(), trace.launches.end(),
            [](const TraceLaunch& a, const TraceLaunch& b) { return a.correlation < b.correlation; });
  const NoteIndex notes(trace.notes);
  for (TraceCommunication& c : trace.communications) {
    if (c.call.bytes >= 0 || c.correlation < 0) continue;
    const auto launch = std::lower_bound(
        trace.launches.begin(), trace.launches.end(), c.correlation,
        [](const TraceLaunch& l, std::int64_t correlation) { return l.correlation < correlation; });
    if (launch == trace.launches.end() || launch->correlation != c.correlation) continue;
    for (const TraceNote* note : notes.around(*launch)) fill(c.call, note->call);
  }
}

void resolve_by_external_id(RankTrace& trace) {
  std::map<std::int64_t, const TraceNote*> by_id;
  for (const TraceNote& note : trace.notes)
    if (note.external >= 0 && note.call.bytes >= 0) by_id.try_emplace(note.external, &note);
  for (TraceCommunication& c : trace.communications) {
    const auto note = by_id.find(c.external);
    if (c.call.bytes < 0 && note != by_id.end()) fill(c.call, note->second->call);
  }
}

// Without a GPU the host's threads communicate.
void take_notes_as_communications(RankTrace& trace) {
  for (const TraceNote& note : trace.notes) {
    if (!note.call.operation) continue;
    trace.communications.push_back(
        {.span = note.span, .call = note.call, .kernel = 0, .correlation = -1, .external = note.external});
  }
}

void complete_sizes(RankTrace& trace) {
  for (TraceCommunication& c : trace.communications) {
    if (c.call.ranks == 0 && trace.world && c.call.group == 0) c.call.ranks = *trace.world;
    if (!c.call.input_only || c.call.bytes < 0 || !c.call.operation || !gathers(*c.call.operation)) continue;
    const bool fits =
        c.call.ranks > 0 && c.call.bytes <= std::numeric_limits<std::int64_t>::max() / c.call.ranks;
    c.call.bytes = fits ? c.call.bytes * c.call.ranks : -1;
  }
}

// PyTorch writes the other end of a message alone. Source: pytorch, torch/csrc/profiler/util.cpp,
// saveNcclMeta.
void complete_peers(RankTrace& trace) {
  if (!trace.rank) return;
  for (TraceCommunication& c : trace.communications) {
    if (c.call.source >= 0 && c.call.target < 0) c.call.target = *trace.rank;
    if (c.call.target >= 0 && c.call.source < 0) c.call.source = *trace.rank;
  }
}

}  // namespace

std::uint32_t RankTrace::name_index(std::string_view name) {
  // Few names, and mostly the last one again.
  for (std::size_t i = names.size(); i-- > 0;)
    if (names[i] == name) return static_cast<std::uint32_t>(i);
  names.emplace_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

void resolve_calls(RankTrace& trace) {
  if (trace.gpu_kernels == 0 && !trace.calls_nccl) take_notes_as_communications(trace);
  resolve_by_external_id(trace);
  resolve_by_launch(trace);
  complete_sizes(trace);
  complete_peers(trace);
  std::stable_sort(
      trace.communications.begin(), trace.communications.end(),
      [](const TraceCommunication& a, const TraceCommunication& b) { return a.span.begin < b.span.begin; });
}

// Source: NVIDIA/nccl src/device/generate.py and its predecessors; ROCm/rccl's one kernel for all.
bool is_communication_kernel(std::string_view name) {
  const std::string start = lower(name.substr(0, 64));
  return start.starts_with("nccl") || start.starts_with("rccl") || start.starts_with("msccl") ||
         start.starts_with("void nccl") || start.starts_with("void rccl");
}

std::optional<CollectiveKind> operation_in_kernel(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kParts = {{
      {"AllReduce", CollectiveKind::kAllReduce},
      {"AllGather", CollectiveKind::kAllGather},
      {"ReduceScatter", CollectiveKind::kReduceScatter},
      {"Broadcast", CollectiveKind::kBroadcast},
      {"SendRecv", CollectiveKind::kSendRecv},
      {"Reduce", CollectiveKind::kReduce},
  }};
  for (const auto& [part, kind] : kParts)
    if (name.find(part) != std::string_view::npos) return kind;
  return std::nullopt;
}

// c10d's names: "allreduce", "_allgather_base", "all_to_allv", "reduce_scatter_tensor_coalesced", "send".
// Source: pytorch, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp.
std::optional<CollectiveKind> operation_called(std::string_view name) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos)
    name.remove_prefix(colon + 1);
  std::string plain = lower(name);
  if (plain.starts_with("send") || plain.starts_with("recv")) return CollectiveKind::kSendRecv;
  while (plain.starts_with('_')) plain.erase(0, 1);
  static constexpr std::array<std::string_view, 6> kEndings = {"_coalesced", "_base",   "_into_tensor",
                                                               "_tensor",    "_single", "v"};
  for (const std::string_view ending : kEndings)
    if (plain.ends_with(ending)) plain.erase(plain.size() - ending.size());
  return parse_collective(plain);
}

}  // namespace busbar
