#include "sim/study/search_stages.h"

#include "workloads/strategies/pipeline.h"

namespace busbar {

namespace {

void add_layer(StageTime& stage, const LayerTime& layer, bool is_first, bool in_first_chunk) {
  stage.forward += layer.forward.time;
  stage.backward += layer.backward.time;
  stage.weights += layer.weights.time;
  stage.host += layer.host;
  if (is_first) stage.forward_lead = layer.forward.lead;
  stage.backward_lead = layer.backward.lead;  // backward begins with the last layer
  if (!in_first_chunk) return;
  stage.first_forward += layer.forward.time;
  stage.first_backward += layer.backward.time;
}

}  // namespace

StageTimes stage_times(const Workload& w, const CutTimes& cut) {
  const ParallelSpec& p = w.parallel;
  const std::int64_t blocks = w.model.transformer ? w.model.transformer->layers : std::ssize(cut.layers) - 2;
  const auto stages = static_cast<std::size_t>(p.pp);
  StageTimes times{.expected = std::vector<StageTime>(stages),
                   .least = std::vector<StageTime>(stages),
                   .common = std::vector<std::int64_t>(stages, 0),
                   .experts = std::vector<std::int64_t>(stages, 0),
                   .blocks = std::vector<std::int64_t>(stages, 0),
                   .first_layers = {}};
  std::vector<std::int64_t> per_chunk = {blocks};
  if (p.pp > 1) per_chunk = blocks_per_chunk(blocks, w);
  std::vector<bool> begun(stages, false);
  const auto put = [&](std::int64_t layer, std::size_t chunk) {
    const std::size_t stage = chunk % stages;
    const std::size_t i = cut.index(layer, blocks);
    add_layer(times.expected[stage], cut.expected[i], !begun[stage], chunk < stages);
    add_layer(times.least[stage], cut.least[i], !begun[stage], chunk < stages);
    begun[stage] = true;
    times.common[stage] += cut.layers[i].elements();
    times.experts[stage] += cut.layers[i].expert_elements();
    times.blocks[stage] += layer > 0 && layer <= blocks ? 1 : 0;
    if (stage == 0) times.first_layers.push_back(&cut.layers[i]);
  };
  std::int64_t layer = 0;
  put(layer++, 0);
  for (std::size_t chunk = 0; chunk < per_chunk.size(); ++chunk)
    for (std::int64_t b = 0; b < per_chunk[chunk]; ++b) put(layer++, chunk);
  put(layer, per_chunk.size() - 1);
  return times;
}

}  // namespace busbar
