// From a profile to what one operation or kernel costs: the choice, its constants, a kernel's demands.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/base/kernel_shape.h"
#include "sim/collectives/algorithm.h"
#include "sim/cost/profile.h"

namespace busbar {

/// What the user forces; absent parts are chosen.
struct Overrides {
  std::optional<std::string> algorithm;
  std::optional<Protocol> protocol;
  std::optional<std::int64_t> channels;
};

struct Choice {
  const Algorithm* algorithm = nullptr;
  Protocol protocol = Protocol::kIdeal;
  std::int64_t channels = 1;
};

/// Algorithm, protocol and channels of one operation on one group.
/// Errors (Error, kInput): an algorithm that the table does not have for this operation.
[[nodiscard]] Choice choose(CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                            const Profile& profile, const Generation& generation, const Overrides& overrides);

/// The constants of that choice for `ring_plan` and its like.
[[nodiscard]] PlanCosts costs_of(const Choice& choice, CollectiveKind kind, Bytes bytes,
                                 const GroupRoutes& routes, const Profile& profile,
                                 const Generation& generation);

/// The share of a link's nominal bandwidth that communication sustains.
[[nodiscard]] double link_efficiency(LinkType type, const Profile& profile, const Generation& generation);

/// What a GPU can do, as far as kernels see it.
struct GpuSpeed {
  std::map<DataType, FlopRate> peak;
  Bandwidth memory_bandwidth;
};

/// The roofline's two sides for one kernel. A given duration is all SM time.
/// Errors (Error, kInput): the GPU has no peak for the kernel's type (the message names both).
[[nodiscard]] KernelDemand kernel_demand(const KernelWork& work, const GpuSpeed& gpu,
                                         const Generation& generation);

}  // namespace busbar
