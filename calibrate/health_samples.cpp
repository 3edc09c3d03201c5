#include "calibrate/health_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "calibrate/observed.h"
#include "calibrate/single_kernels.h"

namespace busbar {

namespace {

constexpr std::int64_t kLargeFrom = 1 << 20;
constexpr std::int64_t kSmallTo = 16 << 10;

std::uint32_t host_of(const Topology& topology, std::uint32_t rank) {
  return topology.device(topology.ranks()[rank]).host;
}

std::string host_name(const Topology& topology, std::uint32_t host) {
  return fmt::format("host {} ({})", host, topology.hosts()[host].name);
}

std::string gpu_name(const Topology& topology, std::uint32_t rank) {
  return fmt::format("rank {} ({})", rank, topology.name_of(topology.ranks()[rank]));
}

std::string nic_name(const Topology& topology, DeviceId nic) {
  const std::uint32_t host = topology.device(nic).host;
  const std::vector<DeviceId>& nics = topology.hosts()[host].nics;
  const auto at = std::find(nics.begin(), nics.end(), nic) - nics.begin();
  return fmt::format("host {}, NIC {} ({})", host, at, topology.name_of(nic));
}

// The NICs that the rings of a group cross.
std::set<DeviceId> nics_of(const GroupRoutes& routes, const Topology& topology) {
  std::set<DeviceId> nics;
  for (const RingChannel& ring : routes.rings)
    for (const ResourceUse& use : ring.usage) {
      if (use.resource.index() >= topology.links().size()) continue;
      const Link& link = topology.link(LinkId(static_cast<std::uint32_t>(use.resource.index())));
      for (const DeviceId end : {link.from, link.to})
        if (topology.device(end).kind == DeviceKind::kNic) nics.insert(end);
    }
  return nics;
}

/// What a table tests.
struct Parts {
  std::string kind;  // "NICs"
  std::vector<std::string> names;
  double nominal_GBps = 0;
};

Parts parts_of(const std::vector<std::uint32_t>& members, const GroupRoutes& routes,
               const Topology& topology) {
  std::set<std::uint32_t> hosts;
  for (const std::uint32_t rank : members) hosts.insert(host_of(topology, rank));
  Parts parts;
  if (hosts.size() > 1) {
    const std::set<DeviceId> nics = nics_of(routes, topology);
    if (nics.size() == hosts.size()) {
      parts.kind = "NICs";
      for (const DeviceId nic : nics) parts.names.push_back(nic_name(topology, nic));
    }
    parts.nominal_GBps = routes.inter.Bps() / 1e9;
  } else {
    parts.nominal_GBps = routes.intra.Bps() / 1e9;
    if (members.size() == 2) {
      parts.kind = "GPUs";
      for (const std::uint32_t rank : members) parts.names.push_back(gpu_name(topology, rank));
    }
  }
  if (!parts.names.empty()) return parts;
  parts.kind = "hosts";
  for (const std::uint32_t host : hosts) parts.names.push_back(host_name(topology, host));
  return parts;
}

struct Figure {
  double measured = 0, modelled = 0;
};

std::optional<Figure> best_rate(const Observed& observed, std::span<const double> predicted,
                                std::size_t ranks) {
  std::optional<Figure> best;
  const CollectiveKind kind = observed.tables().front().measured->operation;
  const double factor = busbw_factor(kind, static_cast<std::int64_t>(ranks)) / 1e9;
  for (std::size_t i = 0; i < observed.rows().size(); ++i) {
    const ObservedRow& row = observed.rows()[i];
    const double rate = factor * row.size.as_double() / row.time_s;
    if (row.size.count() >= kLargeFrom && rate > (best ? best->measured : 0))
      best = Figure{rate, factor * row.size.as_double() / predicted[i]};
  }
  return best;
}

std::optional<Figure> least_time(const Observed& observed, std::span<const double> predicted) {
  std::optional<Figure> best;
  for (std::size_t i = 0; i < observed.rows().size(); ++i) {
    const ObservedRow& row = observed.rows()[i];
    if (row.size.count() <= kSmallTo && (!best || row.time_s * 1e6 < best->measured))
      best = Figure{row.time_s * 1e6, predicted[i] * 1e6};
  }
  return best;
}

void add_table(std::vector<HealthSample>& samples, const Topology& topology, const MeasuredTable& table,
               const Profile& profile) {
  const MeasuredTable one[] = {table};
  Observed observed(topology, one, profile);
  if (observed.rows().empty()) return;
  std::vector<double> predicted(observed.rows().size());
  observed.predict(predicted);
  const ObservedTable& t = observed.tables().front();
  LoneCollective lone(topology, profile, {.ranks = t.members, .kind = table.operation});
  const Parts parts = parts_of(t.members, lone.routes(), topology);
  const std::string group =
      fmt::format("{} of {} ranks on {} host{} over {}: {}", name_of(table.operation), t.members.size(),
                  t.hosts, t.hosts == 1 ? "" : "s", t.links, parts.kind);
  const auto rate = best_rate(observed, predicted, t.members.size());
  const auto time = least_time(observed, predicted);
  for (const std::string& name : parts.names) {
    if (rate)
      samples.push_back({group, name, "GB/s", rate->measured, rate->modelled, parts.nominal_GBps, false});
    if (time) samples.push_back({group, name, "us", time->measured, time->modelled, 0, true});
  }
}

void add_kernel(std::vector<HealthSample>& samples, const Topology& topology, const MeasuredKernel& kernel,
                const Profile& profile) {
  const std::string part = gpu_name(topology, *kernel.rank);
  const std::int32_t number = topology.gpu_model_of(topology.ranks()[*kernel.rank]);
  const std::string on =  // peers are GPUs of one model
      number < 0 ? "" : " on " + topology.gpu_models()[static_cast<std::size_t>(number)].name;
  if (kernel.kind == MeasuredKernelKind::kLaunch) {
    samples.push_back({"kernel launches" + on, part, "us", kernel.time.microseconds(), 0, 0, true});
    return;
  }
  const auto slowness = slowness_of(kernel, topology, profile);
  if (!slowness) return;
  const GpuModel& model = topology.gpu_models()[static_cast<std::size_t>(number)];
  const double seconds = kernel.time.seconds();
  const bool impossible = faster_than_datasheet(kernel, topology) > 1;
  if (kernel.kind == MeasuredKernelKind::kCopy) {
    const double rate = 2 * kernel.bytes.as_double() / seconds / 1e12;
    samples.push_back({"copies in memory" + on, part, "TB/s", rate, rate * *slowness,
                       model.memory_bandwidth.Bps() / 1e12, false, impossible});
    return;
  }
  const auto [m, n, k] = kernel.shape;
  const double rate =
      2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / seconds / 1e12;
  samples.push_back({fmt::format("matmul {} x {} x {} {}{}", m, n, k, name_of(kernel.type), on), part,
                     "TFLOP/s", rate, rate * *slowness, model.peak.at(kernel.type).flops() / 1e12, false,
                     impossible});
}

}  // namespace

std::vector<HealthSample> health_samples(const Topology& topology, const Measurement& measured,
                                         const Profile& profile, std::vector<std::string>& notes) {
  std::vector<HealthSample> samples;
  for (const MeasuredTable& table : measured.tables) {
    const bool all = table.ranks == static_cast<std::int64_t>(topology.ranks().size());
    if (!names_members(table, topology) && !all)
      notes.push_back(table.source + ": names no members, so it says nothing of single parts");
    else
      add_table(samples, topology, table, profile);
  }
  for (const MeasuredKernel& kernel : measured.kernels) {
    if (!kernel.rank)
      notes.push_back(kernel.where + ": names no rank");
    else if (*kernel.rank >= topology.ranks().size())
      notes.push_back(fmt::format("{}: the topology has no rank {}", kernel.where, *kernel.rank));
    else
      add_kernel(samples, topology, kernel, profile);
  }
  return samples;
}

}  // namespace busbar
