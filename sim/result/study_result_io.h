// busbar.study-result/1.
#pragma once

#include <string>

#include "sim/result/study.h"

namespace busbar {

/// All that a study found; keys whose input is not given are left out. The same for the same input but for
/// `engine`.
[[nodiscard]] std::string write_study(const Study& study);

}  // namespace busbar
