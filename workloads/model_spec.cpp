#include "workloads/model_spec.h"

#include <fmt/format.h>

#include "sim/base/error.h"
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
Kernel kernel_of(KernelWork work) {
  if (!work.duration && work.flops == 0 && work.bytes == 0) work.duration = Time::zero();
  return {"kernel", work};
}

Layer layer_of(const ParameterSpec& parameter) {
  return {.name = parameter.name,
          .is_block = parameter.name != "root" && !parameter.name.starts_with("root."),
          .tensors = {{parameter.name, parameter.elements(), parameter.type}},
          .forward = {kernel_of(parameter.forward)},
          .backward = {kernel_of(parameter.backward)}};
}

}  // namespace

std::int64_t ParameterSpec::elements() const {
  std::int64_t total = 1;
  for (const std::int64_t side : shape) total = checked_mul(total, side, kCount);
  return total;
}

std::int64_t Layer::elements() const { return elements_of(tensors); }

std::vector<Layer> layers_of(const ModelSpec& model, std::int64_t micro, std::int64_t sequence,
                             DataType compute) {
  if (model.transformer) {
    check_layer_count(static_cast<std::size_t>(model.transformer->layers));
    return transformer_layers(*model.transformer, {.micro = micro, .sequence = sequence, .compute = compute});
  }
  check_layer_count(model.parameters.size());
  std::vector<Layer> layers;
  for (const ParameterSpec& parameter : model.parameters) layers.push_back(layer_of(parameter));
  return layers;
}

std::int64_t parameter_count(const ModelSpec& model) {
  if (model.transformer) {
    const TransformerDims& dims = *model.transformer;
    const std::int64_t blocks = checked_mul(dims.layers, elements_of(block_tensors(dims)), kCount);
    const std::int64_t ends =
        checked_add(elements_of(embedding_tensors(dims)), elements_of(head_tensors(dims)), kCount);
    return checked_add(blocks, ends, kCount);
  }
  std::int64_t total = 0;
  for (const ParameterSpec& parameter : model.parameters)
    total = checked_add(total, parameter.elements(), kCount);
  return total;
}

}  // namespace busbar
