// The network as a job itself found it.
#pragma once

#include <map>
#include <tuple>

#include "sim/cost/profile.h"
#include "validate/run_row.h"

namespace busbar {

/// What a job's NICs can have been, from the all-gather of 256 MiB that it timed over all its GPUs before it
/// trained: the rate per NIC at which the same all-gather takes as long here, at most the host type's. Jobs
/// of the same size whose logged rates are within 5 % share one answer. Borrows the profile.
class SeenNetwork {
 public:
  explicit SeenNetwork(const Profile& profile) : profile_(&profile) {}
  /// Sets `machine.nic` where the machine has a seen all-gather; else nothing.
  void apply(Machine& machine);

 private:
  [[nodiscard]] double busbw(const Machine& machine) const;
  [[nodiscard]] Bandwidth solve(Machine machine) const;

  const Profile* profile_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, int>, Bandwidth> known_;
};

}  // namespace busbar
