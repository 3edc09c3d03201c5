#include "sim/base/kernel_shape.h"

namespace busbar {
namespace {

struct Traffic {
  double flops = 0;
  double elements = 0;  // read from and written to HBM
};

/// 2 m n k FLOPs; A[m,k] and B[k,n] are read, C[m,n] is written.
Traffic traffic_of(const MatmulShape& shape) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return {.flops = 2 * m * n * k, .elements = m * k + k * n + m * n};
}

/// FLOPs:    4 b s^2 heads head_dim (two matmuls), halved when causal; backward 2.5 x (five matmuls).
/// Elements: b s head_dim x (2 heads + 2 kv_heads): q, k, v read and o written once, the scores stay on the
/// chip;
///           backward twice that (q, k, v, o and their gradients) and one more read of o's size for the row
///           sums.
/// Source:   Dao, FlashAttention-2, 2023, section 3.1 and algorithm 2.
Traffic traffic_of(const AttentionShape& shape) {
  const auto s = static_cast<double>(shape.sequence);
  const auto heads = static_cast<double>(shape.heads);
  const auto kv_heads = static_cast<double>(shape.kv_heads);
  const double row = static_cast<double>(shape.batch) * s * static_cast<double>(shape.head_dim);
  const double flops = 4 * row * s * heads * (shape.causal ? 0.5 : 1.0);
  if (shape.backward) return {.flops = 2.5 * flops, .elements = row * (5 * heads + 4 * kv_heads)};
  return {.flops = flops, .elements = row * (2 * heads + 2 * kv_heads)};
}

}  // namespace

void resolve_shape(KernelWork& work) {
  if (!work.matmul && !work.attention) return;
  const Traffic traffic = work.matmul ? traffic_of(*work.matmul) : traffic_of(*work.attention);
  work.flops = traffic.flops;
  work.bytes = traffic.elements * static_cast<double>(size_of(work.type));
}

}  // namespace busbar
