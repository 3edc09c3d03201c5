// A run as busbar.measured/1.
#pragma once

#include <string>
#include <vector>

#include "calibrate/run/journal.h"

namespace busbar {

/// The text of the file: rows sorted by operation, group, choice and size, back-to-back before isolated,
/// out-of-place before in-place; `machine` and `notes` beside them. docs/formats.md has the keys.
[[nodiscard]] std::string measured_json(const Machine& machine, const JournalContents& contents,
                                        const std::vector<std::string>& notes);

}  // namespace busbar
