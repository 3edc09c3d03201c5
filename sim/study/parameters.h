// The numbers of a machine and its software that a study changes, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/group_routes.h"
#include "sim/replay/scales.h"
#include "topologies/topology.h"

namespace busbar {

/// One parameter, as a factor on what the machine is described as.
struct StudyParameter {
  enum class Kind : std::uint8_t { kBandwidth, kLatency, kCompute, kMemory, kLaunch, kChannel };
  Kind kind = Kind::kCompute;
  std::string name;                          // "nic-bandwidth"
  std::string words;                         // "NIC bandwidth per host"
  std::string link_class;                    // kBandwidth
  Transport transport = Transport::kNvlink;  // kLatency
  std::optional<double> value_Bps;           // kBandwidth: of one link, or of a host's NICs together
  [[nodiscard]] bool is_time() const { return kind == Kind::kLatency || kind == Kind::kLaunch; }
  /// `scales` with this parameter `factor` times as large.
  void apply(Scales& scales, double factor) const;
  [[nodiscard]] Scales at(double factor) const;
};

/// Every parameter that steps on this topology may depend on, in a fixed order: bandwidths of the classes of
/// links, kernels, channels, then latencies of the ways that its links offer, and launches. Together they are
/// complete: all rates k times as high and all times 1/k as long make every step 1/k as long.
[[nodiscard]] std::vector<StudyParameter> study_parameters(const Topology& topology);

/// Errors (Error, kInput, `where`): none of the topology's; the message lists them.
[[nodiscard]] StudyParameter find_parameter(std::span<const StudyParameter> parameters,
                                            const std::string& name, const std::string& where);

/// "400 GB/s": of the parameter at a factor; "" where it is not one figure.
[[nodiscard]] std::string value_text(const StudyParameter& parameter, double factor = 1);

}  // namespace busbar
