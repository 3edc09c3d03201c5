// What `plan` found, as text, Markdown and CSV.
#pragma once

#include <cstddef>
#include <string>

#include "sim/result/study.h"

namespace busbar {

/// The recommendation, the clusters side by side, the `top` layouts of the recommended one, scaling, front,
/// what was left out and why.
[[nodiscard]] std::string plan_text(const Study& study, std::size_t top);
/// The same for every cluster, with all assumptions, as Markdown.
[[nodiscard]] std::string plan_markdown(const Study& study, std::size_t top);
/// One line for each simulated layout of each cluster.
[[nodiscard]] std::string plan_csv(const Study& study);

}  // namespace busbar
