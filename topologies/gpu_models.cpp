// Dense peaks of matrix products that accumulate in fp32: where a datasheet prints figures "with sparsity",
// half of them. AMD's fp32 is that of its matrix cores. SM counts that no datasheet prints are those that the
// driver reports. The last figure of a row is the compute capability x 10 where it is not Hopper's 90 (CUDA
// C++ Programming Guide; AMD: the gfx number, as HIP reports it). Types that a GPU has no units for are left
// out.
#include <array>
#include <vector>

#include "topologies/host_type.h"

namespace busbar {
namespace {

using Peaks = std::map<DataType, FlopRate>;

/// In TFLOP/s or TOP/s; 0 where there is none.
struct PeakRow {
  double fp32 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, int8 = 0;
};

Peaks peaks(const PeakRow& row) {
  Peaks map;
  const auto put = [&map](DataType type, double value) {
    if (value > 0) map[type] = FlopRate::teraflops_per_second(value);
  };
  put(DataType::kFp32, row.fp32);
  put(DataType::kTf32, row.tf32);
  put(DataType::kBf16, row.bf16);
  put(DataType::kFp16, row.fp16);
  put(DataType::kFp8, row.fp8);
  put(DataType::kInt8, row.int8);
  return map;
}

constexpr PeakRow kAmpere = {.fp32 = 19.5, .tf32 = 156, .bf16 = 312, .fp16 = 312, .int8 = 624};
constexpr PeakRow kHopper = {.fp32 = 67, .tf32 = 495, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979};

constexpr Bandwidth GBps(double value) { return Bandwidth::gigabytes_per_second(value); }

constexpr const char* kAmpereSource =
    "NVIDIA A100 Tensor Core GPU datasheet (2021) and A100 Tensor Core GPU Architecture whitepaper (SM "
    "count)";
constexpr const char* kH100Source =
    "NVIDIA H100 Tensor Core GPU datasheet (SXM5) and H100 Tensor Core GPU Architecture whitepaper (SM "
    "count)";

std::array<GpuModel, 9> volta_to_hopper() {
  return {{
      {"V100-SXM2-32GB", peaks({.fp32 = 15.7, .fp16 = 125}), 32_GB, GBps(900), 80,
       "NVIDIA Tesla V100 datasheet (SXM2) and Tesla V100 GPU Architecture whitepaper (SM count); no bf16",
       70},
      {"A100-SXM4-40GB", peaks(kAmpere), 40_GB, GBps(1555), 108, kAmpereSource, 80},
      {"A100-SXM4-80GB", peaks(kAmpere), 80_GB, GBps(2039), 108, kAmpereSource, 80},
      {"A100-PCIE-40GB", peaks(kAmpere), 40_GB, GBps(1555), 108, kAmpereSource, 80},
      {"H100-SXM5-80GB", peaks(kHopper), 80_GB, GBps(3350), 132, kH100Source},
      {"H100-SXM5-96GB", peaks(kHopper), 96_GB, GBps(2400), 132,
       "as H100 SXM5 with HBM2e: 2.4 TB/s (pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md)"},
      {"H100-PCIE-80GB",
       peaks({.fp32 = 51, .tf32 = 378, .bf16 = 756, .fp16 = 756, .fp8 = 1513, .int8 = 1513}), 80_GB,
       GBps(2000), 114,
       "NVIDIA H100 Tensor Core GPU datasheet (PCIe) and Architecture whitepaper (SM count)"},
      {"H800-SXM5-80GB", peaks(kHopper), 80_GB, GBps(3350), 132,
       "as H100 SXM5: the export version cuts NVLink and fp64 only (DeepSeek-AI, Insights into DeepSeek-V3, "
       "2025)"},
      {"H200-SXM-141GB", peaks(kHopper), 141_GB, GBps(4800), 132,
       "NVIDIA H200 Tensor Core GPU datasheet (SXM); SM count as H100, the same GH100 chip"},
  }};
}

std::array<GpuModel, 5> superchips_and_blackwell() {
  return {{
      {"GH200-96GB", peaks(kHopper), 96_GB, GBps(4000), 132,
       "NVIDIA GH200 Grace Hopper Superchip datasheet (96 GB HBM3)"},
      {"B200-SXM-180GB",
       peaks({.fp32 = 75, .tf32 = 1125, .bf16 = 2250, .fp16 = 2250, .fp8 = 4500, .int8 = 4500}), 180_GB,
       GBps(8000), 148, "NVIDIA DGX B200 and HGX B200 datasheets, an eighth of the system; SMs: driver", 100},
      {"B300-SXM-288GB", peaks({.fp32 = 75, .tf32 = 1125, .bf16 = 2250, .fp16 = 2250, .fp8 = 4500}), 288_GB,
       GBps(8000), 148,
       "NVIDIA HGX B300 datasheet, an eighth of the system; int8 left out (much reduced); SMs: driver", 103},
      {"GB200-186GB",
       peaks({.fp32 = 80, .tf32 = 1250, .bf16 = 2500, .fp16 = 2500, .fp8 = 5000, .int8 = 5000}), 186_GB,
       GBps(8000), 152, "NVIDIA GB200 NVL72 datasheet, a 72nd of the rack; SMs: driver", 100},
      {"GB300-288GB", peaks({.fp32 = 80, .tf32 = 1250, .bf16 = 2500, .fp16 = 2500, .fp8 = 5000}), 288_GB,
       GBps(8000), 152,
       "NVIDIA GB300 NVL72 datasheet, a 72nd of the rack; int8 left out (much reduced); SMs: driver", 103},
  }};
}

std::array<GpuModel, 7> amd_and_cards() {
  return {{
      {"MI250X-GCD-64GB", peaks({.fp32 = 47.85, .bf16 = 191.5, .fp16 = 191.5, .int8 = 191.5}), 64_GB,
       GBps(1638), 110, "AMD Instinct MI250X datasheet, half of it: one of its two dies"},
      {"MI300X-192GB",
       peaks({.fp32 = 163.4, .tf32 = 653.7, .bf16 = 1307.4, .fp16 = 1307.4, .fp8 = 2614.9, .int8 = 2614.9}),
       192_GB, GBps(5300), 304, "AMD Instinct MI300X datasheet", 94},
      {"L40S-48GB", peaks({.fp32 = 91.6, .tf32 = 183, .bf16 = 362, .fp16 = 362, .fp8 = 733, .int8 = 733}),
       48_GB, GBps(864), 142, "NVIDIA L40S datasheet; NVIDIA Ada GPU Architecture whitepaper (SM count)", 89},
      {"RTX-3090-24GB", peaks({.fp32 = 35.6, .tf32 = 35.6, .bf16 = 71, .fp16 = 71, .int8 = 284}), 24_GB,
       GBps(936), 82, "NVIDIA Ampere GA102 GPU Architecture whitepaper", 86},
      {"RTX-4090-24GB",
       peaks({.fp32 = 82.6, .tf32 = 82.6, .bf16 = 165.2, .fp16 = 165.2, .fp8 = 330.3, .int8 = 660.6}), 24_GB,
       GBps(1008), 128, "NVIDIA Ada GPU Architecture whitepaper (GeForce RTX 4090)", 89},
      {"RTX-5090-32GB",
       peaks({.fp32 = 104.8, .tf32 = 104.8, .bf16 = 209.5, .fp16 = 209.5, .fp8 = 419, .int8 = 838}), 32_GB,
       GBps(1792), 170, "NVIDIA RTX Blackwell GPU Architecture whitepaper (GeForce RTX 5090)", 120},
      {"RTX-PRO-6000-96GB",
       peaks({.fp32 = 125, .tf32 = 252, .bf16 = 504, .fp16 = 504, .fp8 = 1008, .int8 = 1008}), 96_GB,
       GBps(1792), 188,
       "NVIDIA RTX PRO Blackwell GPU Architecture whitepaper (RTX PRO 6000 Workstation Edition)", 120},
  }};
}

struct PowerRow {
  std::string_view models;  // prefix of their names
  double watts;
};

// Power limits as sold, by the datasheets named above (HGX: of the board's GPUs; GB200 and GB300: the most
// that a GPU of the rack is set to; MI250X: half of a module). The first row that fits.
constexpr PowerRow kPower[] = {
    {"V100-SXM2", 300}, {"A100-SXM4", 400},  {"A100-PCIE", 250},   {"H100-SXM5", 700}, {"H100-PCIE", 350},
    {"H800-SXM5", 700}, {"H200-SXM", 700},   {"B200-SXM", 1000},   {"B300-SXM", 1100}, {"GB200", 1200},
    {"GB300", 1400},    {"MI250X-GCD", 280}, {"MI300X", 750},      {"L40S", 350},      {"RTX-3090", 350},
    {"RTX-4090", 450},  {"RTX-5090", 575},   {"RTX-PRO-6000", 600}};

double power_of(std::string_view model) {
  for (const PowerRow& row : kPower)
    if (model.starts_with(row.models)) return row.watts;
  return 0;
}

std::vector<GpuModel> all_models() {
  std::vector<GpuModel> all;
  const auto append = [&all](const auto& models) { all.insert(all.end(), models.begin(), models.end()); };
  append(volta_to_hopper());
  append(superchips_and_blackwell());
  append(amd_and_cards());
  for (GpuModel& model : all) model.watts = power_of(model.name);
  return all;
}

}  // namespace

std::span<const GpuModel> gpu_models() {
  static const std::vector<GpuModel> table = all_models();
  return table;
}

}  // namespace busbar
