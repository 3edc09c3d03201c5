// The workload as it is in force: every key with its value, defaults included.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace busbar {

/// ("parallel.dp", "16"), ... in the file's terms and order. `model` is given by its name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> effective_settings(const Workload& workload);

}  // namespace busbar
