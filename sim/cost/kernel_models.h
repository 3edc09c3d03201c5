// What kernels reach on each GPU type: the constants behind kernel_time.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// How fast one type's tiles run.
struct TileRates {
  double ceiling;      // of the datasheet's peak, full tiles, before the clock falls
  double fill;         // of a tile's pipeline and its epilogue, in steps of k
  double throttle;     // by how much more time a kernel takes once the power limit holds
  double narrow_loss;  // of the ceiling, per halving of the tile
};

struct MatmulModel {
  TileRates rates;
  double floor_us;
  double memory;          // of the HBM bandwidth
  double partial_passes;  // what a split along k costs: HBM passes over each part's fp32 result
  double l2_share;        // of the L2 that keeps activations from one kernel to the next
};

/// fp8 products take 16-bit activations, which a pass before them quantises.
struct Fp8Model {
  TileRates rates;
  double quantise_us;
  double quantise_memory;  // of the HBM bandwidth
  /// Inside a step: how much faster the training library's products are than the tables' (1: the same).
  double in_step = 1;
};

struct AttentionModel {
  double ceiling;          // of the datasheet's peak, head size 128
  double head64, head256;  // of that, below and above 128
  double throttle;
  double tile_us;  // what a tile of queries takes besides its FLOPs
  double tail;     // share of the longest tile that ends after all others
  double floor_us;
  double pass_memory;     // of the HBM bandwidth: one pass over q, k and v before the kernel
  double backward;        // of the forward ceiling
  double rows, elements;  // a tile of queries: at most so many rows, and so many elements
};

struct KernelModel {
  std::string_view name;
  std::vector<std::string_view> gpus;  // prefixes of GPU model names
  double l2_MB;
  MatmulModel matmul;
  Fp8Model fp8;
  AttentionModel attention;
  std::string_view source;
};

/// Of a GPU model; the H100's for one that no row names.
[[nodiscard]] const KernelModel& kernel_model_of(std::string_view gpu_model);
[[nodiscard]] std::span<const KernelModel> kernel_models();

/// One constant of a model, for fits.
struct KernelConstant {
  std::string name;
  double* value;
  double spread;  // as in ParameterRef
};
/// Those of products in 16-bit types, of products in fp8, and of attention; shared constants are not among
/// them.
[[nodiscard]] std::vector<KernelConstant> matmul_constants(KernelModel& model);
[[nodiscard]] std::vector<KernelConstant> fp8_constants(KernelModel& model);
[[nodiscard]] std::vector<KernelConstant> attention_constants(KernelModel& model);

}  // namespace busbar
