// What each table says of a part of the machine: the samples that a health check compares.
#pragma once

#include <string>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/result/measurement.h"
#include "topologies/topology.h"

namespace busbar {

/// One figure of one part from one table.
struct HealthSample {
  std::string group;     // comparable with others of the same: "send_recv between 2 hosts over rdma"
  std::string part;      // "host 3, NIC 5 (h3.nic5)"
  std::string quantity;  // "GB/s", "us", "TB/s", "TFLOP/s"
  double value = 0;
  double modelled = 0;  // what the profile predicts of the same call
  double nominal = 0;   // the datasheet's rate; 0: not known
  bool smaller_is_better = false;
  bool faster_than_hardware = false;
};

/// Of tables whose members are known, and of kernels whose rank is. Between hosts the parts are NICs where
/// each host used one, else hosts; inside a host they are GPUs where two took part, else the host. A rate is
/// the best busbw over sizes of 1 MiB and more, a latency the shortest time up to 16 KiB. `notes` gets the
/// tables that name no members.
[[nodiscard]] std::vector<HealthSample> health_samples(const Topology& topology, const Measurement& measured,
                                                       const Profile& profile,
                                                       std::vector<std::string>& notes);

}  // namespace busbar
