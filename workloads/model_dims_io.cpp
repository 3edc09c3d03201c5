#include "workloads/model_dims_io.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/input_checks.h"

namespace busbar {

namespace {

constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 34> kKeys = {"preset",
                                                    "hf_config",
                                                    "name",
                                                    "layers",
                                                    "hidden",
                                                    "ffn_hidden",
                                                    "heads",
                                                    "kv_heads",
                                                    "head_dim",
                                                    "vocab",
                                                    "gated_mlp",
                                                    "tied_embeddings",
                                                    "biases",
                                                    "qkv_biases",
                                                    "qk_norms",
                                                    "causal",
                                                    "parallel_block",
                                                    "parallel_norms",
                                                    "positions",
                                                    "window",
                                                    "attention",
                                                    "q_lora_rank",
                                                    "kv_lora_rank",
                                                    "qk_nope_head_dim",
                                                    "qk_rope_head_dim",
                                                    "v_head_dim",
                                                    "experts",
                                                    "top_k",
                                                    "expert_ffn_hidden",
                                                    "shared_experts",
                                                    "shared_expert_ffn_hidden",
                                                    "dense_layers",
                                                    "moe_every",
                                                    "router_bias"};
constexpr std::array<std::string_view, 5> kLatentKeys = {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
                                                         "qk_rope_head_dim", "v_head_dim"};
constexpr std::array<std::string_view, 7> kExpertKeys = {
    "top_k",        "expert_ffn_hidden", "shared_experts", "shared_expert_ffn_hidden",
    "dense_layers", "moe_every",         "router_bias"};
constexpr std::array<Refusal, 1> kRefusals = {{{"mtp_layers", "multi-token prediction"}}};

/// One object's keys over a base. Required keys are those that no base can give.
class DimsReader {
 public:
  DimsReader(const JsonValue& value, const std::optional<TransformerDims>& base)
      : value_(value), has_base_(base), dims_(base.value_or(TransformerDims{})) {}

  [[nodiscard]] TransformerDims read() {
    read_sizes();
    read_attention();
    read_heads();
    read_flags();
    read_experts();
    check_parallel_block();
    return dims_;
  }

 private:
  [[nodiscard]] bool gives(std::string_view key) const { return value_.find(key).has_value(); }
  /// Where an error about that key belongs: the key, or the object where it has none.
  [[nodiscard]] JsonValue place(std::string_view key) const { return value_.find(key).value_or(value_); }
  void require(std::string_view key, std::int64_t& size, std::int64_t high = kMaxDimension) {
    if (!has_base_ || gives(key)) size = value_.at(key).integer(1, high);
  }
  void set(std::string_view key, std::int64_t& size, std::int64_t low = 1) {
    if (const auto given = value_.find(key)) size = given->integer(low, kMaxDimension);
  }
  void set(std::string_view key, bool& flag) {
    if (const auto given = value_.find(key)) flag = given->boolean();
  }
  void read_sizes();
  void read_attention();
  void read_heads();
  void read_head_dim();
  void read_kv_heads();
  void read_flags();
  void read_experts();
  void check_experts() const;
  void check_parallel_block() const;

  const JsonValue& value_;
  bool has_base_;
  TransformerDims dims_;
  bool head_dim_follows_ = false, kv_heads_follow_ = false;
};

void DimsReader::read_sizes() {
  head_dim_follows_ = !has_base_ || dims_.head_dim * dims_.heads == dims_.hidden;
  kv_heads_follow_ = !has_base_ || dims_.kv_heads == dims_.heads;
  require("layers", dims_.layers, kMaxLayers);
  require("hidden", dims_.hidden);
  require("ffn_hidden", dims_.ffn_hidden);
  require("heads", dims_.heads);
  require("vocab", dims_.vocab);
  set("positions", dims_.positions, 0);
}

/// "mha" and "gqa" are told apart by kv_heads; naming one checks it.
void DimsReader::read_attention() {
  static constexpr std::array<std::string_view, 3> kKinds = {"mha", "gqa", "mla"};
  const auto attention = value_.find("attention");
  const std::size_t kind = attention ? read_choice(*attention, kKinds) : kKinds.size();
  if (attention && kind != 2) dims_.latent.reset();
  if (kind == 2 && !dims_.latent) dims_.latent = LatentAttention{};
  if (!dims_.latent) {
    for (const std::string_view key : kLatentKeys)
      if (const auto given = value_.find(key))
        given->fail_because(fmt::format("'{}' needs \"attention\": \"mla\"", key));
    return;
  }
  LatentAttention& latent = *dims_.latent;
  set("q_lora_rank", latent.q_lora_rank, 0);
  const auto rank = [&](std::string_view key, std::int64_t& size) {
    if (size == 0 || gives(key)) size = value_.at(key).integer(1, kMaxDimension);
  };
  rank("kv_lora_rank", latent.kv_lora_rank);
  rank("qk_nope_head_dim", latent.qk_nope_head_dim);
  rank("qk_rope_head_dim", latent.qk_rope_head_dim);
  rank("v_head_dim", latent.v_head_dim);
}

/// Latent attention has a key and a value for every head, of its own widths.
void DimsReader::read_heads() {
  if (!dims_.latent) {
    read_head_dim();
    read_kv_heads();
    return;
  }
  for (const std::string_view key : {"kv_heads", "head_dim"})
    if (const auto given = value_.find(key))
      given->fail_because(fmt::format("latent attention has no '{}'", key));
  dims_.kv_heads = dims_.heads;
  dims_.head_dim =
      checked_add(dims_.latent->qk_nope_head_dim, dims_.latent->qk_rope_head_dim, "the width of a head");
}

/// head_dim x heads need not be `hidden`, but it is when head_dim is not given.
void DimsReader::read_head_dim() {
  if (const auto head_dim = value_.find("head_dim")) {
    dims_.head_dim = head_dim->integer(1, kMaxDimension);
    return;
  }
  if (!head_dim_follows_) return;
  if (dims_.hidden % dims_.heads != 0)
    place("heads").fail(fmt::format("a divisor of hidden = {}, or 'head_dim' beside it", dims_.hidden));
  dims_.head_dim = dims_.hidden / dims_.heads;
}

void DimsReader::read_kv_heads() {
  const auto kv_heads = value_.find("kv_heads");
  if (kv_heads_follow_) dims_.kv_heads = dims_.heads;
  if (kv_heads) dims_.kv_heads = kv_heads->integer(1, kMaxDimension);
  if (dims_.heads % dims_.kv_heads != 0) {
    if (kv_heads) kv_heads->fail(fmt::format("a divisor of heads = {}", dims_.heads));
    place("heads").fail(fmt::format("a multiple of kv_heads = {}", dims_.kv_heads));
  }
  const auto attention = value_.find("attention");
  if (!attention) return;
  if (attention->string() == "mha" && dims_.kv_heads != dims_.heads)
    attention->fail_because("\"mha\" has as many kv_heads as heads; \"gqa\" has fewer");
  if (attention->string() == "gqa" && !kv_heads && kv_heads_follow_)
    attention->fail_because("\"gqa\" needs 'kv_heads'");
}

void DimsReader::read_flags() {
  set("gated_mlp", dims_.gated_mlp);
  set("tied_embeddings", dims_.tied_embeddings);
  set("biases", dims_.biases);
  set("qkv_biases", dims_.qkv_biases);
  set("qk_norms", dims_.qk_norms);
  set("causal", dims_.causal);
  set("parallel_block", dims_.parallel_block);
  set("parallel_norms", dims_.parallel_norms);
  set("window", dims_.window, 0);
  if (dims_.window > 0 && !dims_.causal) place("causal").fail_because("'window' needs causal attention");
  for (const std::string_view key : {"qk_norms", "qkv_biases"})
    if (dims_.latent && gives(key) && value_.at(key).boolean())
      fail_not_modelled(value_.at(key), fmt::format("'{}' with latent attention", key));
}

/// "experts": 0 takes those of a base away.
void DimsReader::read_experts() {
  if (const auto count = value_.find("experts")) {
    const std::int64_t experts = count->integer(0, kMaxDimension);
    if (experts == 0) dims_.experts.reset();
    if (experts > 0 && !dims_.experts) dims_.experts = Experts{.count = 0, .ffn_hidden = dims_.ffn_hidden};
    if (experts > 0) dims_.experts->count = experts;
  }
  if (!dims_.experts) {
    for (const std::string_view key : kExpertKeys)
      if (const auto given = value_.find(key)) given->fail_because(fmt::format("'{}' needs 'experts'", key));
    return;
  }
  Experts& experts = *dims_.experts;
  set("top_k", experts.top_k);
  set("expert_ffn_hidden", experts.ffn_hidden);
  set("shared_experts", experts.shared, 0);
  set("shared_expert_ffn_hidden", experts.shared_ffn_hidden);
  set("dense_layers", experts.dense_layers, 0);
  set("moe_every", experts.every);
  set("router_bias", experts.router_bias);
  check_experts();
}

void DimsReader::check_experts() const {
  const Experts& experts = *dims_.experts;
  if (experts.top_k > experts.count)
    place("top_k").fail_because(
        fmt::format("top_k = {} is more than experts = {}", experts.top_k, experts.count));
  if (experts.dense_layers > dims_.layers)
    place("dense_layers")
        .fail_because(
            fmt::format("dense_layers = {} is more than layers = {}", experts.dense_layers, dims_.layers));
  const auto width = value_.find("shared_expert_ffn_hidden");
  if (width && experts.shared == 0) width->fail_because("'shared_expert_ffn_hidden' needs 'shared_experts'");
}

void DimsReader::check_parallel_block() const {
  if (dims_.parallel_norms && !dims_.parallel_block)
    place("parallel_norms").fail_because("'parallel_norms' needs 'parallel_block'");
  if (!dims_.parallel_block) return;
  if (dims_.experts) fail_not_modelled(place("parallel_block"), "a parallel block with experts");
  if (dims_.latent) fail_not_modelled(place("parallel_block"), "a parallel block with latent attention");
}

}  // namespace

TransformerDims read_dimensions(const JsonValue& value, const std::optional<TransformerDims>& base) {
  refuse_keys(value, kRefusals);
  value.only_keys(kKeys);
  return DimsReader(value, base).read();
}

}  // namespace busbar
