// Measured collectives as they come from logs and tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// One size. `size` is nccl-tests' size: the full buffer for gathers and scatters.
struct MeasuredRow {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  Bytes size;
  std::int64_t ranks = 0;  // 0: the source does not say
  Time time;               // out of place
  std::optional<Time> time_in_place;
  std::optional<Time> p10, p90;                    // of repeated batches
  std::optional<std::string> algorithm, protocol;  // as the source spells them
  std::optional<std::int64_t> channels;
};

/// The rows of one operation on one set of ranks, sizes in the order of the source.
struct MeasuredTable {
  std::string source;  // the file, and the line where the table begins
  CollectiveKind operation = CollectiveKind::kAllReduce;
  std::int64_t ranks = 0;             // 0: the source does not say
  std::optional<std::int64_t> hosts;  // from a complete list of ranks
  std::string type;                   // as nccl-tests spells it: "float", "bfloat16"; "" if not said
  std::optional<Reduction> reduction;
  std::optional<std::int64_t> root;
  std::string nccl_version;  // "2.27.3", "" if not said
  std::optional<std::int64_t> gpus_per_process;
  std::optional<bool> cuda_graph;
  std::optional<Time> launch;          // of one GPU's kernel, by a process that drives several, where known
  std::string gpu;                     // the name of the first rank's device, "" if not said
  std::vector<std::uint32_t> members;  // which ranks of a topology took part; empty: not said
  std::vector<std::string> member_hosts;  // the host of each rank by name, where the source lists them all
  bool isolated = false;                  // each operation alone, not back to back
  std::vector<MeasuredRow> rows;          // at least one
  std::vector<std::string> notes;         // what was skipped, repaired or doubted, one sentence each
};

/// What one GPU did by itself.
enum class MeasuredKernelKind : unsigned char { kCopy, kMatmul, kLaunch };
struct MeasuredKernel {
  std::string where;  // file and place
  MeasuredKernelKind kind = MeasuredKernelKind::kCopy;
  std::optional<std::uint32_t> rank;    // of a topology; none: not said
  Bytes bytes;                          // of a copy: of the buffer, which is read once and written once
  std::array<std::int64_t, 3> shape{};  // of a matmul: m, n, k
  DataType type = DataType::kBf16;
  Time time;
};

struct Measurement {
  std::vector<MeasuredTable> tables;
  std::vector<MeasuredKernel> kernels;
};

}  // namespace busbar
