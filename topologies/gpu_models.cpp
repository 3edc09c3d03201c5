// Dense peaks: where a datasheet prints figures "with sparsity", half of them.
#include <array>

#include "topologies/host_type.h"

namespace busbar {
namespace {

constexpr FlopRate tflops(double value) { return FlopRate::teraflops_per_second(value); }

std::map<DataType, FlopRate> ampere_peaks() {
  return {{DataType::kFp32, tflops(19.5)},
          {DataType::kTf32, tflops(156)},
          {DataType::kBf16, tflops(312)},
          {DataType::kFp16, tflops(312)},
          {DataType::kInt8, tflops(624)}};
}

std::map<DataType, FlopRate> hopper_peaks() {
  return {{DataType::kFp32, tflops(67)},  {DataType::kTf32, tflops(495)}, {DataType::kBf16, tflops(989)},
          {DataType::kFp16, tflops(989)}, {DataType::kFp8, tflops(1979)}, {DataType::kInt8, tflops(1979)}};
}

constexpr const char* kAmpereSource =
    "NVIDIA A100 Tensor Core GPU datasheet (2021) and A100 Tensor Core GPU Architecture whitepaper (SM "
    "count)";
constexpr const char* kH100Source =
    "NVIDIA H100 Tensor Core GPU datasheet (SXM5) and H100 Tensor Core GPU Architecture whitepaper (SM "
    "count)";
constexpr const char* kH200Source =
    "NVIDIA H200 Tensor Core GPU datasheet (SXM); SM count as H100, the same GH100 chip";

}  // namespace

std::span<const GpuModel> gpu_models() {
  static const std::array table = {
      GpuModel{"A100-SXM4-40GB", ampere_peaks(), 40_GB, Bandwidth::gigabytes_per_second(1555), 108,
               kAmpereSource},
      GpuModel{"A100-SXM4-80GB", ampere_peaks(), 80_GB, Bandwidth::gigabytes_per_second(2039), 108,
               kAmpereSource},
      GpuModel{"H100-SXM5-80GB", hopper_peaks(), 80_GB, Bandwidth::gigabytes_per_second(3350), 132,
               kH100Source},
      GpuModel{"H200-SXM-141GB", hopper_peaks(), 141_GB, Bandwidth::gigabytes_per_second(4800), 132,
               kH200Source},
  };
  return table;
}

}  // namespace busbar
