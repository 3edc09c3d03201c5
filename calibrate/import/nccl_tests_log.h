// The text output of nccl-tests and rccl-tests, as it survives launchers, collectors and copying.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// Every table of the text. All column orders since 2019, any number of tests in one text; labels, time
/// stamps, quotes and table marks around rows; other programs' lines between them. Torn rows are left out and
/// counted in the table's notes.
/// `name` is what errors and sources call the text; the operation may be told by it ("x_all_gather.log").
/// Throws Error (kInput): no table, an operation that nothing tells, over 10^6 rows.
/// Not modelled: several sizes of one test printed by concurrent jobs into one file.
/// Source: NVIDIA/nccl-tests src/common.cu and src/util.cu, releases 2.0 to 2.19; ROCm/rccl-tests.
[[nodiscard]] Measurement read_nccl_tests_log(std::string_view text, const std::string& name,
                                              const ImportHints& hints = {});

/// True if a line of the text is a table's header or a data row.
[[nodiscard]] bool looks_like_nccl_tests(std::string_view text);

}  // namespace busbar
