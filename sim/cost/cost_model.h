// From a profile to what one operation or kernel costs: the choice, its constants, a kernel's demands.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/base/kernel_shape.h"
#include "sim/collectives/algorithm.h"
#include "sim/cost/nccl_table.h"
#include "sim/cost/profile.h"

namespace busbar {

/// What the user forces (absent parts are chosen), and how operations are called.
struct Overrides {
  std::optional<std::string> algorithm;
  std::optional<Protocol> protocol;
  std::optional<std::int64_t> channels;
  NcclSettings nccl;
  bool isolated = true;  // false: back to back, as benchmarks call them
};

/// Factors on the rates and times of one group's operations, for what-if questions.
struct CostScales {
  double inside = 1, between = 1;           // rates: of links in the host, of NICs
  double channel = 1;                       // rate of channels whatever their links carry
  double launch = 1;                        // time: once per operation
  std::array<double, kTransports> latency;  // time of a hop
  CostScales() { latency.fill(1); }
};

/// One operation on one group, as far as choice and cost depend on it.
struct Operation {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;  // nccl-tests' size
  DataType type = DataType::kFp32;
  const GroupRoutes* routes = nullptr;
  CostScales scales;  // of its cost; the choice does not depend on them
};

struct Choice {
  const Algorithm* algorithm = nullptr;
  std::optional<NcclAlgorithm> nccl;  // where NCCL has it
  Protocol protocol = Protocol::kIdeal;
  std::int64_t channels = 1;
};

/// Algorithm, protocol and channels of one operation on one group.
/// Errors (Error, kInput): an algorithm that the table does not have for this operation, or that cannot run.
[[nodiscard]] Choice choose(const Operation& operation, const Profile& profile, const Overrides& overrides);

/// NCCL's table for an operation that it chooses for by price; nullopt for the others (grouped sends).
[[nodiscard]] std::optional<NcclTable> table_of(const Operation& operation, const Overrides& overrides);

/// What decided for one that is in the table; nullopt where the user names a way that NCCL has not.
[[nodiscard]] std::optional<NcclDecider> decider_of(const Operation& operation, const Overrides& overrides);

/// The constants of that choice for `ring_plan` and its like.
[[nodiscard]] PlanCosts costs_of(const Choice& choice, const Operation& operation, const Profile& profile,
                                 const Generation& generation, const Overrides& overrides);

/// How a benchmark calls its operations.
struct CallStyle {
  std::int64_t gpus_per_process = 1;
  std::optional<Time> launch;  // of one GPU's kernel; absent: the profile's
  bool cuda_graph = false;
};

/// What a process that drives several GPUs sees: their launches, one after the other, and the device overlap
/// from call to call, so that the slower of the two shows.
[[nodiscard]] Time with_launches(Time device, const CallStyle& calls, const Profile& profile,
                                 const Generation& generation);

/// The share of a link's nominal bandwidth that communication sustains.
[[nodiscard]] double link_efficiency(LinkType type, const Profile& profile, const Generation& generation);

/// What a GPU can do, as far as kernels see it.
struct GpuSpeed {
  std::string model;  // "H100-SXM5-80GB": whose kernels
  std::map<DataType, FlopRate> peak;
  Bandwidth memory_bandwidth;
  std::int64_t sms = 1;
};

/// The roofline's two sides for one kernel, from its shape where it has one (kernel_time.h). A given duration
/// is all SM time. The ideal profile knows no more than FLOPs and bytes.
/// Errors (Error, kInput): the GPU has no peak for the kernel's type (the message names both).
[[nodiscard]] KernelDemand kernel_demand(const KernelWork& work, const GpuSpeed& gpu, const Profile& profile,
                                         const Generation& generation);

}  // namespace busbar
