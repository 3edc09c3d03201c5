// Which layouts exist for a model on a number of GPUs, and why the others do not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/search_candidate.h"

namespace busbar {

/// What a search may choose from. Lists that are absent: every value that divides.
struct SearchSpace {
  std::optional<std::vector<std::int64_t>> tp, cp, pp, ep, virtual_stages, micro;
  std::vector<Sharding> sharding = {Sharding::kNone, Sharding::kDistributed, Sharding::kFsdp,
                                    Sharding::kHsdp};
  std::vector<Recompute> recompute = {Recompute::kNone, Recompute::kFull};
  /// 1f1b and interleaved are what frameworks run as they come; gpipe and zero-bubble by request.
  std::vector<PipelineSchedule> schedules = {PipelineSchedule::k1f1b, PipelineSchedule::kInterleaved};
  std::vector<bool> stages_outside = {true, false};
  std::int64_t most_micro = 16;              // samples of a microbatch
  std::int64_t least_context_tokens = 1024;  // of a sequence, on each context-parallel rank
};

/// Layouts that were left out: by reason, with how many and one of them.
struct Exclusion {
  std::int64_t count = 0;
  std::string example;
};
using Exclusions = std::map<std::string, Exclusion>;
void exclude(Exclusions& exclusions, const std::string& reason, const Candidate& candidate,
             std::int64_t count = 1);

/// Why layouts are left out, before anything is priced.
namespace reason {
inline constexpr const char* kCut = "tp, cp or ep does not divide the model or the sequence";
inline constexpr const char* kBatch = "micro x dp does not divide the global batch";
inline constexpr const char* kChunks = "more pipeline chunks than blocks to fill them";
inline constexpr const char* kSchedule = "the schedule does not fit the microbatches or the sharding";
inline constexpr const char* kMicro = "beyond the limit on samples per microbatch (search.most_micro)";
inline constexpr const char* kContext =
    "beyond the limit on tokens per context rank (search.least_context_tokens)";
inline constexpr const char* kMemory = "does not fit in the GPU's memory";
}  // namespace reason

/// Which numbers of a study to change so that fewer layouts are left out for that reason; "" if none is
/// known.
[[nodiscard]] std::string_view advice_for(std::string_view reason);

/// Every candidate on `gpus` GPUs, in a fixed order; `host_ranks` is the size of a shard group of hsdp.
/// Layouts that cannot run (workloads' own checks) and those beyond the space's limits are counted by reason.
struct Enumeration {
  std::vector<Candidate> candidates;
  Exclusions excluded;
};
[[nodiscard]] Enumeration enumerate(const Workload& base, const SearchSpace& space, std::int64_t gpus,
                                    std::int64_t host_ranks);

/// Whether `gpus` can be cut without remainders: replicas divide the batch, stages the blocks, tensor ranks
/// the heads, context ranks the sequence. Other sizes run too, with uneven stages or GPUs that hardly help.
[[nodiscard]] bool divides_evenly(const Workload& base, const SearchSpace& space, std::int64_t gpus);

/// Ascending.
[[nodiscard]] std::vector<std::int64_t> divisors_of(std::int64_t number);

}  // namespace busbar
