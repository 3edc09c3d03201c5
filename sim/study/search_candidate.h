// One layout that a search may try: everything of a job that the planner is free to choose.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "workloads/workload.h"

namespace busbar {

/// tp x cp x dp x pp = GPUs. Sequence parallelism is on wherever tp > 1: it costs the same traffic and keeps
/// less (Korthikanti et al., 2022, section 4.2).
struct Candidate {
  std::int64_t tp = 1, cp = 1, dp = 1, pp = 1, ep = 1;
  std::int64_t virtual_stages = 1, micro = 1;
  Sharding sharding = Sharding::kNone;
  std::optional<std::int64_t> shard_size;  // hsdp
  PipelineSchedule schedule = PipelineSchedule::k1f1b;
  Recompute recompute = Recompute::kNone;
  bool stages_outside = true;  // ranks of one stage follow each other ("tp-cp-dp-pp"), or of one replica
  auto operator<=>(const Candidate&) const = default;
  [[nodiscard]] std::int64_t gpus() const { return tp * cp * dp * pp; }
};

/// "tp 8 pp 4 x 2 dp 32 distributed, micro 1, full recomputation": unique among candidates.
[[nodiscard]] std::string text_of(const Candidate& candidate);
[[nodiscard]] std::string_view name_of(Recompute recompute);

/// `base` in this layout. What read_workload derives from a framework and a sharding is derived here too.
[[nodiscard]] Workload workload_of(const Workload& base, const Candidate& candidate);

/// As whole numbers, for messages and keys, and back.
inline constexpr std::size_t kCandidateNumbers = 12;
[[nodiscard]] std::array<std::int64_t, kCandidateNumbers> numbers_of(const Candidate& candidate);
[[nodiscard]] Candidate candidate_of(const std::array<std::int64_t, kCandidateNumbers>& numbers);

}  // namespace busbar
