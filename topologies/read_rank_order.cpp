// "rank_order": which GPU has which rank.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "topologies/topology_readers.h"

namespace busbar {
namespace {

using HostOrder = std::vector<std::size_t>;

HostOrder file_order(const TopologyBuilder& builder) {
  HostOrder order(builder.hosts().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<DeviceId> gpus_of(const TopologyBuilder& builder, const HostOrder& order) {
  std::vector<DeviceId> gpus;
  for (const std::size_t host : order) {
    const auto& own = builder.hosts()[host].gpus;
    gpus.insert(gpus.end(), own.begin(), own.end());
  }
  return gpus;
}

/// Per host the switch that its first network cable leads to. A host without one stands alone: a number
/// beyond all devices.
std::vector<std::size_t> leaf_of_hosts(const TopologyBuilder& builder) {
  std::vector<std::size_t> leaf_of(builder.hosts().size());
  std::iota(leaf_of.begin(), leaf_of.end(), builder.devices().size());
  for (const Link& link : builder.links()) {
    const Device from = builder.devices()[link.from.index()];
    if (from.kind != DeviceKind::kNic || builder.devices()[link.to.index()].kind != DeviceKind::kSwitch)
      continue;
    if (leaf_of[from.host] >= builder.devices().size()) leaf_of[from.host] = link.to.index();
  }
  return leaf_of;
}

/// The hosts of each leaf in file order, leaves in the order of their first host.
std::vector<HostOrder> hosts_by_leaf(const TopologyBuilder& builder) {
  std::unordered_map<std::size_t, std::size_t> place;
  std::vector<HostOrder> leaves;
  const std::vector<std::size_t> leaf_of = leaf_of_hosts(builder);
  for (std::size_t h = 0; h < leaf_of.size(); ++h) {
    const auto [entry, is_new] = place.try_emplace(leaf_of[h], leaves.size());
    if (is_new) leaves.emplace_back();
    leaves[entry->second].push_back(h);
  }
  return leaves;
}

/// Leaf after leaf.
std::vector<DeviceId> by_leaf(const TopologyBuilder& builder) {
  HostOrder order;
  for (const HostOrder& leaf : hosts_by_leaf(builder)) order.insert(order.end(), leaf.begin(), leaf.end());
  return gpus_of(builder, order);
}

/// Host by host to the next leaf, as from a scheduler that spreads a job: all first hosts, then all second
/// ones. GPUs of a host stay together.
std::vector<DeviceId> round_robin(const TopologyBuilder& builder) {
  const std::vector<HostOrder> leaves = hosts_by_leaf(builder);
  HostOrder order;
  for (std::size_t turn = 0; order.size() < builder.hosts().size(); ++turn) {
    for (const HostOrder& leaf : leaves) {
      if (turn < leaf.size()) order.push_back(leaf[turn]);
    }
  }
  return gpus_of(builder, order);
}

/// Hosts in random order, each with its GPUs together, as from a scheduler that knows no fabric. Fisher-Yates
/// with a generator whose numbers the C++ standard fixes; std::shuffle would differ between libraries. The
/// remainder's bias is below hosts / 2^64.
std::vector<DeviceId> random_hosts(const TopologyBuilder& builder, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  HostOrder order = file_order(builder);
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[generator() % left]);
  return gpus_of(builder, order);
}

std::string similar_name(const TopologyBuilder& builder, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Host& host : builder.hosts()) names.push_back(host.name);
  const std::string host = did_you_mean(name, names);
  return host.empty() ? similar_device(builder, name) : host;
}

/// A list of host names, of GPU ids, or of both; a host stands for all its GPUs.
std::vector<DeviceId> listed(const JsonValue& list, const TopologyBuilder& builder) {
  std::unordered_map<std::string_view, const Host*> hosts;
  for (const Host& host : builder.hosts()) hosts.emplace(host.name, &host);
  std::vector<DeviceId> gpus;
  for (const JsonValue& entry : list.items()) {
    const std::string name = entry.string();
    const auto device = builder.find_device(name);
    if (const auto host = hosts.find(name); host != hosts.end()) {
      gpus.insert(gpus.end(), host->second->gpus.begin(), host->second->gpus.end());
    } else if (device) {
      gpus.push_back(*device);
    } else {
      entry.fail("the name of a host or the id of a GPU", similar_name(builder, name));
    }
  }
  return gpus;
}

std::vector<DeviceId> by_rule(const JsonValue& rule, const TopologyBuilder& builder, std::uint64_t seed) {
  constexpr std::string_view kRules[] = {"by-leaf", "round-robin", "random"};
  const std::string name = rule.is_string() ? rule.string() : "";
  if (name == "by-leaf") return by_leaf(builder);
  if (name == "round-robin") return round_robin(builder);
  if (name == "random") return random_hosts(builder, seed);
  rule.fail("\"by-leaf\", \"round-robin\", \"random\", or a list of hosts or GPUs",
            did_you_mean(name, kRules));
}

}  // namespace

void read_rank_order(const JsonValue& order, TopologyBuilder& builder, std::uint64_t seed) {
  at_place(order, [&] {
    builder.set_rank_order(order.is_array() ? listed(order, builder) : by_rule(order, builder, seed));
  });
}

}  // namespace busbar
