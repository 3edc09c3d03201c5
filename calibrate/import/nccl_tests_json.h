// The JSON that nccl-tests writes with -J.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// One table per data type, reduction and root. A file that ends early (the run died) is read up to its last
/// complete object. Results without out-of-place figures (null, "nan") are left out. Keys are not closed:
/// they are nccl-tests' to change. Throws Error (kInput): not JSON, fields of the wrong kind, no results, an
/// operation that nothing tells. Not modelled: per-iteration times. Source: NVIDIA/nccl-tests src/util.cu,
/// release 2.19, format version 3.
[[nodiscard]] Measurement read_nccl_tests_json(std::string_view text, const std::string& name,
                                               const ImportHints& hints = {});

/// The text with the objects and arrays that a cut left open closed after their last complete element; the
/// text itself where nothing is open.
[[nodiscard]] std::string closed_json(std::string_view text);

}  // namespace busbar
