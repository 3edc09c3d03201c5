// What single GPUs do: copies in their memory, matrix products, launches.
#pragma once

#include <string>
#include <vector>

#include "calibrate/run/nccl_devices.h"
#include "sim/result/measurement.h"

namespace busbar {

/// Of one GPU, as `rank`. Sentences on what could not be measured are added to `notes`.
[[nodiscard]] std::vector<MeasuredKernel> measure_gpu(NcclDevice& device, std::uint32_t rank,
                                                      std::vector<std::string>& notes);

#ifdef BUSBAR_HAS_CUBLAS
/// bf16 products with fp32 sums of the shapes of transformers' layers, by cuBLAS.
[[nodiscard]] std::vector<MeasuredKernel> measure_matmuls(NcclDevice& device, std::uint32_t rank);
#endif

#ifdef BUSBAR_HAS_NVCC
/// Puts a kernel that does nothing on a stream.
void launch_empty_kernel(cudaStream_t stream);
#endif

}  // namespace busbar
