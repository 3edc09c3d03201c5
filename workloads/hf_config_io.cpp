#include "workloads/hf_config_io.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <initializer_list>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/input_checks.h"

namespace busbar {

namespace {

constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int64_t>::max();

/// The first of the keys that is there and not null.
std::optional<JsonValue> given(const JsonValue& config, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (auto value = config.find(key); value && !value->is_null()) return value;
  return std::nullopt;
}

std::int64_t size(const JsonValue& config, std::initializer_list<std::string_view> keys) {
  const auto value = given(config, keys);
  return (value ? *value : config.at(*keys.begin())).integer(1, kMaxDimension);
}

std::int64_t size_or(const JsonValue& config, std::string_view key, std::int64_t otherwise) {
  const auto value = given(config, {key});
  return value ? value->integer(0, kMaxDimension) : otherwise;
}

bool flag_or(const JsonValue& config, std::string_view key, bool otherwise) {
  const auto value = given(config, {key});
  return value ? value->boolean() : otherwise;
}

void refuse_flag(const JsonValue& config, std::string_view key, std::string_view what) {
  if (flag_or(config, key, false)) fail_not_modelled(config.at(key), what);
}

void set_heads(const JsonValue& config, std::string_view heads_key, TransformerDims& dims) {
  const auto head_dim = given(config, {"head_dim"});
  if (!head_dim && dims.hidden % dims.heads != 0)
    config.at(heads_key).fail(fmt::format("a divisor of the hidden size {}", dims.hidden));
  dims.head_dim = head_dim ? head_dim->integer(1, kMaxDimension) : dims.hidden / dims.heads;
  dims.kv_heads = size_or(config, "num_key_value_heads", dims.heads);
  if (dims.kv_heads < 1 || dims.heads % dims.kv_heads != 0)
    config.at("num_key_value_heads").fail(fmt::format("a divisor of {} heads", dims.heads));
}

/// The keys that most decoders share: a gated MLP without biases, rotary positions.
TransformerDims llama(const JsonValue& config) {
  TransformerDims dims;
  dims.layers = config.at("num_hidden_layers").integer(1, kMaxLayers);
  dims.hidden = size(config, {"hidden_size"});
  dims.ffn_hidden = size(config, {"intermediate_size"});
  dims.heads = size(config, {"num_attention_heads"});
  dims.vocab = size(config, {"vocab_size"});
  set_heads(config, "num_attention_heads", dims);
  dims.tied_embeddings = flag_or(config, "tie_word_embeddings", false);
  refuse_flag(config, "attention_bias", "a bias of attention alone");
  refuse_flag(config, "mlp_bias", "a bias of the MLP alone");
  return dims;
}

TransformerDims mistral(const JsonValue& config) {
  TransformerDims dims = llama(config);
  dims.window = size_or(config, "sliding_window", 0);
  return dims;
}

TransformerDims mixtral(const JsonValue& config) {
  TransformerDims dims = mistral(config);
  dims.experts = Experts{.count = size(config, {"num_local_experts"}),
                         .top_k = size(config, {"num_experts_per_tok"}),
                         .ffn_hidden = dims.ffn_hidden};
  return dims;
}

/// The window is off unless `use_sliding_window`, and then of the upper layers only.
TransformerDims qwen2(const JsonValue& config) {
  refuse_flag(config, "use_sliding_window", "a window in some layers only");
  TransformerDims dims = llama(config);
  dims.qkv_biases = true;
  return dims;
}

TransformerDims qwen3(const JsonValue& config) {
  refuse_flag(config, "use_sliding_window", "a window in some layers only");
  TransformerDims dims = llama(config);
  dims.qk_norms = true;
  if (!given(config, {"head_dim"})) dims.head_dim = 128;  // Qwen3Config's default
  return dims;
}

TransformerDims qwen3_moe(const JsonValue& config) {
  TransformerDims dims = qwen3(config);
  if (const auto step = given(config, {"decoder_sparse_step"}); step && step->integer(0, kMaxDimension) != 1)
    fail_not_modelled(*step, "a decoder_sparse_step other than 1");
  if (const auto layers = given(config, {"mlp_only_layers"}); layers && !layers->items().empty())
    fail_not_modelled(*layers, "mlp_only_layers");
  dims.experts = Experts{.count = size(config, {"num_experts", "num_local_experts"}),
                         .top_k = size(config, {"num_experts_per_tok"}),
                         .ffn_hidden = size(config, {"moe_intermediate_size"})};
  return dims;
}

/// A learned table of positions, biases everywhere, and a tied head.
TransformerDims gpt2(const JsonValue& config) {
  TransformerDims dims;
  dims.layers = config.at("n_layer").integer(1, kMaxLayers);
  dims.hidden = size(config, {"n_embd"});
  dims.heads = size(config, {"n_head"});
  dims.vocab = size(config, {"vocab_size"});
  dims.positions = size(config, {"n_positions", "n_ctx"});
  set_heads(config, "n_head", dims);
  const auto inner = given(config, {"n_inner"});
  dims.ffn_hidden =
      inner ? inner->integer(1, kMaxDimension) : checked_mul(4, dims.hidden, "the width of the MLP");
  dims.gated_mlp = false;
  dims.biases = true;
  dims.tied_embeddings = flag_or(config, "tie_word_embeddings", true);
  return dims;
}

TransformerDims gpt_neox(const JsonValue& config) {
  TransformerDims dims = llama(config);
  dims.gated_mlp = false;
  dims.biases = true;
  dims.parallel_block = dims.parallel_norms = flag_or(config, "use_parallel_residual", true);
  return dims;
}

/// The products of q, k and v, and of gate and up, are fused; sizes and work are Llama's.
TransformerDims phi3(const JsonValue& config) { return mistral(config); }

/// PretrainedConfig ties the head unless told otherwise, and Gemma's configs leave it so.
TransformerDims gemma(const JsonValue& config) {
  TransformerDims dims = llama(config);
  dims.tied_embeddings = flag_or(config, "tie_word_embeddings", true);
  return dims;
}

LatentAttention latent_of(const JsonValue& config) {
  return {.q_lora_rank = size_or(config, "q_lora_rank", 0),
          .kv_lora_rank = size(config, {"kv_lora_rank"}),
          .qk_nope_head_dim = size(config, {"qk_nope_head_dim"}),
          .qk_rope_head_dim = size(config, {"qk_rope_head_dim"}),
          .v_head_dim = size(config, {"v_head_dim"})};
}

/// The main model: num_nextn_predict_layers more make the module for multi-token prediction, which is left
/// out.
TransformerDims deepseek_v3(const JsonValue& config) {
  TransformerDims dims = llama(config);
  dims.latent = latent_of(config);
  dims.kv_heads = dims.heads;
  dims.head_dim =
      checked_add(dims.latent->qk_nope_head_dim, dims.latent->qk_rope_head_dim, "the width of a head");
  const auto shared = given(config, {"n_shared_experts", "num_shared_experts"});
  dims.experts = Experts{.count = size(config, {"n_routed_experts", "num_routed_experts"}),
                         .top_k = size(config, {"num_experts_per_tok"}),
                         .ffn_hidden = size(config, {"moe_intermediate_size"}),
                         .shared = shared ? shared->integer(0, kMaxDimension) : 0,
                         .shared_ffn_hidden = 0,
                         .dense_layers = size_or(config, "first_k_dense_replace", 0),
                         .every = size_or(config, "moe_layer_freq", 1),
                         .router_bias = true};
  if (dims.experts->every != 1)
    fail_not_modelled(config.at("moe_layer_freq"), "a moe_layer_freq other than 1");
  return dims;
}

/// A row per `model_type`.
struct HfType {
  std::string_view name, help;
  TransformerDims (*read)(const JsonValue&);
};

constexpr std::array<HfType, 11> kTypes = {{{"deepseek_v3", "DeepSeek-V3 and R1", deepseek_v3},
                                            {"gemma", "Gemma", gemma},
                                            {"gpt2", "GPT-2", gpt2},
                                            {"gpt_neox", "GPT-NeoX and Pythia", gpt_neox},
                                            {"llama", "Llama 1 to 3.3", llama},
                                            {"mistral", "Mistral", mistral},
                                            {"mixtral", "Mixtral", mixtral},
                                            {"phi3", "Phi-3", phi3},
                                            {"qwen2", "Qwen2 and 2.5", qwen2},
                                            {"qwen3", "Qwen3", qwen3},
                                            {"qwen3_moe", "Qwen3 with experts", qwen3_moe}}};

void check_path(const JsonValue& path, const std::string& folder) {
  const std::filesystem::path named = path.string();
  if (named.empty()) path.fail("the path of a config.json");
  if (folder.empty())
    path.fail_because("a config is looked for beside the workload's file, and this has none");
  if (named.is_absolute()) path.fail("a path relative to the workload's file");
  for (const std::filesystem::path& part : named)
    if (part == "..") path.fail("a path inside the workload's folder, without '..'");
}

}  // namespace

TransformerDims dims_of_hf_config(const JsonValue& config) {
  const JsonValue type = config.at("model_type");
  const std::string name = type.string();
  const std::span<const HfType> types = kTypes;
  const HfType* row = find_row(types, name);
  const auto names = names_of(types);
  if (row == nullptr) type.fail(fmt::format("a model_type: {}", one_of(names)), did_you_mean(name, names));
  TransformerDims dims = row->read(config);
  if (dims.experts && dims.experts->top_k > dims.experts->count)
    config.at("num_experts_per_tok").fail(fmt::format("at most {} experts", dims.experts->count));
  return dims;
}

TransformerDims read_hf_config(const JsonValue& path, const std::string& folder) {
  check_path(path, folder);
  const std::filesystem::path file = std::filesystem::path(folder) / path.string();
  return dims_of_hf_config(JsonDocument::load(file.string()).root());
}

}  // namespace busbar
