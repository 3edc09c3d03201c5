// Host types: one row of the table per machine that people buy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/hosts/wiring.h"
#include "topologies/topology.h"

namespace busbar {

/// What a topology file may change about a host type.
struct HostRequest {
  std::string name;                  // "h0": prefix of all its device ids
  std::optional<Bandwidth> nic;      // "nic": NIC line rate, one direction
  std::optional<std::int64_t> nics;  // "nics": how many NICs carry collectives
  std::optional<std::int64_t> gpus;  // "gpus": use that many
  std::string gpu;                   // "gpu": model, where it is not the type's own
  std::optional<bool> peer_access;   // "peer_access": of PCIe boxes
};

struct HostType {
  std::string_view name;
  std::string_view help;
  std::string_view source;     // where its figures come from
  std::string_view gpu_model;  // "": a box for PCIe cards; the topology file names them
  std::int64_t gpus = 0;
  std::int64_t nics = 0;            // those that carry collectives; storage and front-end NICs are left out
  Bandwidth nic;                    // default line rate
  LinkType wire = LinkType::kRdma;  // of the network that such hosts are usually on
  HostWiring wiring = {};
};

/// Adds devices and links of one host: "h0.gpu0".., "h0.nic0".., "h0.nvs", "h0.pcie0".., "h0.cpu0"..
/// NICs get no network link (the fabric attaches them), and the GPUs of a rack-scale domain no NVSwitch (who
/// groups the hosts attaches it). The NVSwitch chips of a host are one device: each GPU has links to all of
/// them, and together they form one crossbar. Where the request asks for fewer GPUs, the first ones
/// stay and the tree keeps its form; fewer NICs are spread over the switches of the GPUs that stay.
/// Requires: a type without a GPU model gets one in the request, from the table or the builder.
void add_host(TopologyBuilder& builder, const HostType& type, const HostRequest& request);

/// What the PCIe slot of a card means: its generation, and whether its driver lets cards reach each other.
struct PcieCard {
  Bandwidth pcie;  // x16
  bool peer_access = true;
};
[[nodiscard]] PcieCard pcie_card(std::string_view gpu_model);

[[nodiscard]] std::span<const HostType> host_types();  // THE table

/// GPU models by name, with cited figures.
[[nodiscard]] std::span<const GpuModel> gpu_models();

}  // namespace busbar
