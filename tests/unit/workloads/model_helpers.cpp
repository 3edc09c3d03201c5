#include "model_helpers.h"

#include <fmt/format.h>

#include <stdexcept>

#include "sim/base/named_table.h"

namespace busbar::test {

TransformerDims small() {
  return {.layers = 2, .hidden = 12, .ffn_hidden = 20, .heads = 4, .kv_heads = 2, .head_dim = 5, .vocab = 7};
}

TransformerDims even() {
  return {
      .layers = 2, .hidden = 64, .ffn_hidden = 128, .heads = 8, .kv_heads = 8, .head_dim = 8, .vocab = 1024};
}

TransformerDims even_experts() {
  TransformerDims dims = even();
  dims.experts = Experts{.count = 8, .top_k = 2, .ffn_hidden = 32};
  return dims;
}

TransformerDims even_latent() {
  TransformerDims dims = even();
  dims.head_dim = 16;
  dims.latent = LatentAttention{
      .q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 12, .qk_rope_head_dim = 4, .v_head_dim = 8};
  return dims;
}

ModelSpec model_of(const TransformerDims& dims) {
  return {.name = "m", .transformer = dims, .parameters = {}};
}

ModelSpec preset(std::string_view name) {
  const ModelPreset* row = find_row(model_presets(), name);
  if (row == nullptr) throw std::out_of_range(std::string(name));
  return model_of(row->dims);
}

std::vector<std::string> kernel_names(const std::vector<LayerStep>& steps) {
  std::vector<std::string> names;
  for (const LayerStep& step : steps)
    if (!step.communication) names.push_back(step.kernel.name);
  return names;
}

const KernelWork& work_of(const std::vector<LayerStep>& steps, std::string_view name) {
  for (const LayerStep& step : steps)
    if (!step.communication && step.kernel.name == name) return step.kernel.work;
  throw std::out_of_range(std::string(name));
}

const LayerCommunication& communication_of(const std::vector<LayerStep>& steps, std::string_view name) {
  for (const LayerStep& step : steps)
    if (step.communication && step.communication->name == name) return *step.communication;
  throw std::out_of_range(std::string(name));
}

double flops_of(const std::vector<LayerStep>& steps) {
  double sum = 0;
  for (const LayerStep& step : steps) sum += step.kernel.work.flops;
  return sum;
}

std::vector<std::string> order_of(const std::vector<LayerStep>& steps) {
  std::vector<std::string> order;
  for (const LayerStep& step : steps)
    order.push_back(step.communication
                        ? fmt::format("[{} {}]", step.communication->name, step.communication->bytes.count())
                        : step.kernel.name);
  return order;
}

std::vector<std::int64_t> sizes_of(const std::vector<LayerStep>& steps, LayerExchange kind) {
  std::vector<std::int64_t> sizes;
  for (const LayerStep& step : steps)
    if (step.communication && step.communication->exchange == kind)
      sizes.push_back(step.communication->bytes.count());
  return sizes;
}

}  // namespace busbar::test
