#include <fmt/format.h>

#include <array>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/strategies/ddp.h"
#include "workloads/strategies/fsdp.h"
#include "workloads/workload.h"

namespace busbar {

namespace {

constexpr std::array<Strategy, 2> kStrategies = {{
    {"none", "DDP: whole replicas, gradients all-reduced in buckets (sharding: none)", expand_ddp},
    {"fsdp", "FSDP2: parameters sharded, gathered block by block (sharding: fsdp)", expand_fsdp},
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
  }
  BUSBAR_CHECK(false);
  return "";
}

std::span<const Strategy> strategies() { return kStrategies; }

std::optional<std::string> batch_problem(const BatchSpec& batch, std::int64_t dp) {
  BUSBAR_CHECK(batch.micro >= 1 && batch.global >= 1 && dp >= 1);
  const std::int64_t unit = checked_mul(batch.micro, dp, "micro x dp");
  if (batch.global % unit == 0) return std::nullopt;
  const std::int64_t below = batch.global / unit * unit;
  const std::string nearest = below == 0 ? fmt::format("the nearest is {}", unit)
                                         : fmt::format("the nearest are {} and {}", below, below + unit);
  return fmt::format("a global batch of {} is not a multiple of micro x dp = {} x {}; {}", batch.global,
                     batch.micro, dp, nearest);
}

StepTrace expand(const Workload& workload) {
  const Strategy* strategy = find_row(strategies(), name_of(workload.sharding));
  if (strategy == nullptr)
    throw Error({.where = "parallel.sharding",
                 .message = fmt::format("{} is not modelled yet", name_of(workload.sharding))});
  return strategy->expand(workload);
}

}  // namespace busbar
