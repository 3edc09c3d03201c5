// Errors of many rows in a few figures.
#pragma once

#include <span>

#include "sim/result/validation.h"

namespace busbar {

/// Of signed errors; all zero without any.
[[nodiscard]] ErrorFigures figures_of(std::span<const double> errors);

}  // namespace busbar
