// The shipped ResNet-18: its parameter list, and the buckets that PyTorch makes of it.
#include <gtest/gtest.h>

#include "workload_helpers.h"
#include "workloads/workload_io.h"

namespace busbar {
namespace {

using test::ids_on;
using test::op_called;

JsonDocument resnet() {
  return JsonDocument::load(BUSBAR_SOURCE_DIR "/workloads/catalogue/resnet18-ddp.json");
}

using Sizes = std::vector<std::int64_t>;

Sizes buckets_of(const JsonDocument& document) {
  const Program program = expand(read_workload(document)).programs.at(0);
  Sizes sizes;
  for (const std::string& id : ids_on(program, "dp")) sizes.push_back(op_called(program, id).bytes.count());
  return sizes;
}

TEST(ResNet18, HasTorchvisionsTensorsInTheirOrder) {
  const ModelSpec model = read_workload(resnet()).model;
  ASSERT_EQ(model.parameters.size(), 62U);
  EXPECT_EQ(parameter_count(model), 11'689'512);
  EXPECT_EQ(model.parameters[0].name, "conv1.weight");
  EXPECT_EQ(model.parameters[0].shape, (Sizes{64, 3, 7, 7}));
  EXPECT_EQ(model.parameters[15].name, "layer2.0.conv1.weight");
  EXPECT_EQ(model.parameters[21].name, "layer2.0.downsample.0.weight");
  EXPECT_EQ(model.parameters[21].shape, (Sizes{128, 64, 1, 1}));
  EXPECT_EQ(model.parameters[60].name, "fc.weight");
  EXPECT_EQ(model.parameters[61].name, "fc.bias");
}

// 1.814 x 10^9 multiply-adds per image of 224 x 224, as torchvision's table of weights states (GFLOPS 1.81).
TEST(ResNet18, HasTheFlopsOfThirtyTwoImages) {
  const ModelSpec model = read_workload(resnet()).model;
  double forward = 0;
  double backward = 0;
  for (const ParameterSpec& parameter : model.parameters) {
    forward += parameter.forward.flops;
    backward += parameter.backward.flops;
    if (parameter.shape.size() == 1) {
      EXPECT_EQ(parameter.forward.flops, 0) << parameter.name;
    }
  }
  EXPECT_NEAR(forward, 2 * 32 * 1.814e9, 2 * 32 * 0.0005e9);
  // Twice the forward, but for the gradient of the images, which nobody needs.
  EXPECT_EQ(backward, 2 * forward - model.parameters[0].forward.flops);
}

TEST(ResNet18, FillsThreeBucketsUnderTheDefaultCaps) {
  EXPECT_EQ(buckets_of(resnet()), (Sizes{2052000, 28852224, 15853824}));
}

TEST(ResNet18, FillsTwoBucketsUnderAnExplicitCapAsCurrentPyTorchDoes) {
  EXPECT_EQ(buckets_of(resnet().with("ddp.bucket_cap", "35 MiB")), (Sizes{37988256, 8769792}));
}

TEST(ResNet18, FillsASmallFirstBucketUnderAnExplicitCapAsOlderPyTorchDid) {
  const JsonDocument older = resnet().with("ddp.bucket_cap", "35 MiB").with("ddp.first_bucket", "1 MiB");
  EXPECT_EQ(buckets_of(older), (Sizes{2052000, 38297600, 6408448}));
}

}  // namespace
}  // namespace busbar
