// Errors of many rows, as JSON has them.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/result/validation.h"

namespace busbar {

[[nodiscard]] inline nlohmann::ordered_json figures_json(const ErrorFigures& f) {
  return {{"median_abs_error", f.median},
          {"mean_abs_error", f.mean},
          {"p90", f.p90},
          {"bias", f.bias},
          {"worst", f.worst},
          {"rows", f.rows}};
}

}  // namespace busbar
