// Parameters and FLOPs of known models, and of Hugging Face configs where a checkout has them.
#include <gtest/gtest.h>

#include <filesystem>

#include "model_helpers.h"
#include "workloads/hf_config_io.h"

namespace busbar {
namespace {

using test::even;
using test::model_of;
using test::preset;

struct Count {
  const char* name;
  std::int64_t parameters;
};

TEST(ModelPresets, HaveTheParametersThatTheirCheckpointsHave) {
  constexpr Count kCounts[] = {{"gpt2", 124'439'808},
                               {"llama-2-7b", 6'738'415'616},
                               {"llama-2-13b", 13'015'864'320},
                               {"llama-2-70b", 68'976'648'192},
                               {"llama-3.1-8b", 8'030'261'248},
                               {"llama-3.1-70b", 70'553'706'496},
                               {"llama-3.1-405b", 405'853'388'800},
                               {"mistral-7b", 7'241'732'096},
                               {"mixtral-8x7b", 46'702'792'704},
                               {"qwen3-8b", 8'190'735'360},
                               {"qwen3-30b-a3b", 30'532'122'624},
                               {"qwen3-235b-a22b", 235'093'634'560}};
  for (const Count& count : kCounts)
    EXPECT_EQ(parameter_count(preset(count.name)), count.parameters) << count.name;
}

TEST(ModelPresets, CountDeepSeekMatrixByMatrix) {
  constexpr std::int64_t h = 7168, heads = 128;
  constexpr std::int64_t kQueries = h * 1536 + 1536 + 1536 * heads * (128 + 64);
  constexpr std::int64_t kKeysAndValues = h * (512 + 64) + 512 + 512 * heads * (128 + 128);
  constexpr std::int64_t kBlock = kQueries + kKeysAndValues + heads * 128 * h + 2 * h;
  constexpr std::int64_t kExpert = 3 * h * 2048;
  constexpr std::int64_t kRouter = h * 256 + 256;
  constexpr std::int64_t kAll =
      2 * 129280 * h + h + 61 * kBlock + 3 * 3 * h * 18432 + 58 * (kRouter + 257 * kExpert);
  static_assert(kAll == 671'026'419'200);
  EXPECT_EQ(parameter_count(preset("deepseek-v3")), kAll);
  EXPECT_EQ(active_parameter_count(preset("deepseek-v3")), kAll - 58 * 248 * kExpert);  // 256 - 8 not passed
}

TEST(ModelPresets, CountGptsByTheirClosedForm) {
  // L (12 h^2 + 13 h) + (V + s) h + 2 h: qkv 3 h^2, out h^2, MLP 8 h^2; biases 9 h, norms 4 h.
  struct Gpt {
    const char* name;
    std::int64_t layers, hidden, vocab, positions;
  };
  constexpr Gpt kModels[] = {{"gpt2", 12, 768, 50257, 1024},
                             {"gpt3-175b", 96, 12288, 50257, 2048},
                             {"megatron-22b", 48, 6144, 51200, 2048},
                             {"megatron-175b", 96, 12288, 51200, 2048},
                             {"megatron-530b", 105, 20480, 51200, 2048},
                             {"megatron-1t", 128, 25600, 51200, 2048}};
  for (const auto& [name, layers, h, vocab, positions] : kModels)
    EXPECT_EQ(parameter_count(preset(name)), layers * (12 * h * h + 13 * h) + (vocab + positions) * h + 2 * h)
        << name;
}

TEST(ModelPresets, SayTheirCountInTheirHelp) {
  for (const ModelPreset& row : model_presets()) {
    std::string count = std::to_string(parameter_count(model_of(row.dims)));
    for (std::size_t i = count.size(); i > 3; i -= 3) count.insert(i - 3, ",");
    EXPECT_NE(row.help.find(count + " parameters"), std::string_view::npos) << row.name << " " << count;
  }
}

TEST(ModelFlops, AreSixPerParameterAndTokenAndTwelvePerPair) {
  // Matmul parameters: all but the norms and the embedding's rows. Attention: 12 s^2 h per layer, causal
  // half.
  const TransformerDims dims = even();
  constexpr double kMatmuls = 2 * (4.0 * 64 * 64 + 3 * 64 * 128) + 64 * 1024;
  constexpr double s = 256;
  EXPECT_EQ(model_flops(model_of(dims), 256), 6 * kMatmuls * s + 2 * 6 * s * s * 64);
}

TEST(ModelFlops, OfGptsFollowNarayanan) {
  // 72 s L h^2 (1 + s / (6 h) + V / (12 L h)): full attention.
  ModelSpec model = preset("megatron-22b");
  model.transformer->causal = false;
  constexpr double s = 2048, layers = 48, h = 6144, vocab = 51200;
  constexpr double kExpected = 72 * s * layers * h * h * (1 + s / (6 * h) + vocab / (12 * layers * h));
  EXPECT_NEAR(model_flops(model, 2048) / kExpected, 1, 1e-14);
}

TEST(ModelFlops, OfExpertsCountThoseOfAToken) {
  // 2 of 8 experts and the router in place of an MLP.
  const double dense = model_flops(model_of(even()), 256);
  const double experts = model_flops(model_of(test::even_experts()), 256);
  EXPECT_EQ(experts - dense, 6.0 * 256 * 2 * (64 * 8 + 2 * 3 * 64 * 32 - 3 * 64 * 128));
}

TEST(ModelFlops, OfListsNeedWork) {
  ModelSpec model;
  model.parameters = {{.name = "a", .shape = {2}, .type = std::nullopt, .forward = {}, .backward = {}}};
  model.parameters[0].forward.flops = 5;
  EXPECT_EQ(model_flops(model, 0), 15);
  model.parameters[0].forward.duration = Time::from_microseconds(1);
  EXPECT_EQ(model_flops(model, 0), 0);
}

TEST(HfConfig, GivesThePresetOfTheSameModel) {
  const std::filesystem::path folder = BUSBAR_SOURCE_DIR "/../shared/data/artefacts/hf-config";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const char* name : {"deepseek-v3", "gpt2", "llama-2-7b", "llama-3.1-70b", "mixtral-8x7b",
                           "qwen3-235b-a22b", "qwen3-8b"}) {
    const JsonDocument document = JsonDocument::load((folder / (std::string(name) + ".json")).string());
    const ModelSpec model = model_of(dims_of_hf_config(document.root()));
    EXPECT_EQ(parameter_count(model), parameter_count(preset(name))) << name;
    EXPECT_EQ(model_flops(model, 1024), model_flops(preset(name), 1024)) << name;
  }
}

}  // namespace
}  // namespace busbar
