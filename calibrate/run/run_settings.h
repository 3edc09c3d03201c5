// What `calibrate --run` measures, and how carefully.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// Whose members take part. Written "all", "hosts" (the first rank of every host), "hosts:K" (of the first K
/// hosts), "host:K" (the first K ranks of the first host that has them), "each-host" (all ranks of a host,
/// host by host) and "neighbours" (the first ranks of each host and the next).
struct RunGroup {
  enum class Kind : unsigned char { kAll, kOnePerHost, kOfAHost, kEachHost, kNeighbours };
  Kind kind = Kind::kAll;
  std::int64_t limit = 0;  // the K, 0: all
};

/// Errors (Error, kInput, place `where`): no such shape.
[[nodiscard]] RunGroup parse_run_group(const std::string& text, const std::string& where);

struct RunSettings {
  std::vector<CollectiveKind> operations;  // empty: all that the library offers but barrier
  std::vector<RunGroup> groups;            // empty: all, hosts, hosts:2, host:2, host:4, host:8
  std::vector<Bytes> sizes;                // ascending, at least one
  std::vector<std::string> algorithms;  // forced ones to use; "own": the library's choice; empty: every one
  std::vector<std::string> protocols;   // forced ones to use; empty: every one
  bool isolated = true;                 // isolated times beside those back to back
  bool in_place = false;                // in-place times beside those out of place
  bool kernels = true;                  // copies, products and launches of single devices
  std::int64_t repetitions = 7;         // batches whose median counts
  double shortest_batch_s = 0.01;       // operations are repeated until a batch takes this long
  double budget_s = std::numeric_limits<double>::infinity();
};

/// Batches longer than this are repeated only kFewestRepetitions times: their spread is small against
/// their length.
inline constexpr double kLongBatch_s = 0.25;
inline constexpr std::int64_t kFewestRepetitions = 3;

}  // namespace busbar
