// What NCCL_DEBUG=INFO prints of a communicator and of NCCL's choices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/cost/nccl_types.h"

namespace busbar {

struct NcclDebugLog {
  NcclLog log;
  std::int64_t skipped = 0;  // lines of tables and calls that were torn, or whose names are unknown
};

/// Any number of processes' lines, with or without launchers' labels before them.
/// Version; ranks, hosts, channel counts and table of the largest communicator that printed a table (of the
/// largest, if none did); every distinct per-call line, in both forms:
///   AllReduce: B Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}
///   [AllReduce: ]B Bytes -> Algo 1 proto 2 time t
/// Tables: the blocks of three algorithms under "Algorithm | ..." and "Protocol | ...", and the single line
/// of columns under "Latency/AlgBw | Tree/LL | ..." before 2.18. A call without a function is of the
/// operation whose "opCount" line the same process printed last, else of the nccl-tests program named before.
/// Algorithms by number are those of the release that has them: numbers were only ever appended.
/// Throws Error (kInput) if there is neither a table nor a call, naming the settings that print them.
/// Source: NVIDIA/nccl src/graph/tuning.cc, src/enqueue.cc, src/init.cc, releases 2.7 to 2.28.
[[nodiscard]] NcclDebugLog read_nccl_debug_log(std::string_view text, const std::string& name);
[[nodiscard]] NcclDebugLog load_nccl_debug_log(const std::string& path);

}  // namespace busbar
