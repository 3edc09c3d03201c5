// What fabrics of leaves and spines have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/fabric.h"

namespace busbar {

/// A switch and what hangs under it.
struct SwitchBelow {
  DeviceId device;
  Bandwidth down;   // all its down-links together, each way
  Bandwidth cable;  // the fastest of them
};

/// Host number and NIC number.
struct NicPlace {
  std::size_t host, nic;
};

/// The leaf called `id` with these NICs, each at its own line rate. Requires: at least one.
[[nodiscard]] SwitchBelow add_leaf(TopologyBuilder& builder, const FabricRequest& request, std::string id,
                                   std::span<const NicPlace> nics);

/// One layer of switches over others: called "<role>" or "<role><block>", where blocks of the layer are
/// joined only above it.
struct SwitchLayer {
  std::string_view role;
  std::optional<std::size_t> block;
  double oversubscription = 1;
  std::optional<std::int64_t> switches;  // cabled one by one; none: as the routing needs
};

/// Joins the switches below by a layer, and returns its switches.
///   Adaptive routing: one switch and one bundle per switch below. Parallel spines are alike and every flow
///   is spread evenly over them, so only a bundle's sum can bind: down / oversubscription. On a partly filled
///   switch that is the careful reading; a full set of cables would be less oversubscribed than the file
///   says. Static routing, or a number of switches in the file: individual switches, so that flows can
///   collide, each with one cable to every switch below. As many as the fullest switch below needs cables of
///   the rate of its down-links; all cables are those of the fullest, because one flow must fit into one.
std::vector<SwitchBelow> add_layer(TopologyBuilder& builder, const FabricRequest& request,
                                   std::span<const SwitchBelow> below, const SwitchLayer& layer);

/// Joins leaves by one layer of spines (2 tiers), or pod by pod by spines and the pods by cores (3 tiers).
/// pod_of[i]: the pod of leaf i, non-decreasing. Spine s of each pod is joined to core plane s only, as in a
/// k-ary fat-tree. Source: Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data Center Network
/// Architecture", SIGCOMM 2008, section 3.
void join_leaves(TopologyBuilder& builder, const FabricRequest& request, std::span<const SwitchBelow> leaves,
                 std::span<const std::size_t> pod_of);

/// The request's oversubscription of a tier (0: leaves). Throws Error if the list is not one per tier.
[[nodiscard]] double oversubscription_at(const FabricRequest& request, std::size_t tier);

/// Hosts under one pod's spines: "hosts_per_pod", else hosts_per_leaf squared, as in a k-ary fat-tree. Throws
/// Error unless whole leaves fit.
[[nodiscard]] std::size_t hosts_per_pod(const FabricRequest& request, std::size_t hosts_per_leaf);

/// One leaf per rail and block of hosts_per_leaf (32 unless said) hosts: leaf (block x rails + rail) has NIC
/// `rail` of each host of the block. Leaves that no NIC would use are left out.
struct RailLeaf {
  SwitchBelow leaf;
  std::size_t rail, first_host;
};
[[nodiscard]] std::vector<RailLeaf> add_rail_leaves(TopologyBuilder& builder, const FabricRequest& request);
[[nodiscard]] std::size_t rail_hosts_per_leaf(const FabricRequest& request);

}  // namespace busbar
