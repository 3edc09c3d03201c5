// What the parts of a transformer's layers share: sizes on one rank of a cut, kernels, and the entry to and
// exit from tensor-parallel regions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/model_spec.h"

namespace busbar {

/// Errors: sizes beyond 63 bits.
[[nodiscard]] std::int64_t model_product(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t model_sum(std::int64_t a, std::int64_t b);

/// What a cut leaves of a model and a batch on one rank. Borrows all three.
struct RankView {
  const TransformerDims& dims;
  const LayerBatch& batch;
  const LayerCut& cut;

  [[nodiscard]] std::int64_t tokens() const;          // inside tensor-parallel regions: micro x sequence / cp
  [[nodiscard]] std::int64_t sharded_tokens() const;  // outside: those / tp under sequence parallelism
  [[nodiscard]] std::int64_t heads() const { return dims.heads / cut.tp; }
  [[nodiscard]] std::int64_t kv_heads() const;  // one where tp exceeds them: ranks share it
  [[nodiscard]] std::int64_t vocab() const { return padded_vocab(dims, cut.tp) / cut.tp; }
  [[nodiscard]] std::int64_t key_dim() const;    // of a query and a key head
  [[nodiscard]] std::int64_t value_dim() const;  // of a value head
  [[nodiscard]] bool sequence_parallel() const { return cut.sequence_parallel && cut.tp > 1; }
  /// Eight-bit formats are for matrix products; activations between them, and attention, stay in 16 bits.
  [[nodiscard]] DataType activation_type() const {
    return batch.compute == DataType::kFp8 ? DataType::kBf16 : batch.compute;
  }
  [[nodiscard]] std::int64_t activation_bytes(std::int64_t rows, std::int64_t width) const;
};

/// A part of a layer. The backward of parts in sequence runs them in reverse.
struct Passes {
  std::vector<LayerStep> forward, backward;
};
[[nodiscard]] Passes in_sequence(const std::vector<Passes>& parts);

/// A matrix product of a block: Y[t, out] = X[t, in] W[in, out], in widths of this rank.
struct Linear {
  std::string name;
  std::int64_t in = 0, out = 0;
};

[[nodiscard]] LayerStep memory_bound(const RankView& view, std::string name, std::int64_t bytes);
[[nodiscard]] LayerStep exchange(const RankView& view, LayerExchange kind, std::string name,
                                 std::int64_t bytes);
/// The same, beside the kernels before the one called `needed_by`.
[[nodiscard]] LayerStep exchange_until(LayerStep step, std::string_view needed_by);

/// A product whose matrix every rank holds whole.
[[nodiscard]] Passes whole_linear(const RankView& view, const Linear& linear, std::int64_t tokens);

/// Column-parallel products of one input of `width` elements a token; the region is called `name`.
/// Forward:  sequence parallel: gather of the input.
/// Backward: the gradients of the input are partial sums: all-reduce, sequence parallel: reduce-scatter,
/// beside
///           the weight gradients and what follows, up to `gradient_needed_by`. Sequence parallel: another
///           gather of the input, which was kept in shards, up to the first weight gradient.
/// Source:   Shoeybi et al., Megatron-LM, 2019, section 3; Korthikanti et al., Reducing Activation
///           Recomputation in Large Transformer Models, 2022, section 4.2.2; Megatron-Core,
///           tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication.
struct ColumnRegion {
  std::string name;
  std::int64_t width = 0;
  std::vector<Linear> linears;
  std::string_view gradient_needed_by = kLayerEnd;
};
[[nodiscard]] Passes column_parallel(const RankView& view, const ColumnRegion& region);

/// Row-parallel products whose outputs are summed.
/// Forward:  all-reduce of the sum over ranks; sequence parallel: reduce-scatter.
/// Backward: sequence parallel: gather of the output's gradient.
/// Source:   as above.
[[nodiscard]] Passes row_parallel(const RankView& view, const std::string& name,
                                  const std::vector<Linear>& linears);

}  // namespace busbar
