// A transformer's dimensions in the `model` key of busbar.workload/1.
#pragma once

#include <optional>

#include "sim/base/json_reader.h"
#include "workloads/model_spec.h"

namespace busbar {

/// The dimensions that the object gives, in place of those of `base` where there is one. A head's width
/// follows hidden / heads, and kv_heads follows heads, where they did in the base and are not given. Errors:
/// an unknown key; without a base, a missing one; dimensions that do not fit each other.
[[nodiscard]] TransformerDims read_dimensions(const JsonValue& value,
                                              const std::optional<TransformerDims>& base);

}  // namespace busbar
