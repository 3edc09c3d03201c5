// Lines of NCCL's (and RCCL's) inspector plugin: one JSON object per operation and rank.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// Its first line is an object with the keys "header" and "coll_perf" (or "p2p_perf").
[[nodiscard]] bool looks_like_nccl_inspector(std::string_view text);

/// One table per communicator (its `id`), operation, number of ranks and way of timing. An operation takes as
/// long as its slowest rank; operations of one size, algorithm and protocol give the median. A table's hosts
/// are its ranks' host names. Sizes: the plugin divides what the whole group moves by the time, so that its
/// own algbw tells whether coll_msg_size_bytes is one rank's part. Lines of point-to-point operations are left
/// out, with a note. Keys are open: the format grows.
/// Throws Error (kInput) with the line: not JSON, figures that are missing; no operation that is modelled.
[[nodiscard]] Measurement read_nccl_inspector(std::string_view text, const std::string& name);

}  // namespace busbar
