// Tables of measured collectives as CSV.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// CSV with a header line; columns in any order, by name:
///   size_bytes | size                       required, the full buffer for gathers and scatters
///   oop_time_us | time_us | time            required, us; an empty field leaves the row out
///   ip_time_us                              us in place
///   count, dtype | type, redop, root        as nccl-tests prints them; fields may be empty
///   oop_algbw_GBps | algbw, oop_busbw_GBps | busbw
///   op | operation | collective, n_gpus | ranks | gpus     one table per combination
///   inplace | in_place                      0 or 1: rccl-tests' export has one line for each;
///                                           one in place alone counts as out of place too, with a note
/// Other columns are not looked at. '#' lines and blank lines are skipped. What no column says comes from the
/// hints, else from the name of the file, else from the figures.
/// Throws Error (kInput) with the line: a missing column, too few fields, a bad number, over 10^6 rows, an
/// operation that nothing tells.
[[nodiscard]] Measurement read_measured_csv(std::string_view text, const std::string& name,
                                            const ImportHints& hints = {});

/// True if the first line that is not blank or a comment has these names.
[[nodiscard]] bool looks_like_measured_csv(std::string_view text);

/// The fields of one line; quotes around a field may hold commas, and "" is a quote.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line);

}  // namespace busbar
