// Small steps of reading busbar.workload/1: choices by name, refusals of what is not modelled yet.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/base/collective_kind.h"
#include "sim/base/error.h"
#include "sim/base/json_reader.h"

namespace busbar {

/// A key of the format that this version cannot honour, and what it would ask for.
struct Refusal {
  std::string_view key;
  std::string_view what;  // "a mixture of experts"
};

/// "<place>: <what> is not modelled yet".
[[noreturn]] void fail_not_modelled(const JsonValue& value, std::string_view what);
/// Errors: the first of the keys that the object has.
void refuse_keys(const JsonValue& object, std::span<const Refusal> refusals);
/// Reads a text that must be `only`, the one value that is modelled. Errors: another one.
void require_value(const std::optional<JsonValue>& value, std::string_view only, std::string_view what);
/// The same for a flag.
void require_flag(const std::optional<JsonValue>& value, bool only, std::string_view what);

/// The position in `names` of a text. Errors: another text.
[[nodiscard]] std::size_t read_choice(const JsonValue& value, std::span<const std::string_view> names);
/// fp32, bf16 or fp16: what parameters, gradients and optimizer states are kept in.
[[nodiscard]] DataType read_storage_type(const JsonValue& value);

/// Runs `compute`; an error without a place in the file gets this one.
template <class Compute>
void with_place(const JsonValue& place, Compute compute) {
  try {
    compute();
  } catch (const Error& error) {
    place.fail_because(error.what());
  }
}

}  // namespace busbar
