#include "workloads/strategies/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/error.h"

namespace busbar {

std::string_view name_of(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::kGpipe:
      return "gpipe";
    case PipelineSchedule::k1f1b:
      return "1f1b";
    case PipelineSchedule::kInterleaved:
      return "interleaved";
    case PipelineSchedule::kZeroBubbleH1:
      return "zb-h1";
    case PipelineSchedule::kZeroBubble2p:
      return "zb-2p";
  }
  BUSBAR_CHECK(false);
}

bool keeps_weights_apart(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::kZeroBubbleH1 || schedule == PipelineSchedule::kZeroBubble2p;
}

std::vector<std::int64_t> blocks_per_chunk(std::int64_t blocks, const ParallelSpec& parallel) {
  const std::int64_t chunks = parallel.pp * parallel.virtual_stages;
  if (!parallel.stages.empty()) {
    const std::int64_t sum = std::accumulate(parallel.stages.begin(), parallel.stages.end(), std::int64_t{0});
    if (static_cast<std::int64_t>(parallel.stages.size()) != chunks || sum != blocks)
      throw Error({.where = "stages.layers",
                   .expected = fmt::format("{} numbers of blocks that add up to {}", chunks, blocks),
                   .given = fmt::format("{} that add up to {}", parallel.stages.size(), sum)});
    return parallel.stages;
  }
  if (blocks < chunks)
    throw Error(
        {.where = "parallel.pp",
         .expected = fmt::format("at most as many chunks (pp x virtual_stages) as the {} blocks", blocks),
         .given = std::to_string(chunks)});
  if (blocks % chunks == 0)
    return std::vector<std::int64_t>(static_cast<std::size_t>(chunks), blocks / chunks);
  // The embedding counts as a block of the first chunk, the head as one of the last; what is left over goes
  // to the chunks in the middle first.
  const std::int64_t units = blocks + 2, least = units / chunks;
  std::vector<std::int64_t> list(static_cast<std::size_t>(chunks), least);
  for (std::int64_t extra = units % chunks, i = 1; extra > 0; --extra, ++i)
    ++list[static_cast<std::size_t>(i % chunks)];
  --list.front();
  --list.back();
  return list;
}

// A block goes to the first stage whose part of all parameters is not yet full when the block comes.
// Source: huggingface/nanotron, models/base.py (build_model), get_block_compute_costs of the models; that the
// last block of a stage may exceed its part: peak_allocated of 647 jobs with pipelines.
static std::vector<std::int64_t> blocks_by_parameters(const TransformerDims& d, std::int64_t chunks) {
  const double hidden = static_cast<double>(d.hidden);
  const double attention = 4.0 * static_cast<double>(d.heads * d.head_dim) * hidden;
  const double block = attention + (d.gated_mlp ? 3.0 : 2.0) * static_cast<double>(d.ffn_hidden) * hidden;
  const double all = static_cast<double>(d.layers) + static_cast<double>(d.vocab) * hidden / block;
  std::vector<std::int64_t> list(static_cast<std::size_t>(chunks), 0);
  for (std::int64_t i = 0; i < d.layers; ++i)
    ++list[static_cast<std::size_t>(static_cast<double>(i * chunks) / all)];
  return list;
}

std::vector<std::int64_t> blocks_per_chunk(std::int64_t blocks, const Workload& workload) {
  const ParallelSpec& p = workload.parallel;
  const auto& dims = workload.model.transformer;
  const std::int64_t chunks = p.pp * p.virtual_stages;
  if (!workload.framework->stages_by_parameters || !p.stages.empty() || !dims || chunks == 1)
    return blocks_per_chunk(blocks, p);
  std::vector<std::int64_t> list = blocks_by_parameters(*dims, chunks);
  const bool leaves_one_empty = std::find(list.begin(), list.end() - 1, 0) != list.end() - 1;
  return leaves_one_empty ? blocks_per_chunk(blocks, p) : list;
}

std::vector<std::int64_t> chunks_of_layers(const std::vector<Layer>& layers,
                                           const std::vector<std::int64_t>& blocks) {
  std::int64_t left = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  std::size_t chunk = 0;
  std::int64_t taken = 0;
  std::vector<std::int64_t> chunks;
  for (const Layer& layer : layers) {
    if (layer.is_block) {
      for (; taken == blocks[chunk]; ++chunk) taken = 0;
      ++taken, --left;
    } else if (left == 0) {
      chunk = blocks.size() - 1;
    }
    chunks.push_back(static_cast<std::int64_t>(chunk));
  }
  return chunks;
}

std::optional<std::string> schedule_problem(const ParallelSpec& p, std::int64_t microbatches) {
  if (p.virtual_stages > 1 && p.schedule != PipelineSchedule::kInterleaved)
    return fmt::format(
        "{} has one chunk per stage; virtual_stages above 1 go with \"schedule\": \"interleaved\"",
        name_of(p.schedule));
  if (p.schedule == PipelineSchedule::kInterleaved && p.pp > 1 && microbatches % p.pp != 0)
    return fmt::format("interleaved needs a multiple of pp = {} microbatches; there are {}; {}", p.pp,
                       microbatches, nearest_multiples(microbatches, p.pp));
  return std::nullopt;
}

namespace {

using Tasks = std::vector<StageTask>;

Tasks gpipe(std::int64_t microbatches) {
  Tasks tasks;
  for (std::int64_t m = 0; m < microbatches; ++m) tasks.push_back({StageWork::kForward, m, 0});
  for (std::int64_t m = 0; m < microbatches; ++m) tasks.push_back({StageWork::kBackward, m, 0});
  return tasks;
}

// The k-th forward or backward of a stage with v chunks: pp microbatches through chunk 0, the same through
// chunk 1, ...; backward starts with the last chunk.
StageTask interleaved_task(const ParallelSpec& p, StageWork work, std::int64_t k) {
  const std::int64_t chunk = k / p.pp % p.virtual_stages;
  return {work, k / (p.pp * p.virtual_stages) * p.pp + k % p.pp,
          work == StageWork::kForward ? chunk : p.virtual_stages - 1 - chunk};
}

// Forwards before the first backward.
std::int64_t warmup(const ParallelSpec& p, std::int64_t stage, std::int64_t all) {
  std::int64_t steps = p.pp - stage - 1;
  if (p.virtual_stages > 1) steps = 2 * steps + (p.virtual_stages - 1) * p.pp;
  if (p.schedule == PipelineSchedule::kZeroBubble2p) steps *= 2;
  return std::min(steps, all);
}

Tasks one_forward_one_backward(const ParallelSpec& p, std::int64_t stage, std::int64_t microbatches) {
  const std::int64_t all = microbatches * p.virtual_stages;
  const std::int64_t ahead = warmup(p, stage, all);
  Tasks tasks;
  for (std::int64_t k = 0; k < ahead; ++k) tasks.push_back(interleaved_task(p, StageWork::kForward, k));
  for (std::int64_t k = ahead; k < all; ++k) {
    tasks.push_back(interleaved_task(p, StageWork::kForward, k));
    tasks.push_back(interleaved_task(p, StageWork::kBackward, k - ahead));
  }
  for (std::int64_t k = all - ahead; k < all; ++k)
    tasks.push_back(interleaved_task(p, StageWork::kBackward, k));
  return tasks;
}

// Stage s keeps s weight gradients back: they fill what would be its bubble at the end. With twice the
// forwards ahead it keeps 2 s: then they fill what would be its bubble at the start of the next step too.
Tasks zero_bubble(const ParallelSpec& p, std::int64_t stage, std::int64_t microbatches) {
  Tasks tasks;
  const std::int64_t late = p.schedule == PipelineSchedule::kZeroBubble2p ? 2 * stage : stage;
  std::int64_t done = 0, weights = 0;
  for (const StageTask& task : one_forward_one_backward(p, stage, microbatches)) {
    tasks.push_back(task);
    if (task.work != StageWork::kBackward) continue;
    ++done;
    if (done - weights > late) tasks.push_back({StageWork::kWeightGradient, weights++, 0});
  }
  while (weights < microbatches) tasks.push_back({StageWork::kWeightGradient, weights++, 0});
  return tasks;
}

}  // namespace

std::vector<StageTask> stage_tasks(const ParallelSpec& p, std::int64_t stage, std::int64_t microbatches) {
  switch (p.schedule) {
    case PipelineSchedule::kGpipe:
      return gpipe(microbatches);
    case PipelineSchedule::k1f1b:
    case PipelineSchedule::kInterleaved:
      return one_forward_one_backward(p, stage, microbatches);
    case PipelineSchedule::kZeroBubbleH1:
    case PipelineSchedule::kZeroBubble2p:
      return zero_bubble(p, stage, microbatches);
  }
  BUSBAR_CHECK(false);
}

std::int64_t in_flight(const ParallelSpec& p, std::int64_t stage, std::int64_t microbatches) {
  const StageWork last = keeps_weights_apart(p.schedule) ? StageWork::kWeightGradient : StageWork::kBackward;
  std::int64_t now = 0, most = 0;
  for (const StageTask& task : stage_tasks(p, stage, microbatches)) {
    if (task.work == StageWork::kForward) ++now;
    if (task.work == last) --now;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace busbar
