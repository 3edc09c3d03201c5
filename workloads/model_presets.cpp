#include <array>

#include "workloads/model_spec.h"

namespace busbar {

namespace {

constexpr std::string_view kLlama2 =
    "Touvron et al., Llama 2, 2023 (arXiv:2307.09288); config.json of meta-llama/Llama-2-*-hf";
constexpr std::string_view kLlama3 =
    "Grattafiori et al., The Llama 3 Herd of Models, 2024 (arXiv:2407.21783), table 3; config.json of "
    "meta-llama/Llama-3.1-*";
constexpr std::string_view kQwen3 =
    "Qwen3 Technical Report, 2025 (arXiv:2505.09388), tables 1 and 2; config.json of Qwen/Qwen3-*";
constexpr std::string_view kMegatron =
    "Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022 "
    "(arXiv:2205.05198), table 3";

/// An ungated MLP of 4 h, biases, and a learned position per token.
constexpr TransformerDims gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {.layers = layers,
          .hidden = hidden,
          .ffn_hidden = 4 * hidden,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = hidden / heads,
          .vocab = 50257,
          .gated_mlp = false,
          .tied_embeddings = true,
          .biases = true,
          .positions = 2048};
}

constexpr TransformerDims gpt2_small() {
  TransformerDims dims = gpt(12, 768, 12);
  dims.positions = 1024;
  return dims;
}

constexpr TransformerDims megatron(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  TransformerDims dims = gpt(layers, hidden, heads);
  dims.vocab = 51200;
  return dims;
}

struct LlamaSize {
  std::int64_t layers, hidden, ffn_hidden, heads, kv_heads;
};

constexpr TransformerDims llama(const LlamaSize& size, std::int64_t vocab) {
  return {.layers = size.layers,
          .hidden = size.hidden,
          .ffn_hidden = size.ffn_hidden,
          .heads = size.heads,
          .kv_heads = size.kv_heads,
          .head_dim = size.hidden / size.heads,
          .vocab = vocab};
}

constexpr TransformerDims mixtral() {
  TransformerDims dims = llama({32, 4096, 14336, 32, 8}, 32000);
  dims.experts = Experts{.count = 8, .top_k = 2, .ffn_hidden = 14336};
  return dims;
}

constexpr TransformerDims qwen3(const LlamaSize& size) {
  TransformerDims dims = llama(size, 151936);
  dims.head_dim = 128;
  dims.qk_norms = true;
  return dims;
}

constexpr TransformerDims qwen3_experts(const LlamaSize& size, std::int64_t expert_ffn_hidden) {
  TransformerDims dims = qwen3(size);
  dims.experts = Experts{.count = 128, .top_k = 8, .ffn_hidden = expert_ffn_hidden};
  return dims;
}

/// The main model, without its module for multi-token prediction.
constexpr TransformerDims deepseek_v3() {
  TransformerDims dims = llama({61, 7168, 18432, 128, 128}, 129280);
  dims.head_dim = 192;
  dims.latent = LatentAttention{.q_lora_rank = 1536,
                                .kv_lora_rank = 512,
                                .qk_nope_head_dim = 128,
                                .qk_rope_head_dim = 64,
                                .v_head_dim = 128};
  dims.experts = Experts{.count = 256,
                         .top_k = 8,
                         .ffn_hidden = 2048,
                         .shared = 1,
                         .shared_ffn_hidden = 0,
                         .dense_layers = 3,
                         .every = 1,
                         .router_bias = true};
  return dims;
}

constexpr std::array<ModelPreset, 18> kPresets = {{
    {.name = "llama-2-7b",
     .help = "Llama 2 7B: 32 layers, hidden 4096, 6,738,415,616 parameters",
     .source = kLlama2,
     .dims = llama({32, 4096, 11008, 32, 32}, 32000)},
    {.name = "llama-2-13b",
     .help = "Llama 2 13B: 40 layers, hidden 5120, 13,015,864,320 parameters",
     .source = kLlama2,
     .dims = llama({40, 5120, 13824, 40, 40}, 32000)},
    {.name = "llama-2-70b",
     .help = "Llama 2 70B: 80 layers, hidden 8192, 8 key heads, 68,976,648,192 parameters",
     .source = kLlama2,
     .dims = llama({80, 8192, 28672, 64, 8}, 32000)},
    {.name = "llama-3.1-8b",
     .help = "Llama 3.1 8B: 32 layers, hidden 4096, 8 key heads, 8,030,261,248 parameters",
     .source = kLlama3,
     .dims = llama({32, 4096, 14336, 32, 8}, 128256)},
    {.name = "llama-3.1-70b",
     .help = "Llama 3.1 70B: 80 layers, hidden 8192, 8 key heads, 70,553,706,496 parameters",
     .source = kLlama3,
     .dims = llama({80, 8192, 28672, 64, 8}, 128256)},
    {.name = "llama-3.1-405b",
     .help = "Llama 3.1 405B: 126 layers, hidden 16384, 8 key heads, 405,853,388,800 parameters",
     .source = kLlama3,
     .dims = llama({126, 16384, 53248, 128, 8}, 128256)},
    {.name = "gpt2",
     .help = "GPT-2 small: 12 layers, hidden 768, 124,439,808 parameters",
     .source =
         "Radford et al., Language Models are Unsupervised Multitask Learners, 2019; config.json of gpt2",
     .dims = gpt2_small()},
    {.name = "gpt3-175b",
     .help = "GPT-3: 96 layers, hidden 12288, sequences up to 2048, 174,604,259,328 parameters",
     .source = "Brown et al., Language Models are Few-Shot Learners, 2020 (arXiv:2005.14165), table 2.1",
     .dims = gpt(96, 12288, 96)},
    {.name = "megatron-22b",
     .help = "Megatron 22B: 48 layers, hidden 6144, vocabulary 51,200, 22,074,273,792 parameters",
     .source = kMegatron,
     .dims = megatron(48, 6144, 64)},
    {.name = "megatron-175b",
     .help = "Megatron 175B: 96 layers, hidden 12288, vocabulary 51,200, 174,615,846,912 parameters",
     .source = kMegatron,
     .dims = megatron(96, 12288, 96)},
    {.name = "megatron-530b",
     .help = "Megatron-Turing 530B: 105 layers, hidden 20480, vocabulary 51,200, 529,600,819,200 parameters",
     .source = kMegatron,
     .dims = megatron(105, 20480, 128)},
    {.name = "megatron-1t",
     .help = "Megatron 1T: 128 layers, hidden 25600, vocabulary 51,200, 1,008,038,758,400 parameters",
     .source = kMegatron,
     .dims = megatron(128, 25600, 160)},
    {.name = "mixtral-8x7b",
     .help = "Mixtral 8x7B: 32 layers of 8 experts, 2 per token, 46,702,792,704 parameters",
     .source = "Jiang et al., Mixtral of Experts, 2024 (arXiv:2401.04088), table 1; config.json of "
               "mistralai/Mixtral-8x7B-v0.1",
     .dims = mixtral()},
    {.name = "qwen3-8b",
     .help = "Qwen3 8B: 36 layers, hidden 4096, 8 key heads, 8,190,735,360 parameters",
     .source = kQwen3,
     .dims = qwen3({36, 4096, 12288, 32, 8})},
    {.name = "qwen3-30b-a3b",
     .help = "Qwen3 30B-A3B: 48 layers of 128 experts, 8 per token, 30,532,122,624 parameters",
     .source = kQwen3,
     .dims = qwen3_experts({48, 2048, 6144, 32, 4}, 768)},
    {.name = "qwen3-235b-a22b",
     .help = "Qwen3 235B-A22B: 94 layers of 128 experts, 8 per token, 235,093,634,560 parameters",
     .source = kQwen3,
     .dims = qwen3_experts({94, 4096, 12288, 64, 4}, 1536)},
    {.name = "deepseek-v3",
     .help = "DeepSeek-V3 without multi-token prediction: 61 layers, latent attention, 256 experts, 8 per "
             "token, 671,026,419,200 parameters",
     .source = "DeepSeek-V3 Technical Report, 2024 (arXiv:2412.19437), section 4.2; config.json of "
               "deepseek-ai/DeepSeek-V3",
     .dims = deepseek_v3()},
    {.name = "mistral-7b",
     .help = "Mistral 7B: 32 layers, hidden 4096, 8 key heads, window 4096, 7,241,732,096 parameters",
     .source = "Jiang et al., Mistral 7B, 2023 (arXiv:2310.06825), table 1; config.json of "
               "mistralai/Mistral-7B-v0.1",
     .dims = {.layers = 32,
              .hidden = 4096,
              .ffn_hidden = 14336,
              .heads = 32,
              .kv_heads = 8,
              .head_dim = 128,
              .vocab = 32000,
              .window = 4096}},
}};

}  // namespace

std::span<const ModelPreset> model_presets() { return kPresets; }

}  // namespace busbar
