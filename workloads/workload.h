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
#include "workloads/frameworks.h"
#include "workloads/model_spec.h"
#include "workloads/trace.h"

namespace busbar {

struct BatchSpec {
  std::int64_t sequence = 0;  // tokens per sample; 0 for models given as a parameter list
  std::int64_t micro = 1;     // samples per rank and microbatch
  std::int64_t global = 0;    // samples per step over all data-parallel ranks
};

/// kDistributed: Megatron's distributed optimizer. kHsdp: FSDP inside `shard_size` ranks, replicas beyond.
/// kParameterServer and kHorovod are for comparison.
enum class Sharding : std::uint8_t {
  kNone,
  kZero1,
  kZero2,
  kZero3,
  kFsdp,
  kHsdp,
  kDistributed,
  kParameterServer,
  kHorovod
};
[[nodiscard]] std::string_view name_of(Sharding sharding);
/// Whether ranks keep parts of anything: not in DDP, with Horovod and with a parameter server.
[[nodiscard]] bool shards(Sharding sharding);
/// Parameters too, which each pass gathers.
[[nodiscard]] bool shards_parameters(Sharding sharding);

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

/// What launching takes the CPU, where the system's differs from the framework's figures.
struct LaunchSpec {
  std::optional<Time> forward, backward;  // of one block
  Time member;                            // of one collective, for each rank of its group
  Time message;                           // of one message between stages, at either end
  std::optional<Time> copy;               // of one part of a tensor (ZeroCut::kTensors)
};

/// What ZeRO-1 cuts over its ranks. kBuckets: flat buffers of many tensors (DeepSpeed). kTensors: each tensor
/// by itself (Nanotron): one all_reduce sums all gradients when backward has ended, one all_gather brings the
/// updated parameters, and every rank's part of every tensor is then copied to its place.
enum class ZeroCut : std::uint8_t { kBuckets, kTensors };

struct OptimizerSpec {
  std::string kind = "adamw";  // adamw, sgd, none
  DataType state = DataType::kFp32;
  std::optional<ZeroCut> cut;  // of zero1; none: the framework's
};

enum class PipelineSchedule : std::uint8_t { kGpipe, k1f1b, kInterleaved, kZeroBubbleH1, kZeroBubble2p };
[[nodiscard]] std::string_view name_of(PipelineSchedule schedule);
/// Whether weight gradients are tasks of their own.
[[nodiscard]] bool keeps_weights_apart(PipelineSchedule schedule);

/// tp x cp x dp x pp = GPUs; ep x etp divides tp x cp x dp.
struct ParallelSpec {
  std::int64_t tp = 1, pp = 1, cp = 1, ep = 1, dp = 1;
  std::int64_t etp = 1;  // of the experts; tp unless given
  Sharding sharding = Sharding::kNone;
  std::optional<std::int64_t> shard_size;  // ranks of one shard group; none: all of dp x cp
  std::vector<std::string> order = {"tp", "cp", "dp", "pp"};  // fastest first
  bool sequence_parallel = false;
  PipelineSchedule schedule = PipelineSchedule::k1f1b;
  std::int64_t virtual_stages = 1;         // chunks per pipeline rank
  std::optional<std::int64_t> host_ranks;  // of one host or NVLink domain; what node_limit needs to know
  std::vector<std::int64_t> stages;  // blocks per chunk in order; empty: balanced with embedding and head
  [[nodiscard]] std::int64_t world() const { return tp * pp * cp * dp; }
};

/// Whether each kind of communication may run beside kernels.
struct OverlapSpec {
  bool dp = true, tp = false, pp = true, ep = false, cp = true;
};

/// How tokens fall on experts: even, by a histogram (one weight per expert), by a Zipf exponent, or one
/// expert with `hot` times its share.
struct MoeSpec {
  std::optional<double> capacity_factor;
  std::vector<double> histogram;
  double zipf = 0;
  double hot = 1;
  /// Hosts that one token's experts are on at most. It goes to each of them once, and from there on in the
  /// host.
  std::optional<std::int64_t> node_limit;
};

/// Kernels take e^(sigma z) times as long, z standard normal: one draw for each rank, for each data-parallel
/// replica (all stages of it), or for each role (a pipeline stage on all replicas).
struct JitterSpec {
  enum class Per : std::uint8_t { kRank, kReplica, kRole };
  double lognormal = 0;  // sigma
  Per per = Per::kRank;
};

inline constexpr std::int64_t kMaxOps = 2'000'000;  // of one program: about 600 MB

struct Workload {
  std::string name;
  ModelSpec model;
  BatchSpec batch;
  ParallelSpec parallel;
  PrecisionSpec precision;
  FsdpSpec fsdp;
  DdpSpec ddp;
  OverlapSpec overlap;
  LaunchSpec launch;
  OptimizerSpec optimizer;
  MoeSpec moe;
  JitterSpec jitter;
  std::uint64_t seed = 0;  // of the jitter's draws
  Recompute recompute = Recompute::kNone;
  AttentionKernels attention = AttentionKernels::kFused;
  ContextMethod context = ContextMethod::kRing;
  const Framework* framework = &frameworks().front();
};

/// Whether the workload's sharding is ZeRO-1 that cuts each tensor by itself.
[[nodiscard]] bool cuts_tensors(const Workload& workload);

/// The cut of the model that one rank sees.
[[nodiscard]] LayerCut cut_of(const Workload& workload);

/// One row per way of training. `expand` builds the step. `sharding` values that select it are in the help.
struct Strategy {
  std::string_view name;  // "none" (DDP), "fsdp": the value of parallel.sharding
  std::string_view help;
  StepTrace (*expand)(const Workload&);
  /// What a rank of a pipeline stage keeps, by the stage's layers.
  MemoryUse (*memory)(const std::vector<Layer>&, const Workload&, std::int64_t stage);
};

[[nodiscard]] std::span<const Strategy> strategies();  // THE table

/// "the nearest are 8 and 16": the multiples of `unit` around `count`, which is none; "the nearest is 8"
/// below it.
[[nodiscard]] std::string nearest_multiples(std::int64_t count, std::int64_t unit);

/// Of one step and replica. Requires: no batch_problem.
[[nodiscard]] std::int64_t microbatches_of(const Workload& workload);

/// Why the global batch does not fit micro x dp, with the nearest sizes that do; none: it fits.
[[nodiscard]] std::optional<std::string> batch_problem(const BatchSpec& batch, std::int64_t dp);

/// Errors (Error): a layout, batch or schedule that does not divide, with the rule and the nearest values.
void check_layout(const Workload& workload);

/// Errors (Error): a limit on hosts where parallel.host_ranks is not known, or expert groups that lie on
/// hosts unevenly.
void check_hosts(const Workload& workload);

/// What expand() says that a rank of `stage` keeps, without expanding the step. `layers`: the stage's, of
/// which names and parameters count.
[[nodiscard]] MemoryUse memory_of_stage(const std::vector<Layer>& layers, const Workload& workload,
                                        std::int64_t stage);

/// Finds the strategy of the workload and expands it. Errors: those of check_layout and check_hosts, sizes
/// beyond 63 bits, a step of more than kMaxOps operations.
[[nodiscard]] StepTrace expand(const Workload& workload);

}  // namespace busbar
