// Form of a kernel's time by shape: tiles over SMs, HBM traffic, and what neither of them explains.
#pragma once

#include "sim/base/kernel_shape.h"
#include "sim/cost/kernel_models.h"

namespace busbar {

/// One GPU at the kernel's type.
struct KernelChip {
  double flops = 0;  // peak of the type, 1/s
  double memory_Bps = 0;
  double sms = 1;
};

/// The kernel alone on the GPU takes the larger of the two demands. The one that bounds it carries the floor
/// and the corner between them; the other stays what the kernel asks of that resource.
[[nodiscard]] KernelDemand matmul_demand(const MatmulShape& shape, DataType type, const KernelChip& chip,
                                         const KernelModel& model);
[[nodiscard]] KernelDemand attention_demand(const AttentionShape& shape, DataType type,
                                            const KernelChip& chip, const KernelModel& model);
/// Of a kernel known only by its FLOPs: what large products sustain.
[[nodiscard]] double plain_efficiency(DataType type, const KernelModel& model);

}  // namespace busbar
