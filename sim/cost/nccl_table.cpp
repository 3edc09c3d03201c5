#include "sim/cost/nccl_table.h"

#include <limits>

#include "sim/base/error.h"
#include "sim/cost/nccl_cell.h"
#include "sim/cost/nccl_constants.h"

namespace busbar {

namespace {

constexpr std::size_t at(NcclAlgorithm algorithm) { return static_cast<std::size_t>(algorithm); }
constexpr std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }

// NCCL prices a barrier as the all_reduce that stands for it.
CollectiveKind priced_as(CollectiveKind kind) {
  const CollectiveKind priced = kind == CollectiveKind::kBarrier ? CollectiveKind::kAllReduce : kind;
  BUSBAR_CHECK(priced == CollectiveKind::kAllReduce || priced == CollectiveKind::kBroadcast ||
               priced == CollectiveKind::kReduce || nccl_is_gather(priced));
  return priced;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kReduce;
}

// The NVSwitch adds 16, 32 and 64 bit types. With 8-bit ones published runs fall back to rings: int8
// all_reduce on 8 x H100 and H200 gives a ring's 353 GB/s (NVIDIA aiconfigurator tables).
bool switch_adds(DataType type) { return type != DataType::kInt8 && type != DataType::kFp8; }

bool in_switch(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::kNvls || algorithm == NcclAlgorithm::kNvlsTree;
}

// A ring adds in FP8 as often as it has ranks, which loses precision: NCCL prices it out of the way.
bool avoids_ring(DataType type, const NcclCellFacts& p) {
  return type == DataType::kFp8 && reduces(p.kind) && p.facts.ranks > 8;
}
constexpr double kAvoided = 1024;

NcclCells computed_cells(DataType type, const NcclCellFacts& price) {
  NcclCells cells;
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      const auto algorithm = static_cast<NcclAlgorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      if (!nccl_available(algorithm, protocol, price)) continue;
      if (in_switch(algorithm) && reduces(price.kind) && !switch_adds(type)) continue;
      NcclCell cell = {nccl_latency_us(algorithm, protocol, price),
                       nccl_bandwidth_GBps(algorithm, protocol, price)};
      if (algorithm == NcclAlgorithm::kRing && avoids_ring(type, price))
        cell = {cell.latency_us * kAvoided, cell.bandwidth_GBps / kAvoided};
      cells[a][p] = cell;
    }
  return cells;
}

const LoggedTable* logged_table(CollectiveKind kind, const GroupFacts& facts, const NcclSettings& settings) {
  const NcclLog* log = nccl_log_of(facts, settings);
  if (log == nullptr) return nullptr;
  for (const LoggedTable& table : log->tables)
    if (table.kind == kind) return &table;
  return nullptr;
}

// What the user forbids stays forbidden.
NcclCells allowed(NcclCells cells, CollectiveKind kind, const NcclSettings& settings) {
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    for (std::size_t p = 0; p < kNcclProtocols; ++p)
      if (!nccl_allowed(static_cast<NcclAlgorithm>(a), static_cast<Protocol>(p), kind, settings))
        cells[a][p] = {};
  return cells;
}

}  // namespace

NcclTable nccl_table(CollectiveKind kind, DataType type, const GroupFacts& facts,
                     const NcclSettings& settings) {
  BUSBAR_CHECK(facts.ranks >= 1 && facts.hosts >= 1 && facts.hosts <= facts.ranks);
  NcclTable table = {.kind = priced_as(kind), .cells = {}, .graphs = nccl_graphs(facts, settings)};
  if (facts.ranks == 1) {
    table.cells[at(NcclAlgorithm::kRing)][at(Protocol::kSimple)].bandwidth_GBps =
        std::numeric_limits<double>::infinity();
    return table;
  }
  if (const LoggedTable* logged = logged_table(table.kind, facts, settings)) {
    table.cells = allowed(logged->cells, table.kind, settings);
    table.logged = true;
    return table;
  }
  table.cells = computed_cells(type, {.kind = table.kind,
                                      .facts = facts,
                                      .settings = settings,
                                      .graphs = table.graphs,
                                      .constants = nccl_constants(settings.version),
                                      .generation = nccl_generation(facts.cc_least)});
  return table;
}

}  // namespace busbar
