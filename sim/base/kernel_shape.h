// What a compute kernel does, before anyone asks how long it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// C[m,n] += A[m,k] B[k,n]: 2 m n k FLOPs; reads A and B, writes C. `count` such products, one after the
/// other.
struct MatmulShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t count = 1;
  bool operator==(const MatmulShape&) const = default;
};

/// Scaled dot-product attention. FLOPs forward: 4 b s^2 heads head_dim, halved when causal; backward 2.5 x
/// forward (five matmuls for two, FlashAttention-2).
/// With `keys`, `sequence` queries are an even share of the queries of `keys` tokens (context parallelism).
/// With `value_dim`, values and outputs have another width than queries and keys (latent attention). With
/// `window`, a query sees that many keys at most. With `scores_kept`, backward has four matmuls.
struct AttentionShape {
  std::int64_t batch = 0, sequence = 0, heads = 0, kv_heads = 0, head_dim = 0;
  bool causal = true;
  bool backward = false;
  std::int64_t keys = 0;       // 0: sequence
  std::int64_t value_dim = 0;  // 0: head_dim
  std::int64_t window = 0;     // 0: none
  bool scores_kept = false;    // backward reads the forward's scores instead of computing them again
  bool operator==(const AttentionShape&) const = default;
};

/// One kernel, or a run of kernels with one launch. `duration` wins; else the roofline of `flops` and
/// `bytes`, which come from a shape where one is given.
struct KernelWork {
  std::optional<Time> duration;
  double flops = 0;
  double bytes = 0;  // HBM traffic
  DataType type = DataType::kBf16;
  std::optional<MatmulShape> matmul;
  std::optional<AttentionShape> attention;
  double share = 1;  // of the speed that the model of kernels gives: slower code for the same work
  bool operator==(const KernelWork&) const = default;
};

/// A kernel's two demands, each as the seconds that it would take with the whole of one GPU's resource.
struct KernelDemand {
  double sm_s = 0;      // FLOPs / (peak x efficiency), or a given duration
  double memory_s = 0;  // bytes / (HBM bandwidth x efficiency)
};

/// Fills flops and bytes from the shape, if one is given (2-byte types by `type`).
void resolve_shape(KernelWork& work);

}  // namespace busbar
