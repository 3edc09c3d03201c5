// Output of the OSU micro-benchmarks: two columns under a title.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// A line "# OSU MPI... Test".
[[nodiscard]] bool looks_like_osu(std::string_view text);

/// Latency tests of allreduce, allgather, reduce_scatter, alltoall, bcast, reduce, gather and scatter: the
/// average time, each call alone; latency, bandwidth and bidirectional bandwidth of two ranks: send_recv, with
/// a note. What OSU gives per rank or pair (allgather, alltoall, gather, scatter) becomes nccl-tests' full
/// buffer. The number of ranks is the hint's, or two. Tests that are not modelled are left out.
/// Throws Error (kInput): a collective without the hint, a row that is none, no test that is modelled.
[[nodiscard]] Measurement read_osu(std::string_view text, const std::string& name, const ImportHints& hints);

}  // namespace busbar
