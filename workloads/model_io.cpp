#include "workloads/model_io.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <set>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/input_checks.h"
#include "workloads/kernel_work_io.h"

namespace busbar {

namespace {

constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxCopies = kMaxLayers;
// Every copy of a parameter has both, so that a short file must not fill the memory with them.
constexpr std::size_t kMaxParameterName = 256;
constexpr std::size_t kMaxSides = 16;

constexpr std::array<std::string_view, 13> kDimensionKeys = {
    "layers", "hidden",    "ffn_hidden",      "heads",  "kv_heads", "head_dim", "vocab",
    "name",   "gated_mlp", "tied_embeddings", "biases", "causal",   "attention"};

constexpr std::array<Refusal, 15> kRefusals = {{
    {"hf_config", "reading a Hugging Face config"},
    {"experts", "a mixture of experts"},
    {"top_k", "a mixture of experts"},
    {"expert_ffn_hidden", "a mixture of experts"},
    {"shared_experts", "a mixture of experts"},
    {"dense_layers", "a mixture of experts"},
    {"moe_every", "a mixture of experts"},
    {"q_lora_rank", "multi-head latent attention"},
    {"kv_lora_rank", "multi-head latent attention"},
    {"qk_nope_head_dim", "multi-head latent attention"},
    {"qk_rope_head_dim", "multi-head latent attention"},
    {"v_head_dim", "multi-head latent attention"},
    {"window", "sliding-window attention"},
    {"parallel_block", "a parallel block"},
    {"mtp_layers", "multi-token prediction"},
}};

std::int64_t dimension(const JsonValue& value) { return value.integer(1, kMaxDimension); }

void set_if_given(bool& flag, const std::optional<JsonValue>& value) {
  if (value) flag = value->boolean();
}

ModelSpec read_preset(const JsonValue& value) {
  value.only_keys({"preset"});
  const JsonValue preset = value.at("preset");
  const std::string name = preset.string();
  const ModelPreset* row = find_row(model_presets(), name);
  const auto names = names_of(model_presets());
  if (row == nullptr) preset.fail(fmt::format("a model: {}", one_of(names)), did_you_mean(name, names));
  return {.name = name, .transformer = row->dims, .parameters = {}};
}

/// head_dim x heads need not be `hidden`, but it is when head_dim is not given.
void read_heads(const JsonValue& value, TransformerDims& dims) {
  const JsonValue heads = value.at("heads");
  dims.heads = dimension(heads);
  const auto head_dim = value.find("head_dim");
  if (head_dim)
    dims.head_dim = dimension(*head_dim);
  else if (dims.hidden % dims.heads == 0)
    dims.head_dim = dims.hidden / dims.heads;
  else
    heads.fail(fmt::format("a divisor of hidden = {}, or 'head_dim' beside it", dims.hidden));
  const auto kv_heads = value.find("kv_heads");
  dims.kv_heads = kv_heads ? dimension(*kv_heads) : dims.heads;
  if (dims.heads % dims.kv_heads != 0) kv_heads->fail(fmt::format("a divisor of heads = {}", dims.heads));
}

void check_attention(const JsonValue& value, const TransformerDims& dims) {
  static constexpr std::array<std::string_view, 3> kKinds = {"mha", "gqa", "mla"};
  const auto attention = value.find("attention");
  if (!attention) return;
  const std::string kind = attention->string();
  if (kind == "mla") fail_not_modelled(*attention, "multi-head latent attention");
  if (kind != "mha" && kind != "gqa") attention->fail(one_of(kKinds), did_you_mean(kind, kKinds));
  if (kind == "mha" && dims.kv_heads != dims.heads)
    attention->fail_because("\"mha\" has as many kv_heads as heads; \"gqa\" has fewer");
  if (kind == "gqa" && !value.find("kv_heads")) attention->fail_because("\"gqa\" needs 'kv_heads'");
}

ModelSpec read_dimensions(const JsonValue& value) {
  refuse_keys(value, kRefusals);
  value.only_keys(kDimensionKeys);
  TransformerDims dims;
  dims.layers = value.at("layers").integer(1, kMaxLayers);
  dims.hidden = dimension(value.at("hidden"));
  dims.ffn_hidden = dimension(value.at("ffn_hidden"));
  dims.vocab = dimension(value.at("vocab"));
  read_heads(value, dims);
  check_attention(value, dims);
  set_if_given(dims.gated_mlp, value.find("gated_mlp"));
  set_if_given(dims.tied_embeddings, value.find("tied_embeddings"));
  set_if_given(dims.biases, value.find("biases"));
  set_if_given(dims.causal, value.find("causal"));
  const auto name = value.find("name");
  return {.name = name ? name->string() : "custom", .transformer = dims, .parameters = {}};
}

/// A duration as text, or an object with the keys of a kernel.
KernelWork read_work(const std::optional<JsonValue>& value) {
  KernelWork work;
  if (!value) return work;
  if (value->is_object()) {
    value->only_keys(kernel_work_keys());
    return read_kernel_work(*value);
  }
  work.duration = value->time();
  return work;
}

std::vector<std::int64_t> read_shape(const JsonValue& value) {
  std::vector<std::int64_t> shape;
  for (const JsonValue& side : value.items()) shape.push_back(dimension(side));
  if (shape.size() > kMaxSides) value.fail_because(fmt::format("more than {} dimensions", kMaxSides));
  return shape;
}

/// Adds an entry, `count` times where that is given.
void read_parameter(const JsonValue& value, std::vector<ParameterSpec>& parameters) {
  value.only_keys({"name", "shape", "type", "forward", "backward", "count"});
  ParameterSpec parameter;
  const JsonValue name = value.at("name");
  parameter.name = name.string();
  if (parameter.name.size() > kMaxParameterName)
    name.fail(fmt::format("a name of at most {} bytes", kMaxParameterName));
  parameter.shape = read_shape(value.at("shape"));
  if (const auto type = value.find("type")) parameter.type = read_storage_type(*type);
  parameter.forward = read_work(value.find("forward"));
  parameter.backward = read_work(value.find("backward"));
  const auto count = value.find("count");
  const std::int64_t copies = count ? count->integer(1, kMaxCopies) : 1;
  if (parameters.size() + static_cast<std::size_t>(copies) > static_cast<std::size_t>(kMaxLayers))
    value.fail_because(fmt::format("more than {} parameters", kMaxLayers));
  for (std::int64_t i = 0; i < copies; ++i) {
    parameters.push_back(parameter);
    if (count) parameters.back().name = fmt::format("{}.{}", parameter.name, i);
  }
}

void check_names(const JsonValue& list, const std::vector<ParameterSpec>& parameters) {
  std::set<std::string_view> names;
  for (const ParameterSpec& parameter : parameters)
    if (!names.insert(parameter.name).second)
      list.fail_because(fmt::format("two parameters are called {}", quoted(parameter.name)));
}

ModelSpec read_parameters(const JsonValue& value) {
  value.only_keys({"name", "parameters"});
  const auto name = value.find("name");
  ModelSpec model{.name = name ? name->string() : "custom", .transformer = std::nullopt, .parameters = {}};
  const JsonValue list = value.at("parameters");
  for (const JsonValue& item : list.items()) read_parameter(item, model.parameters);
  if (model.parameters.empty()) list.fail("at least one parameter");
  check_names(list, model.parameters);
  return model;
}

ModelSpec read_any(const JsonValue& value) {
  if (value.find("preset")) return read_preset(value);
  if (value.find("parameters")) return read_parameters(value);
  return read_dimensions(value);
}

}  // namespace

ModelSpec read_model(const JsonValue& value) {
  ModelSpec model = read_any(value);
  with_place(value, [&] { static_cast<void>(parameter_count(model)); });
  return model;
}

}  // namespace busbar
