// busbar.validation/1.
#pragma once

#include <span>
#include <string>

#include "sim/result/validation.h"

namespace busbar {

/// One suite: its keys at the top. Several: a list "suites" of the same.
[[nodiscard]] std::string write_validation(std::span<const Validation> suites);

}  // namespace busbar
