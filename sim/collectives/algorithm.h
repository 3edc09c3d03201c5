// THE table of collective algorithms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collectives/plan.h"
#include "sim/collectives/schedule.h"

namespace busbar {

/// What an algorithm's plan needs routed.
/// Pipelines (the last four) are routed as rounds under the ideal profile, which has no pipelining.
enum class Wiring : std::uint8_t {
  kRings,
  kChainsFromRoot,
  kChainsToRoot,
  kRounds,
  kNeighbours,
  kTrees,
  kSwitch,        // the NVSwitch reduces and multicasts
  kSwitchTrees,   // that inside hosts, trees between them
  kNetworkSwitch  // the network reduces
};
[[nodiscard]] bool is_pipeline(Wiring wiring);

/// One algorithm for one operation, in one file.
struct Algorithm {
  std::string_view name;  // "ring"
  CollectiveKind kind;
  std::string_view help;
  Wiring wiring;
  Schedule (*schedule)(const GroupShape&);                    // the steps, for small groups
  Plan (*plan)(const PlanRequest&);                           // the time, linear in ranks
  std::vector<Round> (*rounds)(const GroupShape&) = nullptr;  // for kRounds
  std::string (*refusal)(const GroupShape&) = nullptr;        // why a shape cannot run it; "": it can
  bool uses_switches = false;  // its sends and rounds name switches (GroupShape says which)
};

/// Per operation, the first row is the one that is taken when nothing else is asked for.
[[nodiscard]] std::span<const Algorithm> algorithms();
/// nullptr when the table has no such row. An empty name gives the default.
[[nodiscard]] const Algorithm* find_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace busbar
