#include "workloads/input_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/named_table.h"

namespace busbar {

void fail_not_modelled(const JsonValue& value, std::string_view what) {
  value.fail_because(fmt::format("{} is not modelled yet", what));
}

void refuse_keys(const JsonValue& object, std::span<const Refusal> refusals) {
  for (const Refusal& refusal : refusals)
    if (const auto value = object.find(refusal.key)) fail_not_modelled(*value, refusal.what);
}

void require_value(const std::optional<JsonValue>& value, std::string_view only, std::string_view what) {
  if (value && value->string() != only) fail_not_modelled(*value, what);
}

void require_flag(const std::optional<JsonValue>& value, bool only, std::string_view what) {
  if (value && value->boolean() != only) fail_not_modelled(*value, what);
}

std::size_t read_choice(const JsonValue& value, std::span<const std::string_view> names) {
  const std::string given = value.string();
  const auto found = std::find(names.begin(), names.end(), given);
  if (found == names.end()) value.fail(one_of(names), did_you_mean(given, names));
  return static_cast<std::size_t>(found - names.begin());
}

DataType read_storage_type(const JsonValue& value) {
  static constexpr std::array<std::string_view, 3> kNames = {"fp32", "bf16", "fp16"};
  static constexpr std::array<DataType, 3> kTypes = {DataType::kFp32, DataType::kBf16, DataType::kFp16};
  return kTypes[read_choice(value, kNames)];
}

}  // namespace busbar
