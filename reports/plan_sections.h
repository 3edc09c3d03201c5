// The tables of a plan, before they are laid out as text or Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/record_table.h"
#include "sim/result/study.h"

namespace busbar {

/// "33.6 d", "13.5 h", "7.39 s", "412 ms".
[[nodiscard]] std::string time_text(double seconds);
/// "1.72 M".
[[nodiscard]] std::string scaled_text(double amount);
/// "1.72e+06 USD" as "1.72 M USD".
[[nodiscard]] std::string money_text(double amount, const std::string& currency);

/// Sentences: what is recommended, the runner-up, what would change it, what may go wrong.
[[nodiscard]] std::vector<std::string> recommendation(const Study& study);

[[nodiscard]] RecordTable clusters_section(const Study& study);
[[nodiscard]] RecordTable layouts_section(const Study& study, const ClusterRecord& cluster, std::size_t top);
[[nodiscard]] RecordTable exclusions_section(const ClusterRecord& cluster);
[[nodiscard]] RecordTable front_section(const Study& study);
[[nodiscard]] RecordTable scaling_section(const ScalingCurve& curve);
[[nodiscard]] RecordTable goodput_section(const Study& study, const ClusterRecord& cluster);
[[nodiscard]] RecordTable assumptions_section(const Study& study);
/// Without rows, for their columns.
[[nodiscard]] std::vector<RecordTable> plan_shapes();

}  // namespace busbar
