// The keys of `model`, and Hugging Face configs beside a workload.
#include "workloads/model_io.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model_helpers.h"
#include "tests/support/temporary_folder.h"
#include "workload_helpers.h"
#include "workloads/hf_config_io.h"

namespace busbar {
namespace {

ModelSpec read(const std::string& text, const std::string& folder = "") {
  return read_model(JsonDocument::parse(text, "m.json").root(), folder);
}
TransformerDims dims(const std::string& text) { return *read(text).transformer; }
std::string error(const std::string& text, const std::string& folder = "") {
  return test::error_of([&] { static_cast<void>(read(text, folder)); });
}

constexpr const char* kLatent = R"({"layers": 4, "hidden": 64, "ffn_hidden": 128, "heads": 8, "vocab": 100,
  "attention": "mla", "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 12, "qk_rope_head_dim": 4,
  "v_head_dim": 8, "experts": 8, "top_k": 2, "expert_ffn_hidden": 32, "shared_experts": 1,
  "shared_expert_ffn_hidden": 48, "dense_layers": 1, "moe_every": 2, "router_bias": true})";

TEST(ReadModel, ReadsLatentAttentionAndExperts) {
  const TransformerDims read = dims(kLatent);
  EXPECT_EQ(read.latent, (LatentAttention{24, 16, 12, 4, 8}));
  EXPECT_EQ(read.experts, (Experts{8, 2, 32, 1, 48, 1, 2, true}));
  EXPECT_EQ(read.head_dim, 16);
  EXPECT_EQ(read.kv_heads, 8);
}

TEST(ReadModel, ReadsTheOtherKeys) {
  const TransformerDims read = dims(R"({"layers": 1, "hidden": 64, "ffn_hidden": 1, "heads": 4, "vocab": 1,
    "qkv_biases": true, "qk_norms": true, "parallel_block": true, "parallel_norms": true, "positions": 512,
    "window": 128})");
  EXPECT_TRUE(read.qkv_biases && read.qk_norms && read.parallel_block && read.parallel_norms);
  EXPECT_EQ(read.positions, 512);
  EXPECT_EQ(read.window, 128);
}

TEST(ReadModel, ReplacesDimensionsOfAPreset) {
  const ModelSpec model = read(R"({"preset": "llama-2-7b", "layers": 2, "vocab": 1000, "name": "short"})");
  EXPECT_EQ(model.name, "short");
  EXPECT_EQ(model.transformer->layers, 2);
  EXPECT_EQ(model.transformer->hidden, 4096);
  EXPECT_EQ(read(R"({"preset": "llama-2-7b"})").name, "llama-2-7b");
}

TEST(ReadModel, LetsHeadsFollowWhereTheyDid) {
  const TransformerDims wide = dims(R"({"preset": "llama-2-7b", "hidden": 8192})");
  EXPECT_EQ(wide.head_dim, 256);
  const TransformerDims many = dims(R"({"preset": "llama-2-7b", "heads": 64})");
  EXPECT_EQ(many.head_dim, 64);
  EXPECT_EQ(many.kv_heads, 64);
  EXPECT_EQ(dims(R"({"preset": "qwen3-30b-a3b", "hidden": 1024})").head_dim, 128);  // it did not
  EXPECT_EQ(dims(R"({"preset": "llama-3.1-8b", "heads": 64})").kv_heads, 8);
}

TEST(ReadModel, TakesPartsOfAPresetAway) {
  EXPECT_FALSE(dims(R"({"preset": "mixtral-8x7b", "experts": 0})").experts);
  EXPECT_EQ(dims(R"({"preset": "mistral-7b", "window": 0})").window, 0);
  EXPECT_FALSE(dims(R"({"preset": "deepseek-v3", "attention": "mha", "head_dim": 128})").latent);
  EXPECT_EQ(dims(R"({"preset": "mixtral-8x7b", "experts": 16})").experts->ffn_hidden, 14336);
}

TEST(ReadModel, RefusesWhatDoesNotFit) {
  const std::string llama = R"({"preset": "llama-2-7b", )";
  const std::pair<std::string, std::string> cases[] = {
      {R"({"preset": "lama-2-7b"})", "did you mean 'llama-2-7b'?"},
      {llama + R"("windw": 5})", "did you mean 'window'?"},
      {llama + R"("hf_config": "c.json"})", "'preset' and 'hf_config' exclude each other"},
      {llama + R"("top_k": 2})", "m.json#/top_k: 'top_k' needs 'experts'"},
      {llama + R"("kv_lora_rank": 2})", "'kv_lora_rank' needs \"attention\": \"mla\""},
      {llama + R"("attention": "mla"})", "missing key 'kv_lora_rank'"},
      {llama + R"("attention": "gpa"})", "did you mean 'gqa'?"},
      {llama + R"("attention": "gqa"})", "\"gqa\" needs 'kv_heads'"},
      {llama + R"("attention": "mha", "kv_heads": 8})", "\"mha\" has as many kv_heads as heads"},
      {llama + R"("kv_heads": 5})", "a divisor of heads = 32"},
      {llama + R"("heads": 33})", "a divisor of hidden = 4096"},
      {llama + R"("causal": false, "window": 5})", "'window' needs causal attention"},
      {llama + R"("experts": 2, "top_k": 3})", "top_k = 3 is more than experts = 2"},
      {llama + R"("experts": 2, "dense_layers": 33})", "dense_layers = 33 is more than layers = 32"},
      {llama + R"("experts": 2, "shared_expert_ffn_hidden": 3})", "needs 'shared_experts'"},
      {llama + R"("experts": 2, "parallel_block": true})",
       "a parallel block with experts is not modelled yet"},
      {llama + R"("parallel_norms": true})", "'parallel_norms' needs 'parallel_block'"},
      {llama + R"("mtp_layers": 1})", "multi-token prediction is not modelled yet"},
      {R"({"preset": "deepseek-v3", "parallel_block": true})", "not modelled yet"},
      {R"({"preset": "deepseek-v3", "kv_heads": 8})", "latent attention has no 'kv_heads'"},
      {R"({"preset": "deepseek-v3", "qk_norms": true})",
       "'qk_norms' with latent attention is not modelled yet"},
      {R"({"preset": "llama-3.1-8b", "heads": 36, "head_dim": 128})", "a multiple of kv_heads = 8"},
      {R"({"hidden": 64})", "missing key 'layers'"},
      {R"({"name": "x", "parameters": [{"name": "a", "shape": [1]}], "layers": 2})", "layers"}};
  for (const auto& [text, message] : cases)
    EXPECT_NE(error(text).find(message), std::string::npos) << text << "\n" << error(text);
}

class HfConfigFile : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(folder_.file("config.json")) << text; }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

constexpr const char* kConfig = R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
  "intermediate_size": 128, "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 100,
  "sliding_window": null, "rope_scaling": {"factor": 8.0}})";

TEST_F(HfConfigFile, IsReadBesideTheWorkload) {
  write(kConfig);
  const ModelSpec model = read(R"({"hf_config": "config.json"})", folder());
  EXPECT_EQ(model.name, "config.json");
  EXPECT_EQ(model.transformer->kv_heads, 2);
  EXPECT_EQ(model.transformer->head_dim, 8);
  EXPECT_EQ(read(R"({"hf_config": "config.json", "layers": 7})", folder()).transformer->layers, 7);
}

TEST_F(HfConfigFile, StaysInTheWorkloadsFolder) {
  write(kConfig);
  EXPECT_NE(
      error(R"({"hf_config": "/etc/config.json"})", folder()).find("a path relative to the workload's file"),
      std::string::npos);
  EXPECT_NE(error(R"({"hf_config": "a/../../config.json"})", folder()).find("without '..'"),
            std::string::npos);
  EXPECT_NE(error(R"({"hf_config": "config.json"})").find("beside the workload's file"), std::string::npos);
  EXPECT_NE(error(R"({"hf_config": ""})", folder()).find("the path of a config.json"), std::string::npos);
}

TransformerDims config(const std::string& text) {
  return dims_of_hf_config(JsonDocument::parse(text, "c.json").root());
}

std::string with(std::string type, const std::string& more = "") {
  return R"({"model_type": ")" + type +
         R"(", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 8, "vocab_size": 100)" +
         more + "}";
}

TEST(HfConfig, KnowsWhatEachTypeAdds) {
  EXPECT_TRUE(config(with("qwen2")).qkv_biases);
  EXPECT_TRUE(config(with("qwen3")).qk_norms);
  EXPECT_EQ(config(with("qwen3")).head_dim, 128);
  EXPECT_EQ(config(with("mistral", R"(, "sliding_window": 16)")).window, 16);
  EXPECT_EQ(config(with("phi3", R"(, "sliding_window": 16)")).window, 16);
  EXPECT_TRUE(config(with("gemma", R"(, "head_dim": 32)")).tied_embeddings);
  EXPECT_EQ(config(with("gemma", R"(, "head_dim": 32)")).head_dim, 32);
  const TransformerDims neox = config(with("gpt_neox"));
  EXPECT_TRUE(neox.parallel_block && neox.parallel_norms && neox.biases && !neox.gated_mlp);
  EXPECT_FALSE(config(with("gpt_neox", R"(, "use_parallel_residual": false)")).parallel_block);
  EXPECT_EQ(config(with("mixtral", R"(, "num_local_experts": 4, "num_experts_per_tok": 2)")).experts,
            (Experts{.count = 4, .top_k = 2, .ffn_hidden = 128}));
}

TEST(HfConfig, RefusesWhatItDoesNotKnow) {
  const std::pair<std::string, std::string> cases[] = {
      {with("lama"), "did you mean 'llama'?"},
      {with("bert"), "a model_type: deepseek_v3"},
      {with("llama", R"(, "attention_bias": true)"), "a bias of attention alone is not modelled yet"},
      {with("llama", R"(, "mlp_bias": true)"), "a bias of the MLP alone is not modelled yet"},
      {with("llama", R"(, "num_key_value_heads": 3)"), "a divisor of 8 heads"},
      {with("qwen2", R"(, "use_sliding_window": true)"), "a window in some layers only is not modelled yet"},
      {with("qwen3_moe", R"(, "decoder_sparse_step": 2)"), "a decoder_sparse_step other than 1"},
      {with("qwen3_moe", R"(, "mlp_only_layers": [3])"), "mlp_only_layers is not modelled yet"},
      {with("mixtral"), "missing key 'num_local_experts'"},
      {with("mixtral", R"(, "num_local_experts": 4, "num_experts_per_tok": 5)"), "at most 4 experts"},
      {R"({"hidden_size": 64})", "missing key 'model_type'"}};
  for (const auto& [text, message] : cases) {
    const std::string line = test::error_of([&text] { static_cast<void>(config(text)); });
    EXPECT_NE(line.find(message), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace busbar
