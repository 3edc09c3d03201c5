// Any file of measured collectives.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// Recognises by content: text of nccl-tests or rccl-tests, their JSON (-J), output of the OSU benchmarks
/// (osu.h), lines of NCCL's inspector (nccl_inspector.h), CSV (measured_csv.h), busbar.measured/1. Throws Error: kInput with the kinds that are known, or the reader's own.
[[nodiscard]] Measurement read_measured(const std::string& path, const ImportHints& hints = {});
/// The same for a text called `name`.
[[nodiscard]] Measurement read_measured_text(std::string_view text, const std::string& name,
                                             const ImportHints& hints = {});

}  // namespace busbar
