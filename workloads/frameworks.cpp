#include "workloads/frameworks.h"

#include <array>

#include "sim/base/named_table.h"

namespace busbar {

std::span<const Framework> frameworks() {
  static constexpr std::array<Framework, 4> kTable = {{
      {"pytorch", "PyTorch's DDP and FSDP: the share inside a step that is fitted to FSDP steps"},
      // The median over 15 bf16 steps of dense models (Llama 3 8B to 405B, Nemotron 4, GPT-3) on 16 to 512
      // H100. Source: NVIDIA/dgxc-benchmarking, releases 24.11 to 25.
      {"megatron-core", "Megatron-Core and NeMo, fused kernels (published H100 steps)", 0, 0, 0.785},
      // VIA-Research/vTrain, single-host sweep: no layout goes below 3.5 ms per block and microbatch, in one
      // forward, one recomputed forward and one backward, however small the model; split as 1 : 1 : 2.
      {"megatron-deepspeed", "Megatron-DeepSpeed without fused kernels (vTrain's published sweep)", 850,
       1800},
      // Cut of stages, copies and fp32 logits: huggingface/nanotron, models/base.py (build_model),
      // models/llama.py, nn/activations.py, distributed.py (reduce_scatter_coalesced), parallel/
      // tensor_parallel/functional.py. Allocator and unshared: fitted to the reserved peaks of half of the 905
      // jobs that fit in gkarfakis19/Rapid-LLM, bench_final2_mod_add.csv; the other half agrees.
      // Launches: with tp 2 to 8 in one host no layout of 1B to 4B models goes below 4.3 to 4.6 ms per block
      // and microbatch (same sweep, jobs of one host and early jobs of several).
      {.name = "nanotron",
       .help = "Nanotron: fp32 gradients and logits, unfused gated MLP, stages cut by parameters",
       .block_forward_us = 1450,
       .block_backward_us = 2900,
       .memory = {.gated_tensors = 4,
                  .logit_bytes = 12,
                  .allocator = 0.2,
                  .flattens_gradients = true,
                  .unshared = 0.6},
       .stages_by_parameters = true,
       .buckets_as_parameters = true},
  }};
  return kTable;
}

const Framework& framework_called(std::string_view name) {
  const Framework* row = find_row(frameworks(), name);
  BUSBAR_CHECK(row != nullptr);
  return *row;
}

}  // namespace busbar
