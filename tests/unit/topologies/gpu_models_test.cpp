#include <gtest/gtest.h>

#include <set>

#include "topologies/host_type.h"

namespace busbar {
namespace {

TEST(GpuModels, HoldTheDatasheetFigures) {
  const auto find = [](std::string_view name) -> const GpuModel& {
    for (const GpuModel& model : gpu_models()) {
      if (model.name == name) return model;
    }
    ADD_FAILURE() << name;
    return gpu_models()[0];
  };
  const auto tflops = [](const GpuModel& m, DataType type) { return m.peak.at(type).flops() / 1e12; };
  const GpuModel& h100 = find("H100-SXM5-80GB");
  EXPECT_DOUBLE_EQ(tflops(h100, DataType::kBf16), 989);
  EXPECT_DOUBLE_EQ(tflops(h100, DataType::kTf32), 495);
  EXPECT_DOUBLE_EQ(tflops(h100, DataType::kFp8), 1979);
  EXPECT_EQ(h100.memory, 80_GB);
  EXPECT_DOUBLE_EQ(h100.memory_bandwidth.Bps(), 3.35e12);
  EXPECT_EQ(h100.sms, 132);
  const GpuModel& a100 = find("A100-SXM4-80GB");
  EXPECT_DOUBLE_EQ(tflops(a100, DataType::kFp16), 312);
  EXPECT_DOUBLE_EQ(tflops(a100, DataType::kFp32), 19.5);
  EXPECT_DOUBLE_EQ(tflops(a100, DataType::kInt8), 624);
  EXPECT_DOUBLE_EQ(a100.memory_bandwidth.Bps(), 2.039e12);
  EXPECT_EQ(a100.sms, 108);
  EXPECT_DOUBLE_EQ(find("A100-SXM4-40GB").memory_bandwidth.Bps(), 1.555e12);
  EXPECT_EQ(find("A100-SXM4-40GB").memory, 40_GB);
  EXPECT_DOUBLE_EQ(find("H200-SXM-141GB").memory_bandwidth.Bps(), 4.8e12);
  EXPECT_EQ(find("H200-SXM-141GB").memory, 141_GB);
}

TEST(GpuModels, RowsHaveOneNameAndASource) {
  std::set<std::string_view> names;
  for (const GpuModel& model : gpu_models()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_TRUE(model.peak.contains(DataType::kFp16)) << model.name;
    EXPECT_EQ(model.peak.contains(DataType::kBf16), !model.name.starts_with("V100")) << model.name;
    EXPECT_GT(model.memory, 0_GB) << model.name;
    EXPECT_GT(model.sms, 0) << model.name;
  }
}

// Matrix units double their rate from type to type of half the width; datasheets round.
TEST(GpuModels, PeaksDoubleWithHalfTheWidth) {
  for (const GpuModel& model : gpu_models()) {
    const auto peak = [&](DataType type) {
      return model.peak.contains(type) ? model.peak.at(type).flops() : 0;
    };
    const double fp16 = peak(DataType::kFp16);
    EXPECT_GE(fp16, peak(DataType::kFp32)) << model.name;
    if (model.peak.contains(DataType::kBf16)) {
      EXPECT_DOUBLE_EQ(peak(DataType::kBf16), fp16) << model.name;
    }
    if (model.peak.contains(DataType::kFp8)) {
      EXPECT_NEAR(peak(DataType::kFp8) / fp16, 2, 0.03) << model.name;
    }
  }
}

// Per system, as the datasheets print them (with sparsity: twice): DGX B200 36 PFLOP/s of dense fp8, GB200
// NVL72 180 of dense bf16, MI250X 383 TFLOP/s of fp16 in two dies.
TEST(GpuModels, PartsSumToTheirSystems) {
  const auto flops = [](std::string_view name, DataType type) {
    for (const GpuModel& model : gpu_models())
      if (model.name == name) return model.peak.at(type).flops();
    ADD_FAILURE() << name;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(8 * flops("B200-SXM-180GB", DataType::kFp8), 36e15);
  EXPECT_DOUBLE_EQ(72 * flops("GB200-186GB", DataType::kBf16), 180e15);
  EXPECT_DOUBLE_EQ(2 * flops("MI250X-GCD-64GB", DataType::kFp16), 383e12);
}

}  // namespace
}  // namespace busbar
