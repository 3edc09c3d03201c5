// Which algorithm, protocol and channels an operation runs with: NCCL's choice, or the user's.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/p2p_channels.h"

namespace busbar {

namespace {

// NCCL prices these; the others are grouped sends and receives.
bool is_priced(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kBarrier:
      return true;
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return false;
  }
  return false;
}

// --algorithm is for the collectives that have the row; barriers and sends keep their only one.
const Algorithm& find_or_throw(CollectiveKind kind, const GroupRoutes& routes,
                               const std::optional<std::string>& wanted) {
  const bool fixed = kind == CollectiveKind::kSendRecv || kind == CollectiveKind::kBarrier;
  std::string name = wanted && !fixed ? *wanted : "";
  if (NcclAlgorithm known{}; parse_nccl_algorithm(name, known)) name = name_of(known);
  const Algorithm* row = find_algorithm(kind, name);
  if (row == nullptr) {
    std::string known;
    for (const Algorithm& other : algorithms())
      if (other.kind == kind) known += (known.empty() ? "" : ", ") + std::string(other.name);
    throw Error({.where = "--algorithm",
                 .expected = fmt::format("an algorithm for {} ({})", name_of(kind), known),
                 .given = quoted(name)});
  }
  if (row->refusal == nullptr) return *row;
  const std::string refusal = row->refusal({routes.ranks, 0, routes.by_host});
  if (!refusal.empty())
    throw Error({.where = "--algorithm",
                 .message = fmt::format("{} cannot run {} on {} ranks: {}", row->name, name_of(kind),
                                        routes.ranks, refusal)});
  return *row;
}

// Barriers are all_reduces of nothing.
CollectiveKind priced_as(CollectiveKind kind) {
  return kind == CollectiveKind::kBarrier ? CollectiveKind::kAllReduce : kind;
}

// The settings with what --algorithm and --protocol leave of the table, and without what has no row here.
NcclSettings narrowed(CollectiveKind kind, const Overrides& overrides) {
  NcclSettings settings = overrides.nccl;
  auto& algorithms = settings.algorithms[static_cast<std::size_t>(kind)];
  EnabledSet<kNcclAlgorithms> allowed{};
  std::optional<NcclAlgorithm> wanted;
  if (NcclAlgorithm a{}; overrides.algorithm && parse_nccl_algorithm(*overrides.algorithm, a)) wanted = a;
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
    const auto algorithm = static_cast<NcclAlgorithm>(a);
    const bool asked = wanted ? algorithm == *wanted : !algorithms || (*algorithms)[a];
    allowed[a] = asked && find_algorithm(kind, name_of(algorithm)) != nullptr;
  }
  algorithms = allowed;
  // What is asked for by name is meant, whatever the library's default.
  if (wanted == NcclAlgorithm::kCollNetDirect || wanted == NcclAlgorithm::kCollNetChain)
    settings.collnet = true;
  if (overrides.protocol) {
    EnabledSet<kNcclProtocols> one{};
    one[static_cast<std::size_t>(*overrides.protocol)] = true;
    settings.protocols[static_cast<std::size_t>(kind)] = one;
  }
  if (wanted || overrides.protocol) {
    settings.tuner.clear();
    if (settings.log) settings.log->calls.clear();
  }
  return settings;
}

// Names the options where they, and not the library's settings, ask for what NCCL would not run.
void check_asked(const NcclTable& table, const GroupFacts& facts, const Overrides& overrides) {
  if (!overrides.algorithm && !overrides.protocol) return;
  for (const auto& row : table.cells)
    for (const NcclCell& cell : row)
      if (cell.bandwidth_GBps > 0) return;
  std::string asked = overrides.algorithm.value_or("");
  if (overrides.protocol) asked += (asked.empty() ? "" : " / ") + std::string(name_of(*overrides.protocol));
  throw Error({.where = overrides.algorithm ? "--algorithm" : "--protocol",
               .message = fmt::format("NCCL does not run {} as {} on this group of {} ranks",
                                      name_of(table.kind), asked, facts.ranks)});
}

Choice priced_choice(const Operation& op, const Overrides& overrides) {
  const CollectiveKind kind = priced_as(op.kind);
  const NcclSettings settings = narrowed(kind, overrides);
  const GroupFacts& facts = op.routes->facts;
  const NcclTable table = nccl_table(kind, op.type, facts, settings);
  check_asked(table, facts, overrides);
  const NcclChoice best = nccl_choose(table, op.bytes, facts, settings);
  Choice choice{.nccl = best.algorithm, .protocol = best.protocol};
  choice.algorithm = op.kind == CollectiveKind::kBarrier ? find_algorithm(op.kind, "")
                                                         : find_algorithm(op.kind, name_of(best.algorithm));
  if (op.kind == CollectiveKind::kBarrier) choice.nccl = NcclAlgorithm::kRing;
  choice.channels = overrides.channels.value_or(nccl_launched_channels(best, op.bytes, facts));
  return choice;
}

Choice grouped_choice(const Operation& op, const Algorithm& row, const Overrides& overrides) {
  const NcclGraphs graphs = nccl_graphs(op.routes->facts, overrides.nccl);
  Choice choice{.algorithm = &row, .protocol = overrides.protocol.value_or(Protocol::kSimple)};
  choice.channels = overrides.channels.value_or(
      op.kind == CollectiveKind::kSendRecv ? p2p_channels(op.bytes, op.routes->facts, graphs, overrides.nccl)
                                           : graphs.p2p_channels);
  return choice;
}

}  // namespace

std::optional<NcclTable> table_of(const Operation& op, const Overrides& overrides) {
  if (!is_priced(op.kind)) return std::nullopt;
  const CollectiveKind kind = priced_as(op.kind);
  return nccl_table(kind, op.type, op.routes->facts, narrowed(kind, overrides));
}

std::optional<NcclDecider> decider_of(const Operation& op, const Overrides& overrides) {
  if (!is_priced(op.kind) || op.routes->ranks < 2) return std::nullopt;
  NcclAlgorithm known{};
  const bool named = overrides.algorithm && op.kind != CollectiveKind::kBarrier;
  if (named && !parse_nccl_algorithm(*overrides.algorithm, known)) return std::nullopt;
  const NcclSettings settings = narrowed(priced_as(op.kind), overrides);
  const NcclTable table = nccl_table(priced_as(op.kind), op.type, op.routes->facts, settings);
  return nccl_choose(table, op.bytes, op.routes->facts, settings).decider;
}

Choice choose(const Operation& op, const Profile& profile, const Overrides& overrides) {
  const GroupRoutes& routes = *op.routes;
  const Algorithm& row = find_or_throw(op.kind, routes, overrides.algorithm);
  if (profile.ideal || routes.ranks <= 1)
    return {.algorithm = &row,
            .protocol = profile.ideal ? Protocol::kIdeal : overrides.protocol.value_or(Protocol::kSimple),
            .channels = overrides.channels.value_or(1)};
  if (!is_priced(op.kind)) return grouped_choice(op, row, overrides);
  NcclAlgorithm known{};
  if (overrides.algorithm && !parse_nccl_algorithm(row.name, known)) {
    const NcclGraphs graphs = nccl_graphs(routes.facts, overrides.nccl);
    return {.algorithm = &row,
            .protocol = overrides.protocol.value_or(Protocol::kSimple),
            .channels = overrides.channels.value_or(graphs.channels)};
  }
  return priced_choice(op, overrides);
}

}  // namespace busbar
