#include <fmt/format.h>

#include <array>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/memory.h"
#include "workloads/strategies/ddp.h"
#include "workloads/strategies/fsdp.h"
#include "workloads/strategies/pipeline.h"
#include "workloads/strategies/sharded_optimizer.h"
#include "workloads/strategies/stages.h"
#include "workloads/workload.h"

namespace busbar {

namespace {

constexpr std::array<Strategy, 9> kStrategies = {{
    {"none", "DDP: whole replicas, gradients all-reduced in buckets", expand_ddp, ddp_memory},
    {"zero1", "ZeRO-1: optimizer state sharded, gradients reduce-scattered on the last microbatch",
     expand_sharded_optimizer, stage_memory},
    {"zero2", "ZeRO-2: gradients sharded too, reduce-scattered every microbatch", expand_sharded_optimizer,
     stage_memory},
    {"zero3", "ZeRO-3: parameters sharded too, gathered in forward and backward of every microbatch",
     expand_fsdp, fsdp_memory},
    {"fsdp", "FSDP2: parameters sharded, gathered block by block", expand_fsdp, fsdp_memory},
    {"hsdp", "HSDP: FSDP inside shard_size ranks, gradients all-reduced over the replicas", expand_fsdp,
     fsdp_memory},
    {"distributed", "Megatron's distributed optimizer: parameter gathers overlap forward",
     expand_sharded_optimizer, stage_memory},
    {"parameter-server", "each bucket reduced to one rank, which broadcasts the parameters", expand_ddp,
     ddp_memory},
    {"horovod", "all-reduces of 64 MiB fusion buffers", expand_ddp, ddp_memory},
}};

}  // namespace

std::string_view name_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::kNone:
      return "none";
    case Sharding::kZero1:
      return "zero1";
    case Sharding::kZero2:
      return "zero2";
    case Sharding::kZero3:
      return "zero3";
    case Sharding::kFsdp:
      return "fsdp";
    case Sharding::kHsdp:
      return "hsdp";
    case Sharding::kDistributed:
      return "distributed";
    case Sharding::kParameterServer:
      return "parameter-server";
    case Sharding::kHorovod:
      return "horovod";
  }
  BUSBAR_CHECK(false);
  return "";
}

bool shards_parameters(Sharding sharding) {
  return sharding == Sharding::kZero3 || sharding == Sharding::kFsdp || sharding == Sharding::kHsdp;
}

bool shards(Sharding sharding) {
  return sharding != Sharding::kNone && sharding != Sharding::kHorovod &&
         sharding != Sharding::kParameterServer;
}

std::span<const Strategy> strategies() { return kStrategies; }

bool cuts_tensors(const Workload& w) {
  return w.parallel.sharding == Sharding::kZero1 &&
         w.optimizer.cut.value_or(w.framework->zero1_cuts_tensors ? ZeroCut::kTensors : ZeroCut::kBuckets) ==
             ZeroCut::kTensors;
}

LayerCut cut_of(const Workload& w) {
  return {.tp = w.parallel.tp,
          .cp = w.parallel.cp,
          .ep = w.parallel.ep,
          .etp = w.parallel.etp,
          .sequence_parallel = w.parallel.sequence_parallel,
          .context = w.context,
          .recompute = w.recompute,
          .attention = w.attention,
          .capacity_factor = w.moe.capacity_factor};
}

std::string nearest_multiples(std::int64_t count, std::int64_t unit) {
  const std::int64_t below = count / unit * unit;
  return below == 0 ? fmt::format("the nearest is {}", unit)
                    : fmt::format("the nearest are {} and {}", below, below + unit);
}

std::int64_t microbatches_of(const Workload& w) { return w.batch.global / (w.batch.micro * w.parallel.dp); }

std::optional<std::string> batch_problem(const BatchSpec& batch, std::int64_t dp) {
  BUSBAR_CHECK(batch.micro >= 1 && batch.global >= 1 && dp >= 1);
  const std::int64_t unit = checked_mul(batch.micro, dp, "micro x dp");
  if (batch.global % unit == 0) return std::nullopt;
  return fmt::format("a global batch of {} is not a multiple of micro x dp = {} x {}; {}", batch.global,
                     batch.micro, dp, nearest_multiples(batch.global, unit));
}

static const Strategy& strategy_of(const Workload& workload) {
  const Strategy* strategy = find_row(strategies(), name_of(workload.parallel.sharding));
  BUSBAR_CHECK(strategy != nullptr);
  return *strategy;
}

MemoryUse memory_of_stage(const std::vector<Layer>& layers, const Workload& workload, std::int64_t stage) {
  return strategy_of(workload).memory(layers, workload, stage);
}

StepTrace expand(const Workload& workload) {
  const Strategy& strategy = strategy_of(workload);
  check_layout(workload);
  check_hosts(workload);
  return strategy.expand(workload);
}

}  // namespace busbar
