// Shared by the tests of models: small models, and sums over a layer's steps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/model_spec.h"

namespace busbar::test {

/// Small sides that are all different, so that a swapped pair shows.
TransformerDims small();
/// Sides that divide by up to 8 ranks: hidden 64, 8 heads of 8, 8 key heads, ffn 128, vocabulary 1024.
TransformerDims even();
/// `even` with 8 experts of width 32, 2 a token, in every block.
TransformerDims even_experts();
/// `even` with latent attention: ranks 24 and 16, heads of 12 + 4, values of 8.
TransformerDims even_latent();

ModelSpec model_of(const TransformerDims& dims);
ModelSpec preset(std::string_view name);

std::vector<std::string> kernel_names(const std::vector<LayerStep>& steps);
const KernelWork& work_of(const std::vector<LayerStep>& steps, std::string_view name);
const LayerCommunication& communication_of(const std::vector<LayerStep>& steps, std::string_view name);
double flops_of(const std::vector<LayerStep>& steps);

/// Names of kernels, and "<name> <bytes>" of exchanges in brackets, in order.
std::vector<std::string> order_of(const std::vector<LayerStep>& steps);
/// Sizes of the exchanges of that kind.
std::vector<std::int64_t> sizes_of(const std::vector<LayerStep>& steps, LayerExchange kind);

}  // namespace busbar::test
