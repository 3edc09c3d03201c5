// What a training framework makes of a GPU's kernels, and the host that launches them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace busbar {

/// What a framework holds on a GPU beyond what a step needs: copies, and what its allocator keeps.
struct FrameworkMemory {
  std::int64_t gated_tensors =
      3;                         // as wide as a gated MLP and kept: gate, up, product; 4: the activated gate
  std::int64_t logit_bytes = 0;  // per logit; 0: two in the type of activations, one in fp32
  double allocator = 0;          // reserved and not used, per byte of activations
  double unshared =
      0;  // of the smaller of ZeRO-1's copies and the activations, what cannot be kept in the larger
};

/// One set per framework; nothing per model or layout.
struct Framework {
  std::string_view name;  // "megatron-core"
  std::string_view help;
  double block_forward_us = 0;   // of the host, to launch one block's forward
  double block_backward_us = 0;  // and backward; recomputation adds another forward
  double head_forward_us = 0;    // the same of what is no block: the embedding, the head and the loss
  double head_backward_us = 0;
  /// What its kernels reach inside a step of what they reach alone; none: the profile's share.
  std::optional<double> kernel_share = std::nullopt;
  std::optional<double> ampere_share = std::nullopt;  // the same on Ampere, where it is another
  std::int64_t step_collectives = 0;  // small ones over all ranks, once a step (norm of gradients, loss)
  /// Of the speed of the attention kernels that are modelled. Up to Ampere and Ada that is
  /// FlashAttention-2's; from Hopper on that of kernels which FlashAttention-2 and older are far behind.
  double attention_share = 1;
  double hopper_attention_share = 1;
  /// Memory traffic between matrix products, over that of fused kernels.
  double traffic = 1;
  /// The same of the passes over scores, where attention is unfused.
  double score_traffic = 1;
  /// Selective recomputation is the whole forward of every how manieth block; 0: of attention's core alone.
  std::int64_t selective_every = 0;
  FrameworkMemory memory = {};
  /// Blocks go to stages by parameters, the head included, each stage up to or just beyond its equal part.
  bool stages_by_parameters = false;
  /// Gradients come in the type of parameters, and each microbatch's are added to the ones that are kept.
  bool adds_gradients = false;
  std::int64_t gradient_passes = 0;    // over all kept gradients, once a step: norm, clipping, zeroing
  bool zero1_cuts_tensors = false;     // ZeroCut::kTensors, unless the workload says not
  bool buckets_as_parameters = false;  // DDP's buckets have the type of parameters, whatever is reduced
  /// Without sequence parallelism each tensor-parallel rank sends its part of a stage's message, and the
  /// receivers gather it. Source: Narayanan et al., SC 2021, section 4.1.
  /// The host reads the sizes that come with a part, and launches nothing before: microsoft/DeepSpeed,
  /// runtime/utils.py (PartitionedTensor.from_meta).
  bool scatters_messages = false;
  bool waits_for_messages = false;  // kernels wait for what their stage sends, unless the workload says not
  /// Timers synchronise the GPU at both ends of a microbatch's forward and of its backward: the host launches
  /// nothing of a pass before the one before has ended.
  bool synchronises = false;
  bool reduces_at_end = false;  // gradients are sent when all of backward has ended, unless it says not
};

[[nodiscard]] std::span<const Framework> frameworks();  // THE table; the first row is the default
[[nodiscard]] const Framework& framework_called(std::string_view name);

}  // namespace busbar
