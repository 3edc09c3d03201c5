// Host types: one row of the table per machine that people buy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/topology.h"

namespace busbar {

/// What a topology file may change about a host type.
struct HostRequest {
  std::string name;                  // "h0": prefix of all its device ids
  std::optional<Bandwidth> nic;      // "nic": NIC line rate, one direction
  std::optional<std::int64_t> nics;  // "nics": how many NICs carry collectives
  std::optional<std::int64_t> gpus;  // "gpus": use that many
};

struct HostType {
  std::string_view name;
  std::string_view help;
  std::string_view source;  // where its figures come from
  std::int64_t gpus;
  std::int64_t nics;
  Bandwidth nic;  // default line rate
  /// Adds devices and links of one host; NICs get no network link (the fabric attaches them).
  void (*build)(TopologyBuilder&, const HostRequest&);
};

[[nodiscard]] std::span<const HostType> host_types();  // THE table

/// GPU models by name, with cited figures.
[[nodiscard]] std::span<const GpuModel> gpu_models();

}  // namespace busbar
