// The exchanges inside a layer, as collectives on communicators.
#pragma once

#include "sim/base/collective_kind.h"
#include "workloads/model_spec.h"

namespace busbar {

/// "tp", "cp", "ep", "etp": the communicator of an exchange, also its stream and its kind in reports.
[[nodiscard]] const char* slot_of(LayerExchange exchange);
[[nodiscard]] CollectiveKind collective_of(LayerExchange exchange);

}  // namespace busbar
