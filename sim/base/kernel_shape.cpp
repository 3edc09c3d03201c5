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
  const auto count = static_cast<double>(shape.count);
  return {.flops = count * 2 * m * n * k, .elements = count * (m * k + k * n + m * n)};
}

/// Keys that a query sees, on average over the k keys of its sequence: k; causal: k / 2; in a window w < k of
/// a causal one: w - w^2 / (2 k), as the first w queries see a triangle.
double mean_keys(const AttentionShape& shape, double keys) {
  if (!shape.causal) return keys;
  if (shape.window == 0 || static_cast<double>(shape.window) >= keys) return keys / 2;
  const auto window = static_cast<double>(shape.window);
  return window - window * window / (2 * keys);
}

/// With n = keys seen by a query (s, causal s / 2), d and e the widths of keys and values:
/// FLOPs:    2 b s n heads (d + e) in two matmuls; backward five: 2 b s n heads (3 d + 2 e), or
///           four, 2 b s n heads (2 d + 2 e), where the scores are kept.
///           For d = e: 4 b s n heads d, and 2.5 times that.
/// Elements: q, k, v read and o written once, the scores stay on the chip; backward those and their
/// gradients,
///           and one more read of o's size for the row sums. For d = e and as many keys as queries:
///           b s d x (2 heads + 2 kv_heads), backward b s d x (5 heads + 4 kv_heads).
/// Source:   Dao, FlashAttention-2, 2023, section 3.1 and algorithm 2.
Traffic traffic_of(const AttentionShape& shape) {
  const auto s = static_cast<double>(shape.sequence);
  const auto keys = static_cast<double>(shape.keys == 0 ? shape.sequence : shape.keys);
  const auto d = static_cast<double>(shape.head_dim);
  const auto e = static_cast<double>(shape.value_dim == 0 ? shape.head_dim : shape.value_dim);
  const double queries = static_cast<double>(shape.batch) * s * static_cast<double>(shape.heads);
  const double kept = static_cast<double>(shape.batch) * keys * static_cast<double>(shape.kv_heads);
  const double pairs = queries * mean_keys(shape, keys);
  if (shape.backward)
    return {.flops = 2 * pairs * ((shape.scores_kept ? 2 : 3) * d + 2 * e),
            .elements = queries * (2 * d + 3 * e) + kept * (2 * d + 2 * e)};
  return {.flops = 2 * pairs * (d + e), .elements = queries * (d + e) + kept * (d + e)};
}

}  // namespace

void resolve_shape(KernelWork& work) {
  if (!work.matmul && !work.attention) return;
  const Traffic traffic = work.matmul ? traffic_of(*work.matmul) : traffic_of(*work.attention);
  work.flops = traffic.flops;
  work.bytes = traffic.elements * static_cast<double>(size_of(work.type));
}

}  // namespace busbar
