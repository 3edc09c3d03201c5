// What a study recommends, and what speaks against it.
#pragma once

#include <vector>

#include "sim/result/study.h"
#include "sim/study/study.h"

namespace busbar {

/// Fills objective, best, runner-up, front, changes, risks, assumptions and sensitivity from the clusters and
/// curves. With a deadline or a budget the best is the smallest cluster that keeps them; without either the
/// fastest at or below the knee of its scaling curve. `problems`: by cluster.
void summarise(Study& study, const StudySpec& spec, const std::vector<const SearchProblem*>& problems);

/// Layouts on clusters that no other beats in time (to train, or of a token), memory and cost at once.
[[nodiscard]] std::vector<FrontPoint> pareto_front(const std::vector<ClusterRecord>& clusters);

}  // namespace busbar
