// What frameworks reject, with the rule and the nearest values that it allows.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/error.h"
#include "workloads/jitter.h"
#include "workloads/rank_set.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/pipeline.h"
#include "workloads/strategies/stages.h"

namespace busbar {

namespace {

void require(bool holds, std::string message) {
  if (!holds) throw Error({.message = std::move(message)});
}

/// "3": the divisors of `size` around `parts`; "2 and 4" where both exist.
std::string nearest_divisors(std::int64_t size, std::int64_t parts) {
  std::int64_t below = std::min(parts, size);
  while (size % below != 0) --below;
  std::int64_t above = std::min(parts, size);
  while (size % above != 0) ++above;
  return below == above ? fmt::format("the nearest is {}", below)
                        : fmt::format("the nearest are {} and {}", below, above);
}

std::int64_t block_count(const ModelSpec& model) {
  if (model.transformer) return model.transformer->layers;
  return std::count_if(model.parameters.begin(), model.parameters.end(),
                       [](const ParameterSpec& p) { return !is_root(p); });
}

void check_sizes(const ParallelSpec& p) {
  const std::int64_t tp_cp_dp = checked_mul(checked_mul(p.tp, p.cp, "ranks"), p.dp, "ranks");
  require(checked_mul(tp_cp_dp, p.pp, "ranks") <= kMaxRanks,
          fmt::format("tp x cp x dp x pp is {}; at most {} ranks", tp_cp_dp * p.pp, kMaxRanks));
  const std::int64_t experts = checked_mul(p.ep, p.etp, "ranks");
  if (tp_cp_dp % experts != 0)
    require(false, fmt::format("ep x etp = {} x {} does not divide tp x cp x dp = {}; {}", p.ep, p.etp,
                               tp_cp_dp, nearest_divisors(tp_cp_dp, experts)));
  if (!p.shard_size) return;
  const std::int64_t replicas = p.dp * p.cp, size = *p.shard_size;
  require(shards(p.sharding),
          fmt::format("shard_size does not go with \"sharding\": \"{}\", which shards nothing",
                      name_of(p.sharding)));
  if (replicas % size != 0)
    require(false, fmt::format("shard_size = {} does not divide dp x cp = {}; {}", size, replicas,
                               nearest_divisors(replicas, size)));
}

// Only the first chunk, which has the embedding, and the last, which has the head, can do without blocks.
void check_chunks(const ModelSpec& model, const std::vector<std::int64_t>& blocks) {
  const bool embedding = model.transformer || is_root(model.parameters.front());
  const bool head = model.transformer || is_root(model.parameters.back());
  for (std::size_t c = 0; c < blocks.size(); ++c)
    require(blocks[c] > 0 || (c == 0 && embedding) || (c + 1 == blocks.size() && head),
            fmt::format("chunk {} of {} would have no layer; \"stages\" says how many blocks each has", c,
                        blocks.size()));
}

// Blocks on chunks, and what sharded parameters leave of the schedules.
void check_pipeline(const Workload& workload, std::int64_t microbatches) {
  const ParallelSpec& p = workload.parallel;
  if (const auto problem = schedule_problem(p, microbatches)) throw Error({.message = *problem});
  require(!shards_parameters(p.sharding) || !keeps_weights_apart(p.schedule),
          fmt::format("{} keeps weight gradients apart, which sharded parameters do not allow",
                      name_of(p.schedule)));
  if (p.pp * p.virtual_stages == 1 && p.stages.empty()) return;
  check_chunks(workload.model, blocks_per_chunk(block_count(workload.model), workload));
}

}  // namespace

// Rails and hosts of an expert group must be a grid.
void check_hosts(const Workload& w) {
  if (!w.moe.node_limit) return;
  require(w.parallel.host_ranks.has_value(),
          "moe.node_limit needs hosts with equally many ranks each, numbered host by host");
  const Layout layout(w.parallel);
  for (const std::uint32_t rank : layout.stage(0)) {
    const std::vector<std::uint32_t> group = layout.members("ep", layout.place_of(rank));
    if (group.front() != rank) continue;
    std::map<std::int64_t, std::int64_t> on;
    for (const std::uint32_t member : group) ++on[std::int64_t{member} / *w.parallel.host_ranks];
    for (const auto& [host, ranks] : on)
      require(
          ranks == on.begin()->second,
          fmt::format("moe.node_limit needs as many ranks of an expert group on each host; the group of rank "
                      "{} has {} on one and {} on another",
                      rank, on.begin()->second, ranks));
  }
}

void check_layout(const Workload& workload) {
  const ParallelSpec& p = workload.parallel;
  check_sizes(p);
  if (const auto problem = batch_problem(workload.batch, p.dp)) throw Error({.message = *problem});
  check_pipeline(workload, microbatches_of(workload));
  const LayerBatch batch{workload.batch.micro, workload.batch.sequence, workload.precision.compute};
  if (const auto problem = cut_problem(workload.model, batch, cut_of(workload)))
    throw Error({.message = *problem});
}

namespace {

void describe(const Workload& workload, StepTrace& trace) {
  if (trace.staggered)
    trace.assumptions.emplace_back(
        "zb-2p: stages begin a step where they ended the last one; the step is that of the rank that takes "
        "longest");
  if (trace.slowdowns.empty()) return;
  const auto slower = [](const Slowdown& a, const Slowdown& b) { return a.factor < b.factor; };
  const auto [least, most] = std::minmax_element(trace.slowdowns.begin(), trace.slowdowns.end(), slower);
  trace.assumptions.push_back(
      fmt::format("jitter: {} draws of seed {}; kernels take {:.3f} to {:.3f} times as long",
                  trace.slowdowns.size(), workload.seed, least->factor, most->factor));
}

}  // namespace

// FLOPs of the model itself: recomputation does not count. A list of parameters has its work by microbatch.
void finish_trace(const Workload& workload, StepTrace& trace) {
  trace.ranks = static_cast<std::uint32_t>(workload.parallel.world());
  const auto samples = static_cast<double>(workload.batch.global);
  trace.kernel_share = workload.framework->kernel_share;
  if (const auto& ampere = workload.framework->ampere_share) trace.kernel_shares["ampere"] = *ampere;
  trace.attention_share = workload.framework->attention_share;
  if (const double hopper = workload.framework->hopper_attention_share; hopper != trace.attention_share)
    for (const char* generation : {"hopper", "blackwell"}) trace.attention_shares[generation] = hopper;
  trace.slowdowns = draw_slowdowns(workload);
  trace.staggered = workload.parallel.schedule == PipelineSchedule::kZeroBubble2p && workload.parallel.pp > 1;
  describe(workload, trace);
  trace.tokens = samples * static_cast<double>(workload.batch.sequence);
  const double units =
      workload.model.transformer ? samples : samples / static_cast<double>(workload.batch.micro);
  trace.model_flops = units * model_flops(workload.model, workload.batch.sequence);
}

}  // namespace busbar
