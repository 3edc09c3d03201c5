#include "workloads/frameworks.h"

#include <array>

#include "sim/base/named_table.h"

namespace busbar {

namespace {

constexpr double kFlashAttention2OnHopper = 0.5;

}  // namespace

std::span<const Framework> frameworks() {
  static constexpr std::array<Framework, 13> kTable = {{
      // PyTorch's scaled_dot_product_attention is FlashAttention-2, also on Hopper, where it reaches 0.49 of
      // the modelled forward and 0.50 of the backward: 370 and 322 TFLOP/s at head size 128 and 16k tokens
      // (Shah et al., FlashAttention-3, 2024, figures 5 and 6, H100).
      {.name = "pytorch",
       .help = "PyTorch's DDP and FSDP, compiled; its own attention: FlashAttention-2",
       .hopper_attention_share = kFlashAttention2OnHopper},
      // The median over the bf16 steps of dense models (Llama 3 8B to 405B, Nemotron 4, GPT-3) on 8 to 2,304
      // H100, tensor parallelism overlapped. Source: NVIDIA/dgxc-benchmarking, releases 24.11 to 25.
      {.name = "megatron-core",
       .help = "Megatron-Core and NeMo, fused kernels (published H100 steps)",
       .kernel_share = 0.785},
      // Launches: VIA-Research/vTrain, single-host sweep. A block's part of a microbatch (from layouts that
      // differ
      // in their number of blocks alone), in one forward, one recomputed forward and one backward, is 3.4 ms
      // in
      // the median of the 13 families whose kernels take less than that, whatever the model; split as 1 : 1
      // : 2.
      // What is beyond the blocks does not go below 2 ms. Messages and gradients: microsoft/DeepSpeed,
      // runtime/pipe/engine.py (partitioned activations and gradients, sends in turn with kernels,
      // _exec_reduce_grads after the last backward; timers of each pass), utils/timer.py (they synchronise).
      {.name = "megatron-deepspeed",
       .help = "Megatron-DeepSpeed without fused kernels (vTrain's published sweep)",
       .block_forward_us = 850,
       .block_backward_us = 1700,
       .head_forward_us = 700,
       .head_backward_us = 1300,
       .scatters_messages = true,
       .waits_for_messages = true,
       .synchronises = true,
       .reduces_at_end = true},
      // Narayanan et al., SC 2021, section 4.1 (scatter and gather); NVIDIA/Megatron-LM of 2021 and 2022,
      // p2p_communication.py (waits for each message), training.py (gradients reduced after backward),
      // schedules.py (a timer around each pass) and global_vars.py (which synchronises).
      {.name = "megatron-lm",
       .help = "Megatron-LM of 2021 and 2022: messages and gradients in turn with kernels",
       .scatters_messages = true,
       .waits_for_messages = true,
       .synchronises = true,
       .reduces_at_end = true},
      // Cut of stages, copies and fp32 logits: huggingface/nanotron, models/base.py (build_model),
      // models/llama.py, nn/activations.py, distributed.py (all_gather_coalesced), parallel/
      // tensor_parallel/functional.py; gradients: optim/gradient_accumulator.py (added to fp32 ones, which
      // are
      // zeroed each step), optim/clip_grads.py (read for the norm, read and written to clip); ZeRO-1:
      // trainer.py,
      // optim/zero.py (docs/model.md). Fitted to gkarfakis19/Rapid-LLM, bench_final2_mod_add.csv: allocator
      // and unshared to the reserved peaks of half of the 905 jobs that fit (the other half agrees);
      // kernel_share: the one for Hopper that its launches were fitted beside (one compiled step of PyTorch);
      // launches: with tp 2 to 8 in one host no layout of 1B to 4B models goes below 4.3 to 4.6 ms per block
      // and microbatch; collectives once a step: what steps of 32 to 256 GPUs take beyond their blocks.
      {.name = "nanotron",
       .help = "Nanotron: fp32 gradients and logits, unfused gated MLP, stages cut by parameters",
       .block_forward_us = 1500,
       .block_backward_us = 3000,
       .kernel_share = 0.625,
       .step_collectives = 7,
       .memory = {.gated_tensors = 4, .logit_bytes = 12, .allocator = 0.3, .unshared = 0.6},
       .stages_by_parameters = true,
       .adds_gradients = true,
       .gradient_passes = 4,
       .zero1_cuts_tensors = true,
       .buckets_as_parameters = true},
      // Every second block, or every second product of each: pytorch/torchtitan, docs and
      // parallelize_llama.py (selective_ac_option); foundation-model-stack/fms-fsdp, README
      // (selective_checkpointing).
      {.name = "torchtitan",
       .help = "torchtitan and fms-fsdp, compiled: selective recomputation of every second block",
       .hopper_attention_share = kFlashAttention2OnHopper,
       .selective_every = 2},
      {.name = "torchtitan-eager",
       .help = "the same without torch.compile: unfused element-wise kernels",
       .hopper_attention_share = kFlashAttention2OnHopper,
       .traffic = 2,
       .selective_every = 2},
      // Shares fitted to steps of MPT (rows of both halves had been seen) on each generation in
      // mosaicml/llm-foundry,
      // scripts/train/benchmarking. Attention is Triton's FlashAttention-1; norms, GELU, sums and casts are
      // kernels of their own.
      {.name = "llm-foundry",
       .help = "Composer and llm-foundry: FSDP, Triton's attention, unfused element-wise kernels",
       .kernel_share = 0.88,
       .ampere_share = 0.91,
       .attention_share = 0.7,
       .hopper_attention_share = 0.31,
       .traffic = 2},
      // Compiled by XLA, attention by cuDNN. Fitted to six steps in NVIDIA/dgxc-benchmarking, which
      // do not say what they recompute.
      {.name = "maxtext", .help = "MaxText on GPUs: XLA's kernels, cuDNN's attention", .kernel_share = 0.7},
      // Hagemann et al., Efficient Parallelization Layouts for Large-Scale Distributed Model Training, 2023:
      // four sets of kernels. Share and traffic are the best of a dozen trials on its 165 steps, judged by
      // the errors of each set and of two random halves. FlashAttention-1 is 1.7 times slower than the
      // second: Dao, FlashAttention-2, 2023, section 4.1. Scores: 2.4 (mask and softmax in fp32, by
      // themselves) was 20 to 33 % too slow at 8k; 1.5 is what 16-bit ones move, 12 bytes a score for
      // Megatron's 8.
      {.name = "aleph-alpha-scaling",
       .help = "Aleph Alpha's Scaling, FlashAttention-2 or Megatron's softmax; element-wise kernels unfused",
       .kernel_share = 0.78,
       .traffic = 3},
      {.name = "aleph-alpha-scaling-rms",
       .help = "the same with a kernel for RMS norms",
       .kernel_share = 0.78,
       .traffic = 1.5},
      {.name = "aleph-alpha-scaling-flash1",
       .help = "the same with FlashAttention-1",
       .kernel_share = 0.78,
       .attention_share = 0.6,
       .traffic = 3},
      {.name = "aleph-alpha-scaling-torch",
       .help = "the same with PyTorch's attention (unfused)",
       .kernel_share = 0.78,
       .traffic = 3,
       .score_traffic = 1.5},
  }};
  return kTable;
}

const Framework& framework_called(std::string_view name) {
  const Framework* row = find_row(frameworks(), name);
  BUSBAR_CHECK(row != nullptr);
  return *row;
}

}  // namespace busbar
