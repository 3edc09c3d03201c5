#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <array>
#include <memory>

#include "calibrate/run/cuda_check.h"
#include "calibrate/run/cuda_timing.h"
#include "calibrate/run/nccl_rates.h"

namespace busbar {

namespace {

// m tokens, n outputs, k inputs: square ones, and the layers of models of 7 and 70 billion parameters (hidden
// 4096 and 8192, inner 11008 and 28672: the model cards of Llama 2) for few and many tokens.
constexpr std::array<std::int64_t, 3> kShapes[] = {
    {1024, 1024, 1024},  {2048, 2048, 2048},  {4096, 4096, 4096},  {8192, 8192, 8192},
    {512, 4096, 4096},   {4096, 11008, 4096}, {4096, 4096, 11008}, {4096, 8192, 8192},
    {4096, 28672, 8192}, {4096, 8192, 28672}, {16384, 4096, 4096}, {16384, 11008, 4096}};

void check_cublas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error({.kind = ErrorKind::kSystem,
                 .where = "cuBLAS",
                 .message = std::string(what) + ": " + cublasGetStatusString(status)});
}

struct DestroyHandle {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, DestroyHandle>;

Handle handle_for(const NcclDevice& device) {
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle), "starting");
  Handle owned(handle);
  check_cublas(cublasSetStream(handle, device.stream()), "choosing a stream");
  return owned;
}

// Kernels draw less power on zeros, and run faster than on data: small numbers of varied bits.
void fill(char* to, std::int64_t bytes, const NcclDevice& device) {
  std::vector<__nv_bfloat16> values(static_cast<std::size_t>(bytes) / sizeof(__nv_bfloat16));
  std::uint32_t state = 1;
  for (__nv_bfloat16& value : values) {
    state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator, 3rd ed., section 7.1
    value = __float2bfloat16(static_cast<float>(state >> 8U) * 0x1p-23F - 1.0F);
  }
  check_cuda(cudaMemcpyAsync(to, values.data(), static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                             device.stream()),
             "filling matrices");
  check_cuda(cudaStreamSynchronize(device.stream()), "filling matrices");
}

}  // namespace

std::vector<MeasuredKernel> measure_matmuls(NcclDevice& device, std::uint32_t rank) {
  constexpr std::int64_t kElement = sizeof(__nv_bfloat16);
  device.use();
  std::int64_t inputs = 0, outputs = 0;
  for (const auto& [m, n, k] : kShapes) {
    inputs = std::max(inputs, (m * k + k * n) * kElement);
    outputs = std::max(outputs, m * n * kElement);
  }
  device.reserve(Bytes(std::max(inputs, outputs)));
  fill(device.send(), inputs, device);
  const Handle handle = handle_for(device);
  std::vector<MeasuredKernel> kernels;
  for (const auto& shape : kShapes) {
    const float one = 1, zero = 0;
    const auto columns = static_cast<int>(shape[0]), rows = static_cast<int>(shape[1]);
    const auto depth = static_cast<int>(shape[2]);
    const char* const tokens = device.send() + shape[1] * shape[2] * kElement;
    // cuBLAS counts by columns: the transposed product, with the weights as a linear layer keeps them.
    const double seconds = timed_runs(device, [&] {
      check_cublas(cublasGemmEx(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, depth, &one,
                                device.send(), CUDA_R_16BF, depth, tokens, CUDA_R_16BF, depth, &zero,
                                device.receive(), CUDA_R_16BF, rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                   "a product");
    });
    kernels.push_back({.kind = MeasuredKernelKind::kMatmul,
                       .rank = rank,
                       .shape = shape,
                       .type = DataType::kBf16,
                       .time = Time::from_seconds(seconds)});
  }
  return kernels;
}

}  // namespace busbar
