// Errors of many rows in a few figures.
#pragma once

#include "sim/result/error_figures.h"
#include "sim/result/validation.h"

namespace busbar {

/// Fills `overall` and `groups` (one per system, by name) from the rows.
void sum_up(Validation& validation);

}  // namespace busbar
