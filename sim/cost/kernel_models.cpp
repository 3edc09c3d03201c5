// Fitted rows: robust least squares on the logarithm of the times in NVIDIA's aiconfigurator kernel tables
// (Apache-2.0), one type at a time, all shapes with one weight; procedure and errors: docs/model.md. fp8 on
// Hopper is fitted to products whose m is a multiple of 16. Constants that no row of a type shows (head sizes
// 64 and 256 on some) are its neighbour's. Attention backward at 0.85 of the forward rate: Shah et al.,
// FlashAttention-3, 2024, figures 5 and 6. Rows and elements of an attention tile: Dao, FlashAttention-2,
// 2023, section 3.3 (128 rows, fewer above head size 128), and two such tiles per block on Blackwell.
// fp8 inside a step: the tables' kernels on Blackwell are an inference engine's, at a third of the peak;
// Transformer Engine's reach over half. One number per chip, the median over the dense fp8 steps of
// NVIDIA/dgxc-benchmarking, NVIDIA-NeMo/Megatron-Bridge and MLPerf Training 4.1 to 5.1 on it.
#include "sim/cost/kernel_models.h"

namespace busbar {

namespace {

constexpr std::string_view kFitted = "fitted to aiconfigurator kernel tables";

KernelModel a100() {
  return {.name = "A100",
          .gpus = {"A100"},
          .l2_MB = 40,
          .matmul = {.rates = {.ceiling = 0.946, .fill = 203, .throttle = 0.00357, .narrow_loss = 0.114},
                     .floor_us = 3.5,
                     .memory = 0.796,
                     .partial_passes = 0.742,
                     .l2_share = 0.35},
          .fp8 = {.rates = {.ceiling = 0.79, .fill = 104, .throttle = 0.194, .narrow_loss = 0.0663},
                  .quantise_us = 3.62,
                  .quantise_memory = 0.675},
          .attention = {.ceiling = 0.608,
                        .head64 = 0.9,
                        .head256 = 0.9,
                        .throttle = 0.005,
                        .tile_us = 0.01,
                        .tail = 0.508,
                        .floor_us = 7.59,
                        .pass_memory = 0.632,
                        .backward = 0.85,
                        .rows = 128,
                        .elements = 16384},
          .source = kFitted};
}

KernelModel h100() {
  return {.name = "H100",
          .gpus = {"H100", "H800"},
          .l2_MB = 50,
          .matmul = {.rates = {.ceiling = 0.892, .fill = 186, .throttle = 0.0867, .narrow_loss = 0.0109},
                     .floor_us = 2.98,
                     .memory = 0.815,
                     .partial_passes = 9.05,
                     .l2_share = 0.35},
          .fp8 = {.rates = {.ceiling = 0.79, .fill = 104, .throttle = 0.194, .narrow_loss = 0.0663},
                  .quantise_us = 3.62,
                  .quantise_memory = 0.675},
          .attention = {.ceiling = 0.819,
                        .head64 = 0.73,
                        .head256 = 1,
                        .throttle = 0.0751,
                        .tile_us = 2.35,
                        .tail = 0.392,
                        .floor_us = 11.2,
                        .pass_memory = 2.29,
                        .backward = 0.85,
                        .rows = 128,
                        .elements = 32768},
          .source = kFitted};
}

// Attention is the H100's: most of the table's attention times for this type lie above the chip's peak.
KernelModel h200() {
  KernelModel m = h100();
  m.name = "H200";
  m.gpus = {"H200"};
  m.matmul = {.rates = {.ceiling = 0.863, .fill = 162, .throttle = 0.129, .narrow_loss = 0.00345},
              .floor_us = 2.92,
              .memory = 0.757,
              .partial_passes = 7.94,
              .l2_share = 0.35};
  m.fp8 = {.rates = {.ceiling = 0.926, .fill = 211, .throttle = 0.198, .narrow_loss = 0.0801},
           .quantise_us = 3.49,
           .quantise_memory = 0.498};
  return m;
}

KernelModel b200() {
  return {.name = "B200",
          .gpus = {"B200"},
          .l2_MB = 126,
          .matmul = {.rates = {.ceiling = 0.821, .fill = 175, .throttle = 0.12, .narrow_loss = 0.0304},
                     .floor_us = 2.48,
                     .memory = 0.727,
                     .partial_passes = 30.9,
                     .l2_share = 0.35},
          .fp8 = {.rates = {.ceiling = 0.481, .fill = 520, .throttle = 0.544, .narrow_loss = 0.0337},
                  .quantise_us = 2.32,
                  .quantise_memory = 0.401,
                  .in_step = 1.8},
          .attention = {.ceiling = 0.747,
                        .head64 = 0.73,
                        .head256 = 1.18,
                        .throttle = 0.001,
                        .tile_us = 3.92,
                        .tail = 0.739,
                        .floor_us = 4.96,
                        .pass_memory = 6,
                        .backward = 0.85,
                        .rows = 256,
                        .elements = 32768},
          .source = kFitted};
}

KernelModel b300() {
  KernelModel m = b200();
  m.name = "B300";
  m.gpus = {"B300", "GB300"};
  m.matmul = {.rates = {.ceiling = 0.894, .fill = 159, .throttle = 0.134, .narrow_loss = 0.041},
              .floor_us = 2.3,
              .memory = 0.741,
              .partial_passes = 29,
              .l2_share = 0.35};
  m.fp8 = {.rates = {.ceiling = 0.496, .fill = 505, .throttle = 0.509, .narrow_loss = 0.0358},
           .quantise_us = 2.14,
           .quantise_memory = 0.413,
           .in_step = 2.2};
  m.attention.ceiling = 0.893;
  m.attention.head256 = 1.05;
  m.attention.tile_us = 3.74;
  m.attention.tail = 0.67;
  m.attention.floor_us = 5.63;
  m.attention.pass_memory = 5.85;
  return m;
}

KernelModel gb200() {
  KernelModel m = b200();
  m.name = "GB200";
  m.gpus = {"GB200"};
  m.matmul = {.rates = {.ceiling = 0.85, .fill = 176, .throttle = 0.146, .narrow_loss = 0.063},
              .floor_us = 2.49,
              .memory = 0.787,
              .partial_passes = 39,
              .l2_share = 0.35};
  m.fp8 = {.rates = {.ceiling = 0.468, .fill = 480, .throttle = 0.501, .narrow_loss = 0.0459},
           .quantise_us = 1.99,
           .quantise_memory = 0.427,
           .in_step = 1.8};
  m.attention.ceiling = 0.735;
  m.attention.head256 = 1.19;
  m.attention.tile_us = 3.73;
  m.attention.tail = 0.76;
  m.attention.floor_us = 5.61;
  return m;
}

KernelModel l40s() {
  return {.name = "L40S",
          .gpus = {"L40S"},
          .l2_MB = 96,
          .matmul = {.rates = {.ceiling = 0.873, .fill = 93.4, .throttle = 0.184, .narrow_loss = 0.0914},
                     .floor_us = 2.4,
                     .memory = 0.728,
                     .partial_passes = 0.13,
                     .l2_share = 0.6},
          .fp8 = {.rates = {.ceiling = 0.913, .fill = 1490, .throttle = 0.59, .narrow_loss = 0.0346},
                  .quantise_us = 4.66,
                  .quantise_memory = 0.168},
          .attention = {.ceiling = 0.756,
                        .head64 = 0.9,
                        .head256 = 0.9,
                        .throttle = 0.5,
                        .tile_us = 0.01,
                        .tail = 0.418,
                        .floor_us = 2.84,
                        .pass_memory = 1.19,
                        .backward = 0.85,
                        .rows = 128,
                        .elements = 16384},
          .source = kFitted};
}

KernelModel like(KernelModel model, std::string_view name, std::vector<std::string_view> gpus, double l2_MB,
                 std::string_view source) {
  model.name = name;
  model.gpus = std::move(gpus);
  model.l2_MB = l2_MB;
  model.source = source;
  return model;
}

// Types without data: shares of their own datasheet's figures, as the closest family reaches them.
std::vector<KernelModel> all_models() {
  return {a100(),
          h100(),
          h200(),
          b200(),
          b300(),
          gb200(),
          l40s(),
          like(h100(), "GH200", {"GH200", "H20"}, 50, "the H100's shares: the same GH100 chip"),
          like(a100(), "V100", {"V100", "T4", "RTX-2080"}, 6, "the A100's shares"),
          like(l40s(), "GeForce and RTX PRO", {"RTX"}, 72, "the L40S's shares"),
          like(h100(), "MI300X", {"MI300X"}, 256, "the H100's shares; L2: Infinity Cache, AMD datasheet"),
          like(h100(), "MI250X", {"MI250X"}, 8, "the H100's shares")};
}

void add_rates(std::vector<KernelConstant>& list, TileRates& rates) {
  list.push_back({"ceiling", &rates.ceiling, 0.3});
  list.push_back({"fill", &rates.fill, 1});
  list.push_back({"throttle", &rates.throttle, 1});
  list.push_back({"narrow_loss", &rates.narrow_loss, 1});
}

}  // namespace

std::span<const KernelModel> kernel_models() {
  static const std::vector<KernelModel> table = all_models();
  return table;
}

const KernelModel& kernel_model_of(std::string_view gpu_model) {
  const KernelModel* stand_in = nullptr;
  for (const KernelModel& model : kernel_models()) {
    if (model.name == "H100") stand_in = &model;
    for (const std::string_view prefix : model.gpus)
      if (gpu_model.starts_with(prefix)) return model;
  }
  return *stand_in;
}

std::vector<KernelConstant> matmul_constants(KernelModel& model) {
  MatmulModel& m = model.matmul;
  std::vector<KernelConstant> list;
  add_rates(list, m.rates);
  list.push_back({"floor_us", &m.floor_us, 0.5});
  list.push_back({"memory", &m.memory, 0.3});
  list.push_back({"partial_passes", &m.partial_passes, 1});
  return list;
}

std::vector<KernelConstant> fp8_constants(KernelModel& model) {
  std::vector<KernelConstant> list;
  add_rates(list, model.fp8.rates);
  list.push_back({"quantise_us", &model.fp8.quantise_us, 0.5});
  list.push_back({"quantise_memory", &model.fp8.quantise_memory, 0.5});
  return list;
}

std::vector<KernelConstant> attention_constants(KernelModel& model) {
  AttentionModel& a = model.attention;
  return {{"ceiling", &a.ceiling, 0.3},   {"head64", &a.head64, 0.3},          {"head256", &a.head256, 0.3},
          {"throttle", &a.throttle, 1},   {"tile_us", &a.tile_us, 1},          {"tail", &a.tail, 0.5},
          {"floor_us", &a.floor_us, 0.5}, {"pass_memory", &a.pass_memory, 0.5}};
}

}  // namespace busbar
