// NCCL_ALGO and NCCL_PROTO, and the names that change nothing.
#include <fmt/format.h>

#include <array>
#include <span>

#include "calibrate/import/nccl_env.h"
#include "calibrate/import/text_scan.h"
#include "sim/base/named_table.h"

namespace busbar::detail {
namespace {

constexpr std::array<std::string_view, 5> kFunctions = {"broadcast", "reduce", "allgather", "reducescatter",
                                                        "allreduce"};
constexpr std::array<CollectiveKind, 5> kKinds = {CollectiveKind::kBroadcast, CollectiveKind::kReduce,
                                                  CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                                  CollectiveKind::kAllReduce};
// In the order of the enums; NCCL compares without regard to case.
constexpr std::array<std::string_view, kNcclAlgorithms> kAlgorithms = {
    "tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"};
constexpr std::array<std::string_view, kNcclProtocols> kProtocols = {"ll", "ll128", "simple"};

std::size_t index_of(const Variable& variable, std::string_view given, const char* what,
                     std::span<const std::string_view> names) {
  const std::string wanted = lower(given);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == wanted) return i;
  throw Error({.where = fmt::format("{}: {}", variable.where, variable.name),
               .expected = fmt::format("{}: {}", what, one_of(names)),
               .given = quoted(given),
               .suggestion = did_you_mean(wanted, names)});
}

// "ring,tree" enables these alone, "^ring" all but these.
template <std::size_t N>
EnabledSet<N> enabled(const Variable& variable, std::string_view list,
                      const std::array<std::string_view, N>& names, const char* what) {
  const bool but = list.starts_with('^');
  if (but) list.remove_prefix(1);
  EnabledSet<N> set;
  set.fill(but);
  for (const std::string_view name : split(list, ',')) set[index_of(variable, name, what, names)] = !but;
  return set;
}

template <std::size_t N>
void apply(const Variable& variable, const std::array<std::string_view, N>& names, const char* what,
           std::array<std::optional<EnabledSet<N>>, kCollectiveKinds>& settings) {
  settings.fill(std::nullopt);
  for (const std::string_view part : split(variable.value, ';')) {
    if (part.empty()) continue;
    const std::size_t colon = part.find(':');
    const auto set = enabled(variable, trimmed(part.substr(colon + 1)), names, what);
    const bool all = colon == std::string_view::npos;
    const std::size_t one =
        all ? 0 : index_of(variable, trimmed(part.substr(0, colon)), "a function", kFunctions);
    for (std::size_t f = 0; f < kFunctions.size(); ++f)
      if (all || f == one) settings[static_cast<std::size_t>(kKinds[f])] = set;
  }
}

struct Harmless {
  std::string_view name, reason;
};

constexpr Harmless kHarmless[] = {
    // What NCCL prints and writes.
    {"NCCL_DEBUG", "logging"},
    {"NCCL_DEBUG_FILE", "logging"},
    {"NCCL_DEBUG_SUBSYS", "logging"},
    {"NCCL_DEBUG_TIMESTAMP_FORMAT", "logging"},
    {"NCCL_DEBUG_TIMESTAMP_LEVELS", "logging"},
    {"NCCL_TOPO_DUMP_FILE", "logging"},
    {"NCCL_TOPO_DUMP_FILE_RANK", "logging"},
    {"NCCL_GRAPH_DUMP_FILE", "logging"},
    {"NCCL_GRAPH_DUMP_FILE_RANK", "logging"},
    {"NCCL_PROFILER_PLUGIN", "logging"},
    {"NCCL_PROFILE_EVENT_MASK", "logging"},
    {"NCCL_PROFILE_DUMP_FILE", "logging"},
    {"NCCL_INSPECTOR_ENABLE", "logging"},
    {"NCCL_INSPECTOR_DUMP_DIR", "logging"},
    {"NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS", "logging"},
    {"NCCL_INSPECTOR_DUMP_VERBOSE", "logging"},
    {"NCCL_RAS_ENABLE", "logging"},
    {"NCCL_RAS_ADDR", "logging"},
    {"NCCL_RAS_TIMEOUT_FACTOR", "logging"},
    {"NCCL_WARN_ENABLE_DEBUG_INFO", "logging"},
    {"NCCL_SET_THREAD_NAME", "logging"},
    {"NCCL_NVTX_DISABLE", "logging"},
    {"NCCL_REPORT_CONNECT_PROGRESS", "logging"},
    // How ranks meet.
    {"NCCL_COMM_ID", "startup"},
    {"NCCL_CONF_FILE", "startup"},
    {"NCCL_COMM_BLOCKING", "startup"},
    {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "startup"},
    {"NCCL_COMM_SHRINK_SHARE_RESOURCES", "startup"},
    {"NCCL_RUNTIME_CONNECT", "startup"},
    {"NCCL_UID_STAGGER_RATE", "startup"},
    {"NCCL_UID_STAGGER_THRESHOLD", "startup"},
    {"NCCL_OOB_NET_ENABLE", "startup"},
    {"NCCL_OOB_NET_IFNAME", "startup"},
    {"NCCL_SOCKET_FAMILY", "startup"},
    {"NCCL_SOCKET_RETRY_CNT", "startup"},
    {"NCCL_SOCKET_RETRY_SLEEP_MSEC", "startup"},
    {"NCCL_SOCKET_POLL_TIMEOUT_MSEC", "startup"},
    {"NCCL_CREATE_THREAD_CONTEXT", "startup"},
    {"NCCL_CHECK_POINTERS", "startup"},
    {"NCCL_CHECKS_DISABLE", "startup"},
    {"NCCL_ASYNC_ERROR_HANDLING", "startup"},
    {"NCCL_BLOCKING_WAIT", "startup"},
    {"NCCL_IGNORE_CPU_AFFINITY", "startup"},
    {"NCCL_SET_STACK_SIZE", "startup"},
    {"NCCL_CGA_CLUSTER_SIZE", "startup"},
    {"NCCL_MEM_SYNC_DOMAIN", "startup"},
    {"NCCL_WORK_FIFO_BYTES", "startup"},
    {"NCCL_WORK_ARGS_BYTES", "startup"},
    {"NCCL_CUMEM_ENABLE", "startup"},
    {"NCCL_CUMEM_HOST_ENABLE", "startup"},
    {"NCCL_IB_TIMEOUT", "startup"},
    {"NCCL_IB_RETRY_CNT", "startup"},
    {"NCCL_IB_RETURN_ASYNC_EVENTS", "startup"},
    {"NCCL_IB_WARN_RAIL_LOCAL", "startup"},
    {"NCCL_LAUNCH_MODE", "startup"},
    {"NCCL_LAUNCH_RACE_FATAL", "startup"},
    {"NCCL_LAUNCH_ORDER_IMPLICIT", "startup"},
    {"NCCL_GRAPH_MIXING_SUPPORT", "startup"},
    {"NCCL_LAZY_CONNECT", "startup"},
    // Which NICs and links there are: the topology file says it.
    {"NCCL_SOCKET_IFNAME", "topology"},
    {"NCCL_IB_HCA", "topology"},
    {"NCCL_IB_DISABLE", "topology"},
    {"NCCL_IB_GID_INDEX", "topology"},
    {"NCCL_IB_ADDR_FAMILY", "topology"},
    {"NCCL_IB_ADDR_RANGE", "topology"},
    {"NCCL_IB_ROCE_VERSION_NUM", "topology"},
    {"NCCL_IB_SL", "topology"},
    {"NCCL_IB_TC", "topology"},
    {"NCCL_IB_FIFO_TC", "topology"},
    {"NCCL_IB_PKEY", "topology"},
    {"NCCL_IB_MERGE_VFS", "topology"},
    {"NCCL_IB_MERGE_NICS", "topology"},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "topology"},
    {"NCCL_IB_ADAPTIVE_ROUTING", "topology"},
    {"NCCL_IB_DATA_DIRECT", "topology"},
    {"NCCL_NET", "topology"},
    {"NCCL_NET_PLUGIN", "topology"},
    {"NCCL_NET_DISABLE_INTRA", "topology"},
    {"NCCL_NET_MERGE_LEVEL", "topology"},
    {"NCCL_NET_FORCE_MERGE", "topology"},
    {"NCCL_NETDEVS_POLICY", "topology"},
    {"NCCL_TOPO_FILE", "topology"},
    {"NCCL_GRAPH_FILE", "topology"},
    {"NCCL_HOSTID", "topology"},
    {"NCCL_MNNVL_ENABLE", "topology"},
    {"NCCL_MNNVL_UUID", "topology"},
    {"NCCL_MNNVL_CLIQUE_ID", "topology"},
    {"NCCL_SHM_DISABLE", "topology"},
    {"NCCL_COLLNET_NODE_THRESHOLD", "topology"},
    {"NCCL_TUNER_PLUGIN", "--tuner"},
    {"NCCL_TUNER_CONFIG_FILE", "--tuner"},
    // What does change a time in NCCL, below what is modelled.
    {"NCCL_IB_QPS_PER_CONNECTION", "not modelled"},
    {"NCCL_IB_SPLIT_DATA_ON_QPS", "not modelled"},
    {"NCCL_IB_AR_THRESHOLD", "not modelled"},
    {"NCCL_IB_USE_INLINE", "not modelled"},
    {"NCCL_SOCKET_NTHREADS", "not modelled"},
    {"NCCL_NSOCKS_PERTHREAD", "not modelled"},
    {"NCCL_NET_GDR_READ", "not modelled"},
    {"NCCL_NET_GDR_C2C", "not modelled"},
    {"NCCL_NET_SHARED_BUFFERS", "not modelled"},
    {"NCCL_NET_SHARED_COMMS", "not modelled"},
    {"NCCL_GDRCOPY_ENABLE", "not modelled"},
    {"NCCL_GDRCOPY_FLUSH_ENABLE", "not modelled"},
    {"NCCL_GDRCOPY_FIFO_ENABLE", "not modelled"},
    {"NCCL_GDRCOPY_SYNC_ENABLE", "not modelled"},
    {"NCCL_GDR_FLUSH_DISABLE", "not modelled"},
    {"NCCL_LL_BUFFSIZE", "not modelled"},
    {"NCCL_LL128_BUFFSIZE", "not modelled"},
    {"NCCL_LL128_C2C", "not modelled"},
    {"NCCL_P2P_LEVEL", "not modelled"},
    {"NCCL_P2P_DIRECT_DISABLE", "not modelled"},
    {"NCCL_P2P_USE_CUDA_MEMCPY", "not modelled"},
    {"NCCL_P2P_READ_ENABLE", "not modelled"},
    {"NCCL_P2P_LL_THRESHOLD", "not modelled"},
    {"NCCL_P2P_SCHEDULE_GROUP_SIZE", "not modelled"},
    {"NCCL_P2P_PXN_LEVEL", "not modelled"},
    {"NCCL_P2P_BATCH_ENABLE", "not modelled"},
    {"NCCL_P2P_EPOCH_ENABLE", "not modelled"},
    {"NCCL_ALLOC_P2P_NET_LL_BUFFERS", "not modelled"},
    {"NCCL_PXN_C2C", "not modelled"},
    {"NCCL_SHM_USE_CUDA_MEMCPY", "not modelled"},
    {"NCCL_SHM_MEMCPY_MODE", "not modelled"},
    {"NCCL_SHM_LOCALITY", "not modelled"},
    {"NCCL_THREAD_THRESHOLDS", "not modelled"},
    {"NCCL_TREE_THRESHOLD", "not modelled"},
    {"NCCL_PAT_ENABLE", "not modelled"},
    {"NCCL_UNPACK_DOUBLE_NCHANNELS", "not modelled"},
    {"NCCL_MAX_NCHANNELS_PER_PEER", "not modelled"},
    {"NCCL_NVB_DISABLE", "not modelled"},
    {"NCCL_NVLS_TREE_MAX_CHUNKSIZE", "not modelled"},
    {"NCCL_NVLSTREE_MAX_CHUNKSIZE", "not modelled"},
    {"NCCL_NVLS_REGISTRATION_ENABLE", "not modelled"},
    {"NCCL_LOCAL_REGISTER", "not modelled"},
    {"NCCL_GRAPH_REGISTER", "not modelled"},
    {"NCCL_LEGACY_CUDA_REGISTER", "not modelled"},
    {"NCCL_DMABUF_ENABLE", "not modelled"},
    {"NCCL_WIN_ENABLE", "not modelled"},
    {"NCCL_WIN_STRIDE", "not modelled"},
    {"NCCL_SYM_CTAS", "not modelled"},
    {"NCCL_SINGLE_PROC_MEM_REG_ENABLE", "not modelled"},
    {"NCCL_SINGLE_RING_THRESHOLD", "not modelled"},
    {"NCCL_PROGRESS_APPENDOP_FREQ", "not modelled"},
    {"NCCL_PROXY_APPEND_BATCH_SIZE", "not modelled"},
    {"NCCL_NTHREADS_PER_PEER", "not modelled"},
    {"NCCL_CTA_POLICY", "not modelled"},
};

}  // namespace

void apply_algorithms(const Variable& variable, NcclSettings& settings) {
  apply(variable, kAlgorithms, "an algorithm", settings.algorithms);
}

void apply_protocols(const Variable& variable, NcclSettings& settings) {
  apply(variable, kProtocols, "a protocol", settings.protocols);
}

std::string_view reason_without_effect(std::string_view name) {
  if (!name.starts_with("NCCL_")) return "not NCCL's";
  for (const Harmless& known : kHarmless)
    if (known.name == name) return known.reason;
  return "";
}

void append_names_without_effect(std::vector<std::string_view>& names) {
  for (const Harmless& known : kHarmless) names.push_back(known.name);
}

}  // namespace busbar::detail
