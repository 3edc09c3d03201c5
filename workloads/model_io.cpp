#include "workloads/model_io.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/hf_config_io.h"
#include "workloads/input_checks.h"
#include "workloads/kernel_work_io.h"
#include "workloads/model_dims_io.h"

namespace busbar {

namespace {

constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxCopies = kMaxLayers;
// Every copy of a parameter has both, so that a short file must not fill the memory with them.
constexpr std::size_t kMaxParameterName = 256;
constexpr std::size_t kMaxSides = 16;

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

std::int64_t dimension(const JsonValue& value) { return value.integer(1, kMaxDimension); }

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

ModelSpec read_preset(const JsonValue& value) {
  const JsonValue preset = value.at("preset");
  const std::string name = preset.string();
  const ModelPreset* row = find_row(model_presets(), name);
  const auto names = names_of(model_presets());
  if (row == nullptr) preset.fail(fmt::format("a model: {}", one_of(names)), did_you_mean(name, names));
  return {.name = name, .transformer = read_dimensions(value, row->dims), .parameters = {}};
}

ModelSpec read_config(const JsonValue& value, const std::string& folder) {
  const TransformerDims dims = read_hf_config(value.at("hf_config"), folder);
  return {
      .name = value.at("hf_config").string(), .transformer = read_dimensions(value, dims), .parameters = {}};
}

ModelSpec read_any(const JsonValue& value, const std::string& folder) {
  if (value.find("parameters")) return read_parameters(value);
  const auto config = value.find("hf_config");
  if (value.find("preset") && config) config->fail_because("'preset' and 'hf_config' exclude each other");
  ModelSpec model = config                 ? read_config(value, folder)
                    : value.find("preset") ? read_preset(value)
                                           : ModelSpec{.name = "custom",
                                                       .transformer = read_dimensions(value, std::nullopt),
                                                       .parameters = {}};
  if (const auto name = value.find("name")) model.name = name->string();
  return model;
}

}  // namespace

ModelSpec read_model(const JsonValue& value, const std::string& folder) {
  ModelSpec model = read_any(value, folder);
  with_place(value, [&] { static_cast<void>(parameter_count(model)); });
  return model;
}

}  // namespace busbar
