// Why an operation runs as it does: NCCL's table of estimates, what overruled it, and the ways between GPUs.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cost/nccl_constants.h"
#include "sim/replay/explain.h"
#include "sim/replay/replay.h"

namespace busbar {

namespace {

CollectiveKind priced_as(CollectiveKind kind) {
  return kind == CollectiveKind::kBarrier ? CollectiveKind::kAllReduce : kind;
}

std::string version_text(const NcclVersion& version) {
  return fmt::format("NCCL {} (constants since {})", to_text(version),
                     to_text(nccl_constants(version).since));
}

// "that --algorithm ring and NCCL_PROTO leave", "" where all are free.
std::string limits_text(CollectiveKind kind, const Overrides& overrides) {
  const auto k = static_cast<std::size_t>(priced_as(kind));
  std::string algorithm, protocol;
  if (overrides.algorithm && kind != CollectiveKind::kBarrier) {
    algorithm = "--algorithm " + *overrides.algorithm;
  } else if (overrides.nccl.algorithms[k]) {
    algorithm = "NCCL_ALGO";
  }
  if (overrides.protocol) {
    protocol = fmt::format("--protocol {}", name_of(*overrides.protocol));
  } else if (overrides.nccl.protocols[k]) {
    protocol = "NCCL_PROTO";
  }
  if (algorithm.empty() && protocol.empty()) return "";
  if (algorithm.empty()) return fmt::format(" that {} leaves", protocol);
  if (protocol.empty()) return fmt::format(" that {} leaves", algorithm);
  return fmt::format(" that {} and {} leave", algorithm, protocol);
}

std::string decider_text(const OperationRecord& record, std::optional<NcclDecider> decider, bool logged,
                         const Overrides& overrides) {
  if (!decider) return fmt::format("forced by --algorithm {}, which NCCL has not", record.algorithm);
  switch (*decider) {
    case NcclDecider::kLoggedCall:
      return "the log's own line for this size decided";
    case NcclDecider::kTunerRule:
      return "a rule of the tuner file decided";
    case NcclDecider::kEstimates:
      return fmt::format("the least estimate{}{} decided", logged ? " of the table that the log printed" : "",
                         limits_text(record.kind, overrides));
  }
  return "";
}

PricedChoice cell_of(const NcclTable& table, std::size_t a, std::size_t p) {
  const NcclCell& cell = table.cells[a][p];
  PricedChoice choice{.algorithm = std::string(name_of(static_cast<NcclAlgorithm>(a))),
                      .protocol = std::string(name_of(static_cast<Protocol>(p))),
                      .available = cell.bandwidth_GBps > 0};
  if (!choice.available) return choice;
  choice.latency_s = cell.latency_us * 1e-6;
  choice.bandwidth_Bps = cell.bandwidth_GBps * 1e9;
  return choice;
}

}  // namespace

PricedChoices priced_choices(PlanCache& plans, const OperationRecord& record) {
  const std::optional<NcclTable> forced = plans.table_of(record);
  if (!forced) return {};
  NcclTable table = plans.whole_table_of(record).value();
  // What the user forces may be what NCCL would not offer.
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    for (std::size_t p = 0; p < kNcclProtocols; ++p)
      if (forced->cells[a][p].bandwidth_GBps > 0) table.cells[a][p] = forced->cells[a][p];
  const Overrides& overrides = plans.overrides();
  PricedChoices choices;
  choices.decided_by = version_text(overrides.nccl.version) + ": " +
                       decider_text(record, plans.decider_of(record), table.logged, overrides);
  if (overrides.channels) choices.decided_by += fmt::format("; --channels {}", *overrides.channels);
  const GroupFacts& facts = plans.facts_of(record);
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      PricedChoice choice = cell_of(table, a, p);
      if (choice.available)
        choice.estimate_s =
            1e-6 * nccl_estimate_us(table, static_cast<NcclAlgorithm>(a), static_cast<Protocol>(p),
                                    record.bytes, facts, overrides.nccl);
      choice.chosen = choice.algorithm == record.algorithm && choice.protocol == record.protocol;
      choices.cells.push_back(std::move(choice));
    }
  return choices;
}

std::optional<Warning> unused_log_warning(const Replay& replay) {
  const NcclSettings& settings = replay.plans().overrides().nccl;
  if (!settings.log) return std::nullopt;
  for (std::size_t g = 0; g < replay.trace().groups.size(); ++g) {
    const GroupRoutes* routes = replay.plans().routes(GroupId::from_index(g));
    if (routes != nullptr && nccl_log_of(routes->facts, settings) != nullptr) return std::nullopt;
  }
  const NcclLog& log = *settings.log;
  const std::string hosts = log.hosts == 0 ? "" : fmt::format(" on {} hosts", log.hosts);
  return Warning{"nccl-log-unused",
                 fmt::format("the NCCL log is of {} ranks{}, no group here is: nothing of it but its version "
                             "is used",
                             log.ranks, hosts)};
}

std::vector<TransportUse> transports_of(Replay& replay, const OperationRecord& record,
                                        const PlannedOperation& planned) {
  const GroupRoutes& routes = *planned.routes;
  const Profile& profile = replay.plans().profile();
  std::vector<TransportUse> uses;
  const auto add = [&](const char* where, Transport transport, double efficiency) {
    uses.push_back({.where = where,
                    .transport = std::string(name_of(transport)),
                    .hop_latency = planned.costs.hop[static_cast<std::size_t>(transport)],
                    .efficiency = profile.ideal ? 1 : efficiency});
  };
  if (routes.ranks > routes.hosts) {
    const Generation& generation = replay.placement().oldest(replay.plans().members_of(record));
    add("in a host", routes.intra_transport,
        host_transport(routes.intra_transport, profile, generation).efficiency);
  }
  if (routes.hosts > 1)
    add("between hosts", routes.inter_transport, profile.network(routes.inter_transport).efficiency);
  return uses;
}

std::string beyond_line_rate(const OperationRecord& record, const GroupRoutes& routes) {
  const bool all_reduce = record.kind == CollectiveKind::kAllReduce;
  const auto than = [](const char* whose, Bandwidth rate) {
    return fmt::format("busbw may exceed the {} {:.4g} GB/s", whose, rate.Bps() / 1e9);
  };
  if (routes.hosts == 1) {
    if (!all_reduce || record.algorithm != "nvls" || routes.ranks < 4) return "";
    return "the NVSwitch reduces: a GPU's links carry (1 + 1/n) S each way, not 2(n-1)/n S, so " +
           than("links'", routes.intra);
  }
  const bool tree = record.algorithm == "tree" || record.algorithm == "nvls-tree";
  if (all_reduce && tree && routes.hosts == 2)
    return "two hosts: each host's NICs carry S each way, not 2(n-1)/n S, so " + than("NICs'", routes.inter);
  if (all_reduce && record.algorithm.starts_with("collnet"))
    return "the network reduces: each host's NICs carry S each way, not 2(n-1)/n S, so " +
           than("NICs'", routes.inter);
  if (all_reduce && record.algorithm == "hierarchical")
    return fmt::format(
        "rings between {0} hosts: each host's NICs carry 2 ({0}-1)/{0} S each way, not "
        "2(n-1)/n S, so {1}",
        routes.hosts, than("NICs'", routes.inter));
  if (record.kind == CollectiveKind::kAllToAll)
    return "part of the data stays inside the hosts, so " + than("NICs'", routes.inter);
  return "";
}

}  // namespace busbar
