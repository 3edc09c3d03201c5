#include "workloads/model_spec.h"

#include <fmt/format.h>

#include "sim/base/error.h"
#include "workloads/model_tensors.h"
#include "workloads/transformer.h"

namespace busbar {

namespace {

constexpr const char* kCount = "the model's parameters";

void check_layer_count(std::size_t layers) {
  if (layers > static_cast<std::size_t>(kMaxLayers))
    throw Error({.where = "model",
                 .expected = fmt::format("at most {} layers", kMaxLayers),
                 .given = std::to_string(layers)});
}

std::int64_t elements_of(const std::vector<Tensor>& tensors) {
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) total = checked_add(total, tensor.elements, kCount);
  return total;
}

/// Work that was not given takes no time; a roofline of nothing would still cost a launch.
LayerStep step_of(KernelWork work) {
  if (!work.duration && work.flops == 0 && work.bytes == 0) work.duration = Time::zero();
  return {.kernel = {"kernel", work}, .communication = std::nullopt};
}

Layer layer_of(const ParameterSpec& parameter) {
  return {.name = parameter.name,
          .is_block = !is_root(parameter),
          .tensors = {{parameter.name, parameter.elements(), parameter.type}},
          .expert_tensors = {},
          .forward = {step_of(parameter.forward)},
          .backward = {step_of(parameter.backward)}};
}

std::int64_t add(std::int64_t a, std::int64_t b) { return checked_add(a, b, kCount); }

std::int64_t expert_blocks(const TransformerDims& dims) {
  std::int64_t count = 0;
  for (std::int64_t layer = 0; layer < dims.layers; ++layer) count += dims.has_experts(layer) ? 1 : 0;
  return count;
}

/// All parameters of the model, with `routed` experts in each block that has them.
std::int64_t count_with(const TransformerDims& dims, std::int64_t routed) {
  const LayerCut whole;
  const std::int64_t with_experts = expert_blocks(dims);
  const std::int64_t dense = elements_of(block_tensors(dims, whole, BlockKind::kDense));
  std::int64_t total =
      add(elements_of(embedding_tensors(dims, whole)), elements_of(head_tensors(dims, whole)));
  total = add(total, checked_mul(dims.layers - with_experts, dense, kCount));
  if (with_experts == 0) return total;
  TransformerDims some = dims;
  some.experts->count = routed;
  const std::int64_t block = add(elements_of(block_tensors(dims, whole, BlockKind::kExperts)),
                                 elements_of(routed_tensors(some, whole)));
  return add(total, checked_mul(with_experts, block, kCount));
}

std::int64_t elements_of(const std::vector<ParameterSpec>& parameters) {
  std::int64_t total = 0;
  for (const ParameterSpec& parameter : parameters) total = add(total, parameter.elements());
  return total;
}

}  // namespace

bool is_root(const ParameterSpec& p) { return p.name == "root" || p.name.starts_with("root."); }

std::int64_t ParameterSpec::elements() const {
  std::int64_t total = 1;
  for (const std::int64_t side : shape) total = checked_mul(total, side, kCount);
  return total;
}

std::int64_t Layer::elements() const { return elements_of(tensors); }
std::int64_t Layer::expert_elements() const { return elements_of(expert_tensors); }

std::vector<Layer> layers_of(const ModelSpec& model, const LayerBatch& batch, const LayerCut& cut) {
  if (const auto problem = cut_problem(model, batch, cut)) throw Error({.message = *problem});
  if (model.transformer) {
    check_layer_count(static_cast<std::size_t>(model.transformer->layers));
    return transformer_layers(*model.transformer, batch, cut);
  }
  check_layer_count(model.parameters.size());
  std::vector<Layer> layers;
  for (const ParameterSpec& parameter : model.parameters) layers.push_back(layer_of(parameter));
  return layers;
}

double model_flops(const ModelSpec& model, std::int64_t sequence) {
  if (model.transformer) return 3 * transformer_forward_flops(*model.transformer, sequence);
  double forward = 0;
  for (const ParameterSpec& parameter : model.parameters) {
    if (parameter.forward.duration && *parameter.forward.duration != Time::zero()) return 0;
    forward += parameter.forward.flops;
  }
  return 3 * forward;
}

std::int64_t parameter_count(const ModelSpec& model) {
  if (!model.transformer) return elements_of(model.parameters);
  const TransformerDims& dims = *model.transformer;
  return count_with(dims, dims.experts ? dims.experts->count : 0);
}

std::int64_t active_parameter_count(const ModelSpec& model) {
  if (!model.transformer) return elements_of(model.parameters);
  const TransformerDims& dims = *model.transformer;
  return count_with(dims, dims.experts ? dims.experts->top_k : 0);
}

std::int64_t padded_vocab(const TransformerDims& dims, std::int64_t tp) {
  if (tp == 1) return dims.vocab;
  const std::int64_t multiple = checked_mul(128, tp, "the vocabulary");
  const std::int64_t rest = dims.vocab % multiple;
  return rest == 0 ? dims.vocab : add(dims.vocab, multiple - rest);
}

}  // namespace busbar
