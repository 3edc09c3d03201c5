#include "sim/study/search_memory.h"

#include <algorithm>

#include "workloads/strategies/pipeline.h"

namespace busbar {

namespace {

// All of a layer's tensors of one type as one.
std::vector<Tensor> merged(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> sums;
  for (const Tensor& tensor : tensors) {
    const auto same = [&](const Tensor& sum) { return sum.type == tensor.type; };
    const auto found = std::find_if(sums.begin(), sums.end(), same);
    if (found == sums.end())
      sums.push_back({"", tensor.elements, tensor.type});
    else
      found->elements += tensor.elements;
  }
  return sums;
}

Layer slim(const Layer& layer) {
  return {.name = layer.name,
          .is_block = layer.is_block,
          .tensors = merged(layer.tensors),
          .expert_tensors = merged(layer.expert_tensors),
          .forward = {},
          .backward = {}};
}

// A stage keeps the activations of as many microbatches as it has in flight: but for gpipe, which holds all
// of them, no more than its schedule's warm-up, which is below 2 pp v.
Workload shortened(Workload w) {
  if (w.parallel.schedule == PipelineSchedule::kGpipe) return w;
  const std::int64_t pass = w.batch.micro * w.parallel.dp;
  const std::int64_t most = 2 * w.parallel.pp * w.parallel.virtual_stages;
  w.batch.global = std::min(w.batch.global, pass * most);
  return w;
}

}  // namespace

const std::vector<Layer>& LayerSizes::of(const Candidate& c) {
  const std::scoped_lock lock(mutex_);
  const auto [it, is_new] = by_cut_.try_emplace({c.tp, c.cp, c.ep});
  if (!is_new) return it->second;
  const Workload w = workload_of(base_, c);
  const LayerBatch batch{1, w.batch.sequence, w.precision.compute};
  for (const Layer& layer : layers_of(w.model, batch, cut_of(w))) it->second.push_back(slim(layer));
  return it->second;
}

MemoryUse fullest_stage(const Workload& workload, const Candidate& candidate, LayerSizes& sizes) {
  const std::vector<Layer>& layers = sizes.of(candidate);
  const ParallelSpec& p = workload.parallel;
  const Workload few = shortened(workload);
  std::vector<std::vector<Layer>> stages(static_cast<std::size_t>(p.pp));
  if (p.pp == 1) {
    stages.front() = layers;
  } else {
    const auto blocks =
        std::count_if(layers.begin(), layers.end(), [](const Layer& l) { return l.is_block; });
    const std::vector<std::int64_t> chunk_of = chunks_of_layers(layers, blocks_per_chunk(blocks, workload));
    for (std::size_t i = 0; i < layers.size(); ++i)
      stages[static_cast<std::size_t>(chunk_of[i] % p.pp)].push_back(layers[i]);
  }
  MemoryUse most;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    // Between neighbours of equal layers the earlier one has more in flight.
    const bool like_the_last =
        stage > 1 && stage + 1 < stages.size() && stages[stage].size() <= stages[1].size();
    const bool has_alike_blocks = !workload.model.transformer || !workload.model.transformer->experts;
    if (like_the_last && has_alike_blocks && !keeps_weights_apart(p.schedule)) continue;
    const MemoryUse use = memory_of_stage(stages[stage], few, static_cast<std::int64_t>(stage));
    if (use.total() > most.total()) most = use;
  }
  return most;
}

}  // namespace busbar
