#include "validate/seen_network.h"

#include <cmath>

#include "sim/base/named_table.h"
#include "sim/replay/lone_collective.h"
#include "topologies/host_type.h"
#include "topologies/topology_io.h"

namespace busbar {

namespace {

// The size that the jobs of the Nanotron sweep gather as they start. Source: its published tables.
constexpr std::int64_t kGathered = std::int64_t{256} << 20U;
constexpr double kStep = 0.05;  // jobs within this share of each other are one

Bandwidth nominal(const Machine& machine) {
  if (machine.nic) return *machine.nic;
  const HostType* type = find_row(host_types(), machine.host);
  BUSBAR_CHECK(type != nullptr);
  return type->nic;
}

}  // namespace

// nccl-tests: busbw = (n - 1) / n x size / time.
double SeenNetwork::busbw(const Machine& machine) const {
  const Topology topology = read_topology(JsonDocument::parse(topology_text(machine), machine.host), 1);
  const auto n = static_cast<std::uint32_t>(topology.ranks().size());
  std::vector<std::uint32_t> ranks(n);
  for (std::uint32_t r = 0; r < n; ++r) ranks[r] = r;
  LoneCollective gather(topology, *profile_, {.ranks = ranks, .kind = CollectiveKind::kAllGather});
  const std::int64_t whole = kGathered / (std::int64_t{4} * n) * (std::int64_t{4} * n);
  return static_cast<double>(whole) * (n - 1) / n / gather.time(Bytes(whole)).seconds();
}

// Bisection over the logarithm: the rate grows with the NIC's.
Bandwidth SeenNetwork::solve(Machine machine) const {
  const double seen = machine.seen_all_gather->Bps();
  const Bandwidth most = nominal(machine);
  machine.nic = most;
  if (busbw(machine) <= seen) return most;
  double low = std::log(most.Bps() / 1024), high = std::log(most.Bps());
  while (high - low > kStep / 2) {
    const double middle = (low + high) / 2;
    machine.nic = Bandwidth::bytes_per_second(std::exp(middle));
    (busbw(machine) < seen ? low : high) = middle;
  }
  return Bandwidth::bytes_per_second(std::exp((low + high) / 2));
}

void SeenNetwork::apply(Machine& machine) {
  if (!machine.seen_all_gather) return;
  const int bin = static_cast<int>(std::lround(std::log(machine.seen_all_gather->Bps()) / kStep));
  const auto key = std::make_tuple(machine.host, machine.hosts, machine.gpus_per_host, bin);
  auto found = known_.find(key);
  if (found == known_.end()) {
    Machine typical = machine;
    typical.seen_all_gather = Bandwidth::bytes_per_second(std::exp(bin * kStep));
    found = known_.emplace(key, solve(typical)).first;
  }
  machine.nic = found->second;
}

}  // namespace busbar
