// Pipeline schedules: which stage does what in which order, and how the model's layers fall on stages.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/workload.h"

namespace busbar {

enum class StageWork : std::uint8_t {
  kForward,
  kBackward,  // all of it, or the part that makes input gradients where kWeightGradient is apart
  kWeightGradient,
};

/// One microbatch through one chunk of the model on one stage.
struct StageTask {
  StageWork work = StageWork::kForward;
  std::int64_t microbatch = 0;
  std::int64_t chunk = 0;  // of this stage, 0 to virtual_stages - 1
  bool operator==(const StageTask&) const = default;
};

/// Blocks of each chunk in the order of the model; chunk c of stage s is number c x pp + s. Given ones, else
/// equal numbers where they divide, else as equal as the embedding and the head, a block's worth each, allow.
/// Example: 126 blocks on 16 stages: 7, then 8 each, 7 on the last.
/// Errors (Error): fewer blocks than chunks; given numbers that are too few or do not add up.
[[nodiscard]] std::vector<std::int64_t> blocks_per_chunk(std::int64_t blocks, const ParallelSpec& parallel);

/// The same as the workload's framework cuts; where that leaves a chunk empty, as above.
[[nodiscard]] std::vector<std::int64_t> blocks_per_chunk(std::int64_t blocks, const Workload& workload);

/// The chunk of each layer. Layers before the first block go with the first chunk, those after the last block
/// with the last.
[[nodiscard]] std::vector<std::int64_t> chunks_of_layers(const std::vector<Layer>& layers,
                                                         const std::vector<std::int64_t>& blocks);

/// The tasks of one stage in issue order. Requires: what `schedule_problem` asks for.
///   gpipe        all forwards, then all backwards (Huang et al., 2019)
///   1f1b         pp - 1 - stage forwards, then one forward one backward (Narayanan et al., PipeDream-Flush,
///                2021)
///   interleaved  the same with virtual_stages chunks (Narayanan et al., SC 2021, section 2.2)
///   zb-h1        1f1b with weight gradients apart, delayed by the number of the stage (Qi et al., Zero
///                Bubble Pipeline Parallelism, 2024)
///   zb-2p        2 (pp - 1 - stage) forwards first and weight gradients 2 x stage late: no bubble once steps
///                follow each other, where forward and both parts of backward take the same time (ibid., the
///                schedule H2; the published scheduler searches for measured times)
[[nodiscard]] std::vector<StageTask> stage_tasks(const ParallelSpec& parallel, std::int64_t stage,
                                                 std::int64_t microbatches);

/// Why the schedule cannot run, with what would; none: it can.
[[nodiscard]] std::optional<std::string> schedule_problem(const ParallelSpec& parallel,
                                                          std::int64_t microbatches);

/// Microbatches whose activations a stage holds at most, counted in chunks: until their last gradients, of
/// the weights where these are apart.
[[nodiscard]] std::int64_t in_flight(const ParallelSpec& parallel, std::int64_t stage,
                                     std::int64_t microbatches);

}  // namespace busbar
