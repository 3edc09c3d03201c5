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

/// Hosts whose first network cable leads to the same switch stand together; switches in the order of their
/// first host. A host without one stands alone.
std::vector<DeviceId> by_leaf(const TopologyBuilder& builder) {
  std::vector<std::size_t> leaf_of(builder.hosts().size());
  // Beyond all devices: a leaf of its own.
  std::iota(leaf_of.begin(), leaf_of.end(), builder.devices().size());
  for (const Link& link : builder.links()) {
    const Device& from = builder.devices()[link.from.index()];
    if (from.kind != DeviceKind::kNic || builder.devices()[link.to.index()].kind != DeviceKind::kSwitch)
      continue;
    if (leaf_of[from.host] >= builder.devices().size()) leaf_of[from.host] = link.to.index();
  }
  std::unordered_map<std::size_t, std::size_t> first_host;
  for (std::size_t h = 0; h < leaf_of.size(); ++h) first_host.try_emplace(leaf_of[h], h);
  HostOrder order = file_order(builder);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return first_host.at(leaf_of[a]) < first_host.at(leaf_of[b]);
  });
  return gpus_of(builder, order);
}

/// Rank by rank to the next host: all first GPUs, then all second ones.
std::vector<DeviceId> round_robin(const TopologyBuilder& builder) {
  std::vector<DeviceId> gpus;
  for (std::size_t turn = 0, dealt = 1; dealt > 0; ++turn) {
    dealt = 0;
    for (const Host& host : builder.hosts()) {
      if (turn >= host.gpus.size()) continue;
      gpus.push_back(host.gpus[turn]);
      ++dealt;
    }
  }
  return gpus;
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
