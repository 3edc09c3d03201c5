// Single lines of an NCCL_DEBUG=INFO log.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/cost/nccl_types.h"

namespace busbar {

/// "host:pid:tid [dev] NCCL INFO text".
struct DebugLine {
  std::string_view thread;   // "host:pid:tid", "" if not printed
  std::string_view process;  // "host:pid"
  std::string_view text;
  bool torn = false;  // a second line begins inside
};
/// nullopt for a line that is not NCCL's.
[[nodiscard]] std::optional<DebugLine> parse_debug_line(std::string_view line);

struct TableColumn {
  std::optional<NcclAlgorithm> algorithm;  // absent: one that is not modelled
  Protocol protocol = Protocol::kLl;
};
/// The columns that "Algorithm | Tree | Ring |" or "Latency/AlgBw | Tree/LL | ..." heads; empty for other
/// text.
[[nodiscard]] std::vector<TableColumn> parse_columns(std::string_view text);

struct TableRow {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<NcclCell> cells;
};
/// "AllReduce | 6.8/ 3.0 | ...": true for a line of that shape; `out` is empty if it is damaged.
bool parse_table_row(std::string_view text, std::optional<TableRow>& out);

struct DebugCall {
  std::optional<CollectiveKind> kind;
  LoggedCall call;
};
/// A "... Bytes -> Algo ..." line: true for a line of that shape; `out` is empty if it is damaged.
bool parse_call(std::string_view text, std::optional<DebugCall>& out);

struct ChannelCounts {
  std::optional<std::int64_t> channels, nvls, p2p, p2p_per_peer;
};
/// "4 coll channels, 0 collnet channels, 0 nvls channels, 4 p2p channels, 2 p2p channels per peer".
[[nodiscard]] std::optional<ChannelCounts> parse_channel_counts(std::string_view text);

}  // namespace busbar
