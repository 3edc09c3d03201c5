// The parts of busbar.measured/1 that say who measured, and what single GPUs did.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/json_reader.h"
#include "sim/result/measurement.h"

namespace busbar {

/// A set of ranks of a topology: [0, 3], "0-7", "0-15:2". Errors (Error, kInput): not ranks, a rank twice.
[[nodiscard]] std::vector<std::uint32_t> read_members(const JsonValue& value);

/// The list `kernels`: {"kind": "copy", "bytes", "time_s"}, {"kind": "matmul", "shape": [m, n, k], "type",
/// "time_s"}, {"kind": "launch", "time_s"}, each with an optional `rank`. Errors (Error, kInput) with the
/// JSON pointer.
[[nodiscard]] std::vector<MeasuredKernel> read_measured_kernels(const JsonValue& list);

}  // namespace busbar
