#include "sim/study/suggestions.h"

#include <array>
#include <limits>
#include <string_view>

namespace busbar {

namespace {

/// Factors from `from` up to `to` of parameters whose name begins with `name`.
struct Rule {
  std::string_view name;
  double from, to;
  std::string_view text;
};

constexpr double kAny = std::numeric_limits<double>::infinity();
// About 1 nothing is wrong: as far as the models themselves are off.
constexpr double kLittleLess = 0.93, kLittleMore = 1.07;

// Where the thresholds come from: TCP through a kernel reaches a few GB/s a host where RDMA reaches its line
// rate; one NIC of eight is an eighth, a link trained at half its width a half; MFU of untuned kernels is
// about half of tuned ones. They sort hints, no prediction depends on them.
constexpr std::array kRules = {
    Rule{"nic-", 0, 0.08, "RDMA not in use? NCCL_DEBUG=INFO should say NET/IB and GDRDMA, not NET/Socket"},
    Rule{"nic-", 0.08, 0.2, "one NIC of the host in use, or RDMA without GPUDirect? See NCCL's channels"},
    Rule{"nic-", 0.2, 0.6, "half of the NICs, links at half speed, or an oversubscribed network?"},
    Rule{"nic-", 0.6, kLittleLess, "congestion, unlucky routes, or one slow NIC that holds every ring up?"},
    Rule{"nic-", kLittleMore, kAny, "more or faster NICs than the topology says?"},
    Rule{"nvlink-", 0, 0.3, "traffic over PCIe in place of NVLink? See nvidia-smi topo -m and NCCL_P2P_*"},
    Rule{"nvlink-", 0.3, kLittleLess, "NVLinks down? nvidia-smi nvlink --status lists them"},
    Rule{"nvlink-", kLittleMore, kAny, "a newer generation of NVLink than the topology says?"},
    Rule{"pcie-", 0, 0.6, "PCIe trained at fewer lanes or an older generation? See lspci -vv, LnkSta"},
    Rule{"leaf-", 0, kLittleLess, "an oversubscribed network, or hashed routes that collide?"},
    Rule{"spine-", 0, kLittleLess, "an oversubscribed network, or hashed routes that collide?"},
    Rule{"switch-", 0, kLittleLess, "routes that collide, or links down between switches?"},
    Rule{"compute-", 0, 0.5, "throttled GPUs, unfused attention, or a step that waits for data or its CPU?"},
    Rule{"compute-", 0.5, kLittleLess, "slower kernels or lower clocks than the framework's usual ones?"},
    Rule{"compute-", kLittleMore, kAny, "less recomputation, or a lower precision, than the workload says?"},
    Rule{"launch-", 3, kAny, "a slow or busy CPU: CUDA graphs, torch.compile, pinned processes?"},
    Rule{"launch-", kLittleMore, 3, "somewhat slower CPUs, or more of them asleep, than those measured?"},
    Rule{"launch-", 0, kLittleLess, "fewer launches than the framework's: CUDA graphs or compiled code?"},
};

// The spreads of the fits' own constants (sim/cost/profile_parameters.cpp): rates, shares, latencies.
constexpr double kRate = 0.1, kShare = 0.3, kLatency = 0.6;

}  // namespace

std::string suggestion_for(const StudyParameter& parameter, double factor) {
  for (const Rule& rule : kRules)
    if (parameter.name.starts_with(rule.name) && factor >= rule.from && factor < rule.to)
      return std::string(rule.text);
  return factor >= kLittleLess && factor < kLittleMore ? "as described, within what predictions are off by"
                                                       : "";
}

std::pair<double, double> searched_range(const StudyParameter& parameter) {
  return parameter.is_time() ? std::pair(1e-3, 1e4) : std::pair(1e-3, 1e2);
}

double plausible_spread(const StudyParameter& parameter) {
  switch (parameter.kind) {
    case StudyParameter::Kind::kBandwidth:
    case StudyParameter::Kind::kCompute:
    case StudyParameter::Kind::kMemory:
      return kRate;
    case StudyParameter::Kind::kChannel:
      return kShare;
    case StudyParameter::Kind::kLatency:
    case StudyParameter::Kind::kLaunch:
      return kLatency;
  }
  return kRate;
}

}  // namespace busbar
