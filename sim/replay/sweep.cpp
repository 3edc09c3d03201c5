// Single collectives: one step that runs the sizes one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.h"
#include "sim/replay/chunk_executor.h"
#include "sim/replay/replay.h"
#include "sim/replay/simulate.h"

namespace busbar {

namespace {

// nccl-tests gives every rank a multiple of 16 bytes of a gathered or scattered buffer.
// Source: NVIDIA/nccl-tests src/all_gather.cu.
constexpr std::int64_t kAlignment = 16;

Bytes rounded(Bytes size, const SweepRequest& request, std::int64_t alignment) {
  if (request.operation == CollectiveKind::kBarrier) return Bytes(0);
  const std::int64_t element = size_of(request.type);
  if (!divides_by_ranks(request.operation)) return Bytes(size.count() / element * element);
  const auto ranks = static_cast<std::int64_t>(request.ranks.size());
  return Bytes(size.count() / ranks / alignment * alignment * ranks);
}

// The sizes asked for as whole elements per rank, each once; a barrier has one, of nothing.
std::vector<Bytes> whole_sizes(const SweepRequest& request, std::int64_t alignment) {
  std::vector<Bytes> sizes;
  for (const Bytes size : request.sizes) {
    const Bytes whole = rounded(size, request, alignment);
    const bool empty = whole.count() == 0 && request.operation != CollectiveKind::kBarrier;
    if (!empty && (sizes.empty() || sizes.back() != whole)) sizes.push_back(whole);
  }
  return sizes;
}

StepTrace trace_of(const SweepRequest& request, const std::vector<Bytes>& sizes, std::uint32_t total) {
  StepTrace trace{.name = std::string(name_of(request.operation)), .ranks = total};
  Group group{.name = "all"};
  for (const std::uint32_t rank : request.ranks) group.members.push_back({rank, 1, 1});
  trace.groups.push_back(group);
  Program member{.name = "member", .streams = {"main"}, .group_slots = {"all"}};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    member.ops.push_back({.id = fmt::format("size{}", i),
                          .kind = OpKind::kCollective,
                          .collective = request.operation,
                          .bytes = sizes[i],
                          .type = request.type,
                          .reduction = request.reduction,
                          .root = is_rooted(request.operation) ? std::optional(request.root) : std::nullopt});
  trace.programs = {member, Program{.name = "bystander"}};
  std::vector<bool> takes_part(total, false);
  for (const std::uint32_t rank : request.ranks) takes_part[rank] = true;
  Binding in{.ranks = {}, .program = 0, .groups = {GroupId(0)}};
  Binding out{.ranks = {}, .program = 1};
  for (std::uint32_t rank = 0; rank < total; ++rank)
    (takes_part[rank] ? in : out).ranks.push_back({rank, 1, 1});
  trace.bindings.push_back(in);
  if (!out.ranks.empty()) trace.bindings.push_back(out);
  return trace;
}

std::string limit_of(const OperationRecord& record, Time time, const Topology& topology) {
  if (record.bytes.count() == 0 || record.latency > time - record.latency) return "latency";
  if (record.bottleneck == MaxMinSolver::kNone) return record.rate_bound.empty() ? "none" : record.rate_bound;
  return topology.link_class(LinkId(record.bottleneck)) + " " + topology.link_name(LinkId(record.bottleneck));
}

SweepRow row_of(const OperationRecord& record, std::int64_t ranks, DataType type, const Topology& topology) {
  SweepRow row{.operation = record.kind,
               .size = record.bytes,
               .count = record.bytes.count() / size_of(type) / (divides_by_ranks(record.kind) ? ranks : 1),
               .time = record.mean_time(),
               .algorithm = record.algorithm,
               .protocol = record.protocol,
               .channels = record.channels};
  if (row.time > Time::zero()) row.algbw_Bps = row.size.as_double() / row.time.seconds();
  row.busbw_Bps = row.algbw_Bps * busbw_factor(record.kind, ranks);
  row.limit = limit_of(record, row.time, topology);
  return row;
}

void set_time(SweepRow& row, Time time, std::int64_t ranks) {
  row.time = time;
  row.algbw_Bps = time > Time::zero() ? row.size.as_double() / time.seconds() : 0;
  row.busbw_Bps = row.algbw_Bps * busbw_factor(row.operation, ranks);
}

// --detail chunk: the same row by the messages themselves.
void retime(SweepRow& row, Replay& replay, const OperationRecord& record, std::int64_t ranks) {
  set_time(row, chunk_time(replay.plans().detail_of(record), record.bytes, replay.placement()), ranks);
}

// Groups up to this size get their steps listed.
constexpr std::size_t kSmallGroup = 8;

void explain_rows(Sweep& sweep, Replay& replay, std::span<const std::uint32_t> ranks, std::uint32_t root) {
  sweep.explanations = replay.explainer()->explanations(replay);
  if (ranks.size() > kSmallGroup || ranks.size() < 2) return;
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    Explanation& e = sweep.explanations[i];
    const Algorithm* algorithm = find_algorithm(sweep.rows[i].operation, e.algorithm);
    if (algorithm == nullptr) continue;
    const GroupRoutes* routes = replay.plans().routes(GroupId(0));
    const GroupShape shape{static_cast<std::uint32_t>(ranks.size()), root, routes->by_host};
    e.chunk_bytes = e.bytes.as_double() * chunk_share(algorithm->schedule(shape));
    e.rounds = rounds_of(*algorithm, shape, ranks);
  }
}

// One sentence per algorithm whose busbw passes the line rate of what the group's data crosses.
void note_beyond_line_rate(Sweep& sweep, Replay& replay) {
  const GroupRoutes* routes = replay.plans().routes(GroupId(0));
  if (routes == nullptr) return;
  const double line = routes->hosts > 1 ? routes->inter.Bps() : routes->intra.Bps();
  const auto& records = replay.plans().records();
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    if (sweep.rows[i].busbw_Bps <= line) continue;
    const std::string why = beyond_line_rate(records[i], *routes);
    const std::string note = fmt::format("{}: {}", records[i].algorithm, why);
    if (!why.empty() && std::find(sweep.notes.begin(), sweep.notes.end(), note) == sweep.notes.end())
      sweep.notes.push_back(note);
  }
}

// Rings and trees take a host's NICs together; where each rank sends for itself it has the one that it uses.
void add_line_rates(Sweep& sweep, const GroupRoutes& routes, CollectiveKind kind) {
  if (routes.intra.Bps() > 0)
    sweep.line_rates.push_back({"a GPU's links inside its host", routes.intra.Bps()});
  if (routes.hosts < 2) return;
  if (kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kSendRecv)
    sweep.line_rates.push_back({"one NIC", routes.inter_nic.Bps()});
  else
    sweep.line_rates.push_back({"the NICs of a host", routes.inter.Bps()});
}

void find_half_bandwidth(Sweep& sweep) {
  double best = 0;
  for (const SweepRow& row : sweep.rows) best = std::max(best, row.busbw_Bps);
  for (const SweepRow& row : sweep.rows)
    if (best > 0 && row.busbw_Bps >= best / 2) {
      sweep.half_bandwidth_size = row.size;
      return;
    }
}

}  // namespace

Sweep sweep(const Topology& topology, const SweepRequest& asked, const Profile& profile,
            const SimOptions& options) {
  SweepRequest request = asked;
  const auto total = static_cast<std::uint32_t>(topology.ranks().size());
  if (request.ranks.empty()) {
    request.ranks.resize(total);
    std::iota(request.ranks.begin(), request.ranks.end(), 0U);
  }
  const auto n = static_cast<std::int64_t>(request.ranks.size());
  if (is_rooted(request.operation) && request.root >= request.ranks.size())
    throw Error({.where = "--root",
                 .expected = fmt::format("a place in --ranks, 0 to {}", n - 1),
                 .given = fmt::format("{}", request.root)});
  std::vector<Bytes> sizes = whole_sizes(request, kAlignment);
  // Teaching examples are smaller than nccl-tests goes: an element or two per rank.
  if (sizes.empty()) sizes = whole_sizes(request, size_of(request.type));
  if (sizes.empty())
    throw Error(
        {.where = "--sizes",
         .expected = fmt::format(
             "at least {} B for {} ranks",
             divides_by_ranks(request.operation) ? n * size_of(request.type) : size_of(request.type), n),
         .given = "smaller sizes only"});

  const StepTrace trace = trace_of(request, sizes, total);
  Overrides overrides = options.overrides;
  overrides.isolated = options.isolated;
  Replay replay(topology, trace, profile, {.overrides = overrides});
  if (options.explain) replay.explain();
  replay.run();
  Sweep result{.cluster_name = topology.name(),
               .ranks = static_cast<std::uint32_t>(n),
               .type = request.type,
               .reduction = request.reduction,
               .root = is_rooted(request.operation) ? static_cast<std::int32_t>(request.root) : -1};
  result.inputs.profile = profile.name;
  for (const OperationRecord& record : replay.plans().records()) {
    result.rows.push_back(row_of(record, n, request.type, topology));
    SweepRow& row = result.rows.back();
    if (options.chunks) retime(row, replay, record, n);
    set_time(row, with_launches(row.time, options.calls, profile, replay.placement().oldest(request.ranks)),
             n);
  }
  if (const GroupRoutes* routes = replay.plans().routes(GroupId(0))) {
    result.hosts = routes->hosts;
    add_line_rates(result, *routes, request.operation);
  }
  if (options.explain) explain_rows(result, replay, request.ranks, request.root);
  find_half_bandwidth(result);
  note_beyond_line_rate(result, replay);
  for (const ProfileParameter& p :
       parameters_of(profile, replay.placement().generation(request.ranks.front()),
                     replay.placement().gpu_model(request.ranks.front())))
    result.parameters.push_back({p.name, p.value, p.origin, p.source});
  for (const std::string& model : replay.placement().unmatched_models())
    result.warnings.push_back(
        {"unknown-gpu", fmt::format("no constants are known for {}; those of {} stand in", quoted(model),
                                    replay.placement().generation(0).name)});
  if (auto warning = unused_log_warning(replay)) result.warnings.push_back(std::move(*warning));
  return result;
}

}  // namespace busbar
