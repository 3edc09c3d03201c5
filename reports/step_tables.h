// The tables of a simulated step, for Markdown and CSV.
#pragma once

#include <string>
#include <vector>

#include "reports/record_table.h"
#include "sim/result/run_result.h"

namespace busbar {

[[nodiscard]] RecordTable collectives_table(const RunResult& result);
[[nodiscard]] RecordTable links_table(const RunResult& result);
/// The parts of an earlier step beside this one's.
[[nodiscard]] RecordTable compared_table(const RunResult& result, std::size_t number);
/// Where the step goes, collectives, links, roles, memory, what is compared with it, sensitivities; those
/// that a step has.
[[nodiscard]] std::vector<RecordTable> step_tables(const RunResult& result);
/// The tables without rows, for their columns.
[[nodiscard]] std::vector<RecordTable> step_shapes();
/// A heading, the figures of the step, its tables (the first rows of long ones), assumptions and warnings.
[[nodiscard]] std::string step_markdown(const RunResult& result);
/// All rows of all tables, and the step's own figures: one line each (tidy_csv()).
[[nodiscard]] std::string step_csv(const RunResult& result);

}  // namespace busbar
