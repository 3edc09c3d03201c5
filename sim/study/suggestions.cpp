#include "sim/study/suggestions.h"

#include <algorithm>
#include <array>
#include <cmath>
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
    Rule{"nic-bandwidth", 0, 0.08,
         "RDMA not in use? NCCL_DEBUG=INFO should say NET/IB and GDRDMA, not NET/Socket"},
    Rule{"nic-bandwidth", 0.08, 0.2,
         "one NIC of the host in use, or RDMA without GPUDirect? See NCCL's channels"},
    Rule{"nic-bandwidth", 0.2, 0.6, "half of the NICs, links at half speed, or an oversubscribed network?"},
    Rule{"nic-bandwidth", 0.6, kLittleLess,
         "congestion, unlucky routes, or one slow NIC that holds every ring up?"},
    Rule{"nic-bandwidth", kLittleMore, kAny, "more or faster NICs than the topology says?"},
    Rule{"nvlink-bandwidth", 0, 0.3,
         "traffic over PCIe in place of NVLink? See nvidia-smi topo -m and NCCL_P2P_*"},
    Rule{"nvlink-bandwidth", 0.3, kLittleLess, "NVLinks down? nvidia-smi nvlink --status lists them"},
    Rule{"nvlink-bandwidth", kLittleMore, kAny, "a newer generation of NVLink than the topology says?"},
    Rule{"pcie-bandwidth", 0, 0.6,
         "PCIe trained at fewer lanes or an older generation? See lspci -vv, LnkSta"},
    Rule{"leaf-", 0, kLittleLess, "an oversubscribed network, or hashed routes that collide?"},
    Rule{"spine-", 0, kLittleLess, "an oversubscribed network, or hashed routes that collide?"},
    Rule{"switch-", 0, kLittleLess, "routes that collide, or links down between switches?"},
    Rule{"compute-efficiency", 0, 0.5,
         "throttled GPUs, unfused attention, or a step that waits for data or its CPU?"},
    Rule{"compute-efficiency", 0.5, kLittleLess,
         "slower kernels or lower clocks than the framework's usual ones?"},
    Rule{"compute-efficiency", kLittleMore, kAny,
         "less recomputation, or a lower precision, than the workload says?"},
    Rule{"launch-cost", 3, kAny, "a slow or busy CPU: CUDA graphs, torch.compile, pinned processes?"},
    Rule{"launch-cost", kLittleMore, 3, "somewhat slower CPUs, or more of them asleep, than those measured?"},
    Rule{"launch-cost", 0, kLittleLess,
         "launches that cost less than assumed: CUDA graphs or compiled code?"},
};

/// Spreads of the fits' own constants (rates, shares, latencies of sim/cost/profile_parameters.cpp), and how
/// far off common faults are: TCP for RDMA and PCIe for NVLink as above; PCIe at a quarter of its lanes;
/// uplinks shared by eight; kernels at half their speed; a CPU ten times slower at launching. Latencies of
/// healthy and sick links alike stay within a few times.
struct Plausible {
  std::string_view name;  // that the parameter's begins with; "" at last: all others
  double spread;
  double faulty;  // factor
};
constexpr std::array kPlausible = {
    Plausible{"nic-", 0.1, 1 / 33.0},      Plausible{"nvlink-bandwidth", 0.1, 0.1},
    Plausible{"xgmi-bandwidth", 0.1, 0.1}, Plausible{"pcie-bandwidth", 0.1, 0.25},
    Plausible{"leaf-", 0.1, 0.125},        Plausible{"spine-", 0.1, 0.125},
    Plausible{"switch-", 0.1, 0.125},      Plausible{"compute-", 0.1, 0.5},
    Plausible{"memory-", 0.1, 0.5},        Plausible{"channel-", 0.3, 0.5},
    Plausible{"launch-", 0.6, 10},         Plausible{"", 0.6, 3},
};
constexpr double kFault = 3;  // standard deviations that a fault of no size counts for

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

double implausibility(const StudyParameter& parameter, double factor) {
  const double off = std::abs(std::log(factor));
  for (const Plausible& p : kPlausible) {
    if (!parameter.name.starts_with(p.name)) continue;
    const bool worse = parameter.is_time() ? factor > 1 : factor < 1;
    const double usual = off / p.spread;
    return worse ? std::min(usual, kFault + off / std::abs(std::log(p.faulty))) : usual;
  }
  return off;
}

}  // namespace busbar
