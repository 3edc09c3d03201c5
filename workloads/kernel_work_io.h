// The keys of a kernel's work, shared by traces and parameter lists: duration, flops, bytes, type, matmul,
// attention.
#pragma once

#include <span>
#include <string_view>

#include "sim/base/json_reader.h"
#include "sim/base/kernel_shape.h"

namespace busbar {

[[nodiscard]] std::span<const std::string_view> kernel_work_keys();

/// Reads those keys of the object `value`; the caller has closed its keys. `duration` may stand beside a
/// roofline and wins; a shape excludes flops, bytes and the other shape. Shapes are resolved.
/// Errors: none of the keys; a pair that excludes each other; dimensions outside 1..2^31.
[[nodiscard]] KernelWork read_kernel_work(const JsonValue& value);

/// The value of a type's name, or an error that lists the names.
[[nodiscard]] DataType read_data_type(const JsonValue& value);

}  // namespace busbar
