// What NCCL makes of its table for one message.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "sim/base/error.h"
#include "sim/cost/nccl_constants.h"
#include "sim/cost/nccl_table.h"

namespace busbar {

namespace {

constexpr std::size_t at(NcclAlgorithm algorithm) { return static_cast<std::size_t>(algorithm); }
constexpr std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }

// A long ring's latency shows once a channel moves this much per rank. Source: NVIDIA/nccl
// src/graph/tuning.cc v2.28.9.
constexpr std::int64_t kPlateauBytes = 64;
constexpr double kPlateauVolta = 1.9, kPlateau = 1.4;

const NcclCell& cell_of(const NcclTable& table, NcclAlgorithm algorithm, Protocol protocol) {
  return table.cells[at(algorithm)][at(protocol)];
}

double latency_factor(const NcclTable& table, Bytes bytes, const GroupFacts& facts) {
  if (table.kind != CollectiveKind::kAllReduce || facts.hosts <= 1) return 1;
  const std::int64_t parts = table.graphs.channels * std::int64_t{facts.ranks};
  if (bytes.count() / parts < kPlateauBytes) return 1;
  return facts.cc_least < 80 ? kPlateauVolta : kPlateau;
}

bool is_x86(CpuVendor cpu) { return cpu == CpuVendor::kIntel || cpu == CpuVendor::kAmd; }

// Trees fall short of the model at middle sizes.
double bandwidth_factor(NcclAlgorithm algorithm, Protocol protocol, Bytes bytes, const GroupFacts& facts,
                        const NcclConstants& constants) {
  const bool nvls_tree = algorithm == NcclAlgorithm::kNvlsTree && constants.corrects_nvls_tree &&
                         facts.cc_least >= 100 && is_x86(facts.cpu);
  if ((algorithm != NcclAlgorithm::kTree && !nvls_tree) || bytes.count() < 64) return 1;
  const auto index =
      static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes.count()) >> 6) - 1);
  return index < constants.corrected_sizes ? nccl_tree_correction(protocol, index) : 1;
}

std::int64_t channels_of(NcclAlgorithm algorithm, const NcclGraphs& graphs) {
  const bool nvls = algorithm == NcclAlgorithm::kNvls || algorithm == NcclAlgorithm::kNvlsTree;
  return nvls ? std::max<std::int64_t>(1, graphs.nvls_channels) : graphs.channels;
}

bool divides_buffer(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
}

// A log prints count x element size, which for gathers is one rank's part.
const LoggedCall* logged_call(const NcclTable& table, Bytes bytes, const GroupFacts& facts,
                              const NcclSettings& settings) {
  const NcclLog* log = nccl_log_of(facts, settings);
  if (log == nullptr) return nullptr;
  const std::int64_t parts = divides_buffer(table.kind) ? facts.ranks : 1;
  for (const LoggedCall& call : log->calls)
    if (call.kind == table.kind && bytes.count() % parts == 0 && call.bytes.count() == bytes.count() / parts)
      return &call;
  return nullptr;
}

const TunerRule* tuner_rule(const NcclTable& table, Bytes bytes, const GroupFacts& facts,
                            const NcclSettings& settings) {
  for (const TunerRule& rule : settings.tuner) {
    const bool applies = rule.kind == table.kind && rule.least <= bytes && bytes <= rule.most &&
                         rule.hosts.value_or(facts.hosts) == facts.hosts &&
                         rule.ranks.value_or(facts.ranks) == facts.ranks;
    if (applies && cell_of(table, rule.algorithm, rule.protocol).bandwidth_GBps > 0) return &rule;
  }
  return nullptr;
}

Error nothing_left(CollectiveKind kind) {
  return Error({.kind = ErrorKind::kInput,
                .where = {},
                .expected = {},
                .given = {},
                .message = "NCCL_ALGO and NCCL_PROTO leave no algorithm for " + std::string(name_of(kind)),
                .suggestion = "allow ring and Simple, which always work"});
}

NcclChoice least_estimate(const NcclTable& table, Bytes bytes, const GroupFacts& facts,
                          const NcclSettings& settings) {
  NcclChoice best = {.estimate_us = std::numeric_limits<double>::infinity()};
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      if (table.cells[a][p].bandwidth_GBps <= 0) continue;
      const auto algorithm = static_cast<NcclAlgorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      const double us = nccl_estimate_us(table, algorithm, protocol, bytes, facts, settings);
      if (us < best.estimate_us)
        best = {.algorithm = algorithm,
                .protocol = protocol,
                .channels = channels_of(algorithm, table.graphs),
                .estimate_us = us};
    }
  if (best.estimate_us == std::numeric_limits<double>::infinity()) throw nothing_left(table.kind);
  return best;
}

// Bytes per channel and thread below which NCCL takes fewer channels. Source: NVIDIA/nccl
// src/graph/tuning.cc, src/include/comm.h v2.28.9.
std::int64_t bytes_per_thread(const NcclChoice& choice, const GroupFacts& facts) {
  switch (choice.protocol) {
    case Protocol::kLl:
      return choice.algorithm == NcclAlgorithm::kRing ? 8 * std::int64_t{facts.ranks} : 8;
    case Protocol::kLl128:
      return 8;
    case Protocol::kSimple:
    case Protocol::kIdeal:
      return 64;
  }
  return 64;
}

// Threads per block before any shrinking; a ring no faster than PCIe Gen3 takes half.
std::int64_t threads_of(const NcclChoice& choice, const GroupFacts& facts) {
  if (choice.protocol == Protocol::kLl128) return 640;
  if (choice.protocol == Protocol::kLl || choice.algorithm != NcclAlgorithm::kRing) return 512;
  const NcclGraph ring = nccl_graphs(facts, {}).ring;
  return static_cast<double>(ring.channels) * ring.intra_GBps <= 12 ? 256 : 512;
}

}  // namespace

double nccl_estimate_us(const NcclTable& table, NcclAlgorithm algorithm, Protocol protocol, Bytes bytes,
                        const GroupFacts& facts, const NcclSettings& settings) {
  if (protocol == Protocol::kIdeal) return std::numeric_limits<double>::infinity();
  const NcclCell& cell = cell_of(table, algorithm, protocol);
  if (cell.bandwidth_GBps <= 0) return std::numeric_limits<double>::infinity();
  const bool ring = algorithm == NcclAlgorithm::kRing && protocol == Protocol::kSimple;
  const double latency = ring ? latency_factor(table, bytes, facts) : 1;
  const double bandwidth =
      table.kind == CollectiveKind::kAllReduce
          ? bandwidth_factor(algorithm, protocol, bytes, facts, nccl_constants(settings.version))
          : 1;
  // Bytes / (1000 x GB/s) are microseconds.
  return cell.latency_us * latency + bytes.as_double() / (1000 * cell.bandwidth_GBps * bandwidth);
}

NcclChoice nccl_choose(const NcclTable& table, Bytes bytes, const GroupFacts& facts,
                       const NcclSettings& settings) {
  const auto forced = [&](const auto& rule, NcclDecider decider) {
    return NcclChoice{
        .algorithm = rule.algorithm,
        .protocol = rule.protocol,
        .channels = rule.channels.value_or(channels_of(rule.algorithm, table.graphs)),
        .estimate_us = nccl_estimate_us(table, rule.algorithm, rule.protocol, bytes, facts, settings),
        .decider = decider};
  };
  if (const LoggedCall* call = logged_call(table, bytes, facts, settings))
    return forced(*call, NcclDecider::kLoggedCall);
  if (const TunerRule* rule = tuner_rule(table, bytes, facts, settings))
    return forced(*rule, NcclDecider::kTunerRule);
  return least_estimate(table, bytes, facts, settings);
}

// The most channels whose threads each get at least the protocol's share of the message, at least one.
std::int64_t nccl_launched_channels(const NcclChoice& choice, Bytes bytes, const GroupFacts& facts) {
  if (choice.algorithm != NcclAlgorithm::kRing && choice.algorithm != NcclAlgorithm::kTree)
    return choice.channels;
  const std::int64_t least = threads_of(choice, facts) * bytes_per_thread(choice, facts);
  return std::clamp<std::int64_t>(bytes.count() / least, 1, std::max<std::int64_t>(1, choice.channels));
}

}  // namespace busbar
