#include "workloads/frameworks.h"

#include <array>

#include "sim/base/named_table.h"

namespace busbar {

std::span<const Framework> frameworks() {
  static constexpr std::array<Framework, 3> kTable = {{
      {"pytorch", "PyTorch's DDP and FSDP: the share inside a step that is fitted to FSDP steps"},
      // The median over 15 bf16 steps of dense models (Llama 3 8B to 405B, Nemotron 4, GPT-3) on 16 to 512
      // H100. Source: NVIDIA/dgxc-benchmarking, releases 24.11 to 25.
      {"megatron-core", "Megatron-Core and NeMo, fused kernels (published H100 steps)", 0, 0, 0.785},
      // VIA-Research/vTrain, single-host sweep: no layout goes below 3.5 ms per block and microbatch, in one
      // forward, one recomputed forward and one backward, however small the model; split as 1 : 1 : 2.
      {"megatron-deepspeed", "Megatron-DeepSpeed without fused kernels (vTrain's published sweep)", 850,
       1800},
  }};
  return kTable;
}

const Framework& framework_called(std::string_view name) {
  const Framework* row = find_row(frameworks(), name);
  BUSBAR_CHECK(row != nullptr);
  return *row;
}

}  // namespace busbar
