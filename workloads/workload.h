// What the user trains, and how: the short form, before it becomes a StepTrace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"
#include "workloads/model_spec.h"
#include "workloads/trace.h"

namespace busbar {

struct BatchSpec {
  std::int64_t sequence = 0;  // tokens per sample; 0 for models given as a parameter list
  std::int64_t micro = 1;     // samples per rank and microbatch
  std::int64_t global = 0;    // samples per step over all data-parallel ranks
};

enum class Sharding : std::uint8_t { kNone, kZero1, kZero2, kZero3, kFsdp };
[[nodiscard]] std::string_view name_of(Sharding sharding);

struct PrecisionSpec {
  DataType compute = DataType::kBf16;
  DataType parameters = DataType::kBf16;  // as gathered and used
  DataType gradients = DataType::kBf16;   // as kept
  DataType reduce = DataType::kBf16;      // as sent
};

enum class FsdpWrap : std::uint8_t { kBlock, kRoot };

struct FsdpSpec {
  bool reshard_after_forward = true;
  std::int64_t prefetch = 1;  // blocks gathered ahead (0: none, 1)
  FsdpWrap wrap = FsdpWrap::kBlock;
};

struct DdpSpec {
  std::optional<Bytes> bucket_cap;    // none: 25 MiB with a first bucket of 1 MiB, as PyTorch
  std::optional<Bytes> first_bucket;  // none: 1 MiB if bucket_cap is none, else bucket_cap
};

struct OptimizerSpec {
  std::string kind = "adamw";  // adamw, sgd, none
  DataType state = DataType::kFp32;
};

inline constexpr std::int64_t kMaxOps = 2'000'000;  // of one program: about 600 MB

struct Workload {
  std::string name;
  ModelSpec model;
  BatchSpec batch;
  std::int64_t dp = 1;
  Sharding sharding = Sharding::kNone;
  PrecisionSpec precision;
  FsdpSpec fsdp;
  DdpSpec ddp;
  bool overlap_dp = true;
  OptimizerSpec optimizer;
};

/// One row per way of training. `expand` builds the step. `sharding` values that select it are in the help.
struct Strategy {
  std::string_view name;  // "none" (DDP), "fsdp": the value of parallel.sharding
  std::string_view help;
  StepTrace (*expand)(const Workload&);
};

[[nodiscard]] std::span<const Strategy> strategies();  // THE table

/// Why the global batch does not fit micro x dp, with the nearest sizes that do; none: it fits.
[[nodiscard]] std::optional<std::string> batch_problem(const BatchSpec& batch, std::int64_t dp);

/// Finds the strategy of the workload and expands it. Errors: a sharding that no strategy models yet (named),
/// a batch that does not divide, sizes beyond 63 bits, a step of more than kMaxOps operations.
[[nodiscard]] StepTrace expand(const Workload& workload);

}  // namespace busbar
