#include "calibrate/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "calibrate/import/raw_table.h"
#include "sim/base/error.h"
#include "sim/base/worker_pool.h"

namespace busbar {

namespace {

constexpr std::int64_t kFrom = 1024;  // smaller sizes are all latency, and a table's first rows warm up

std::vector<std::vector<std::uint32_t>> ranks_by_host(const Topology& topology) {
  std::vector<std::vector<std::uint32_t>> hosts(topology.hosts().size());
  for (std::uint32_t rank = 0; rank < topology.ranks().size(); ++rank) {
    const Device& gpu = topology.device(topology.ranks()[rank]);
    if (gpu.host < hosts.size()) hosts[gpu.host].push_back(rank);
  }
  return hosts;
}

// The first `each` ranks of the first `hosts` hosts; empty where they have not as many.
std::vector<std::uint32_t> spread_over(const Topology& topology, std::size_t hosts, std::size_t each) {
  std::vector<std::uint32_t> ranks;
  const auto by_host = ranks_by_host(topology);
  if (hosts > by_host.size()) return {};
  for (std::size_t h = 0; h < hosts; ++h) {
    if (by_host[h].size() < each) return {};
    ranks.insert(ranks.end(), by_host[h].begin(), by_host[h].begin() + static_cast<std::ptrdiff_t>(each));
  }
  return ranks;
}

std::vector<std::uint32_t> first_ranks(std::size_t n) {
  std::vector<std::uint32_t> ranks(n);
  for (std::size_t i = 0; i < n; ++i) ranks[i] = static_cast<std::uint32_t>(i);
  return ranks;
}

// Where the topology has the hosts that the source names: of each its first GPUs, in the source's order.
std::vector<std::uint32_t> named_members(const MeasuredTable& table, const Topology& topology) {
  const auto by_host = ranks_by_host(topology);
  std::vector<std::size_t> used(by_host.size(), 0);
  std::vector<std::uint32_t> ranks;
  for (const std::string& name : table.member_hosts) {
    const auto host = std::find_if(topology.hosts().begin(), topology.hosts().end(),
                                   [&](const Host& h) { return h.name == name; });
    if (host == topology.hosts().end()) return {};
    const auto h = static_cast<std::size_t>(host - topology.hosts().begin());
    if (used[h] == by_host[h].size()) return {};
    ranks.push_back(by_host[h][used[h]++]);
  }
  return ranks;
}

std::int64_t hosts_of(std::span<const std::uint32_t> members, const Topology& topology) {
  std::set<std::uint32_t> hosts;
  for (const std::uint32_t rank : members) hosts.insert(topology.host_of(topology.ranks()[rank]));
  return std::ssize(hosts);
}

void check_members(const MeasuredTable& table, const Topology& topology) {
  const std::size_t available = topology.ranks().size();
  for (const std::uint32_t rank : table.members)
    if (rank >= available)
      throw Error({.where = table.source,
                   .expected = fmt::format("members below {}, the ranks of the topology", available),
                   .given = fmt::format("{}", rank)});
  if (table.members.empty() || !table.hosts) return;
  if (const std::int64_t hosts = hosts_of(table.members, topology); hosts != *table.hosts)
    throw Error({.where = table.source,
                 .expected = fmt::format("members on {} host{} of the topology, as the measurement says",
                                         *table.hosts, *table.hosts == 1 ? "" : "s"),
                 .given = fmt::format("members on {}", hosts)});
}

// The first of as many hosts as were measured on.
std::vector<std::uint32_t> members_on(const MeasuredTable& table, const Topology& topology) {
  const auto hosts = static_cast<std::size_t>(*table.hosts);
  const auto each = static_cast<std::size_t>(table.ranks) / hosts;
  std::vector<std::uint32_t> ranks = spread_over(topology, hosts, each);
  if (ranks.empty())
    throw Error(
        {.where = table.source,
         .expected = fmt::format("a topology with {} host{} of {} GPU{}, where this was measured", hosts,
                                 hosts == 1 ? "" : "s", each, each == 1 ? "" : "s"),
         .given = fmt::format("{}: {} host{}, {} GPUs", quoted(topology.name()), topology.hosts().size(),
                              topology.hosts().size() == 1 ? "" : "s", topology.ranks().size())});
  return ranks;
}

// "H100" of "H100-SXM5-80GB", "4090" of "RTX-4090-24GB": the part by which people know it.
std::string_view number_of(std::string_view model) {
  for (std::size_t begin = 0; begin < model.size();) {
    const std::size_t end = std::min(model.find('-', begin), model.size());
    const std::string_view part = model.substr(begin, end - begin);
    if (part.find_first_of("0123456789") != std::string_view::npos) return part;
    begin = end + 1;
  }
  return {};
}

// Where the source names its GPU and it is another than the topology's.
std::string other_gpu(const MeasuredTable& table, std::uint32_t rank, const Topology& topology) {
  const std::int32_t model = topology.gpu_model_of(topology.ranks()[rank]);
  if (model < 0 || table.gpu.find_first_of("0123456789") == std::string::npos) return "";
  const std::string& name = topology.gpu_models()[static_cast<std::size_t>(model)].name;
  if (table.gpu.find(number_of(name)) != std::string::npos) return "";
  return fmt::format("measured on {}, the topology has {}", quoted(table.gpu), name);
}

// The source's names of a choice as the simulator's; what it does not have is left to its own choice.
Overrides overrides_of(const MeasuredTable& table, const MeasuredRow& row, const ObservedOptions& options) {
  Overrides o{.nccl = options.nccl, .isolated = table.isolated};
  if (const auto version = parse_nccl_version(table.nccl_version); version && !options.version_given)
    o.nccl.version = *version;
  if (row.algorithm) {
    NcclAlgorithm nccl{};
    const std::string name =
        parse_nccl_algorithm(*row.algorithm, nccl) ? std::string(name_of(nccl)) : *row.algorithm;
    if (find_algorithm(row.operation, name) != nullptr) o.algorithm = name;
  }
  Protocol protocol{};
  if (row.protocol && parse_protocol(*row.protocol, protocol)) o.protocol = protocol;
  o.channels = row.channels;
  return o;
}

Bytes whole(Bytes size, CollectiveKind kind, DataType type, std::size_t ranks) {
  const std::int64_t unit =
      size_of(type) * (divides_by_ranks(kind) ? static_cast<std::int64_t>(ranks) : std::int64_t{1});
  return Bytes(size.count() / unit * unit);
}

double time_of(const MeasuredRow& row) {
  return (row.time > Time::zero() ? row.time : row.time_in_place.value_or(Time::zero())).seconds();
}

std::string links_of(const GroupRoutes& routes) {
  std::string links;
  if (routes.hosts < routes.ranks) links = name_of(routes.intra_transport);
  if (routes.hosts > 1) links += (links.empty() ? "" : "+") + std::string(name_of(routes.inter_transport));
  return links;
}

}  // namespace

DataType element_type(const MeasuredTable& table) {
  if (const auto named = parse_data_type(table.type)) return *named;
  switch (element_bytes(table.type)) {
    case 1:
      return DataType::kInt8;
    case 2:
      return DataType::kBf16;
    case 8:
      return DataType::kInt64;
    default:
      return DataType::kFp32;
  }
}

bool names_members(const MeasuredTable& table, const Topology& topology) {
  return !table.members.empty() || !named_members(table, topology).empty();
}

std::vector<std::uint32_t> members_of(const MeasuredTable& table, const Topology& topology) {
  const std::size_t available = topology.ranks().size();
  check_members(table, topology);
  if (!table.members.empty()) return table.members;
  if (auto ranks = named_members(table, topology); !ranks.empty()) return ranks;
  if (table.ranks <= 0)
    throw Error(
        {.where = table.source, .message = "the number of ranks is not known", .suggestion = "give --ranks"});
  const auto n = static_cast<std::size_t>(table.ranks);
  if (n > available)
    throw Error({.where = table.source,
                 .expected = fmt::format("at most the {} ranks of the topology", available),
                 .given = fmt::format("{}", n)});
  if (table.hosts && *table.hosts > 0 && table.ranks % *table.hosts == 0) return members_on(table, topology);
  for (std::size_t hosts = 1; hosts <= topology.hosts().size(); ++hosts)
    if (n % hosts == 0)
      if (auto ranks = spread_over(topology, hosts, n / hosts); !ranks.empty()) return ranks;
  return first_ranks(n);
}

Observed::Observed(const Topology& topology, std::span<const MeasuredTable> tables, const Profile& profile,
                   ObservedOptions options)
    : options_(std::move(options)) {
  for (const MeasuredTable& table : tables) add(topology, table, profile);
}

Observed::Observed(std::span<const MeasuredOn> tables, const Profile& profile, ObservedOptions options)
    : options_(std::move(options)) {
  for (const MeasuredOn& t : tables) add(*t.topology, *t.table, profile);
}

// Runs of one machine measure the same again and again: each collective is planned once.
std::size_t Observed::collective_of(const Topology& topology, const MeasuredTable& table,
                                    const MeasuredRow& row, const Profile& profile,
                                    const std::vector<std::uint32_t>& members) {
  LoneCollective::Request request{.ranks = members,
                                  .kind = table.operation,
                                  .type = element_type(table),
                                  .overrides = overrides_of(table, row, options_),
                                  .calls = {.gpus_per_process = table.gpus_per_process.value_or(1),
                                            .launch = table.launch,
                                            .cuda_graph = table.cuda_graph.value_or(false)}};
  const Overrides& o = request.overrides;
  const std::string key = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {}", static_cast<const void*>(&topology), name_of(table.operation),
      name_of(request.type), o.algorithm.value_or(""), o.protocol ? static_cast<int>(*o.protocol) : -1,
      o.channels.value_or(0), to_text(o.nccl.version), o.isolated, request.calls.gpus_per_process,
      request.calls.launch ? request.calls.launch->ps() : -1, request.calls.cuda_graph,
      fmt::join(members, ","));
  const auto [found, added] = known_collectives_.try_emplace(key, collectives_.size());
  if (!added) return found->second;
  try {
    collectives_.push_back(std::make_unique<LoneCollective>(topology, profile, request));
  } catch (const Error& error) {  // what NCCL would not run, such as NVLS with LL
    known_collectives_.erase(found);
    const ErrorParts& parts = error.parts();
    throw Error({.kind = parts.kind,
                 .where = fmt::format("{}, row of {} B", table.source, row.size.count()),
                 .expected = parts.expected,
                 .given = parts.given,
                 .message = parts.message,
                 .suggestion = "the row's algorithm or protocol is not one that NCCL has for it"});
  }
  of_collective_.emplace_back();
  return found->second;
}

std::size_t Observed::prediction_of(std::size_t collective, Bytes size) {
  const auto [found, added] = known_predictions_.try_emplace({collective, size.count()}, predictions_.size());
  if (!added) return found->second;
  of_collective_[collective].push_back(predictions_.size());
  predictions_.push_back({collective, size, 0});
  return found->second;
}

void Observed::add(const Topology& topology, const MeasuredTable& table, const Profile& profile) {
  ObservedTable observed{.name = fmt::format("{}, {} on {} rank{}", table.source, name_of(table.operation),
                                             table.ranks, table.ranks == 1 ? "" : "s"),
                         .measured = &table,
                         .members = members_of(table, topology),
                         .first = rows_.size()};
  if (observed.members.size() < 2) {
    notes_.push_back(observed.name + ": one rank by itself crosses no link; left out");
    return;
  }
  const DataType type = element_type(table);
  const bool counted = std::any_of(table.rows.begin(), table.rows.end(),
                                   [](const MeasuredRow& r) { return r.size.count() >= kFrom; });
  std::int64_t tiny = 0;
  for (const MeasuredRow& row : table.rows) {
    const Bytes size = whole(row.size, table.operation, type, observed.members.size());
    const bool small = counted && row.size.count() < kFrom;
    tiny += small ? 1 : 0;
    if (small || size.count() == 0 || !(time_of(row) > 0)) continue;
    const Overrides overrides = overrides_of(table, row, options_);
    observed.forced |= overrides.algorithm || overrides.protocol;
    const std::size_t collective = collective_of(topology, table, row, profile, observed.members);
    rows_.push_back({tables_.size(), size, time_of(row)});
    of_row_.push_back(prediction_of(collective, size));
  }
  observed.rows = rows_.size() - observed.first;
  if (tiny > 0)
    notes_.push_back(
        fmt::format("{}: {} row{} below 1 KiB left out", observed.name, tiny, tiny == 1 ? "" : "s"));
  if (const std::string other = other_gpu(table, observed.members.front(), topology); !other.empty())
    notes_.push_back(observed.name + ": " + other);
  if (observed.rows == 0) {
    notes_.push_back(observed.name + ": no row that can be predicted");
    return;
  }
  const GroupRoutes& routes = collectives_[predictions_[of_row_.back()].collective]->routes();
  observed.hosts = routes.hosts;
  observed.links = links_of(routes);
  tables_.push_back(std::move(observed));
}

void Observed::predict(std::span<double> predicted_s) {
  const auto predict_one = [&](std::size_t c) {
    collectives_[c]->profile_changed();
    for (const std::size_t p : of_collective_[c])
      predictions_[p].time_s = std::max(1e-12, collectives_[c]->time(predictions_[p].size).seconds());
  };
  if (options_.threads > 1) {
    std::vector<std::size_t> order(collectives_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    run_jobs(order, options_.threads, predict_one);
  } else {
    for (std::size_t c = 0; c < collectives_.size(); ++c) predict_one(c);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) predicted_s[i] = predictions_[of_row_[i]].time_s;
}

void Observed::rescale(const Scales& scales) {
  for (const auto& collective : collectives_) collective->rescale(scales);
}

std::string Observed::choice(std::size_t row) const {
  const Choice c = collectives_[predictions_[of_row_[row]].collective]->choice(rows_[row].size);
  return fmt::format("{}/{}", c.algorithm->name, name_of(c.protocol));
}

}  // namespace busbar
