#include "sim/base/collective_kind.h"

#include <algorithm>
#include <array>
#include <string>

#include "sim/base/error.h"

namespace busbar {
namespace {

// Each in the order of its enum.
constexpr std::array<std::string_view, 10> kCollectives = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
    "gather",     "scatter",    "all_to_all",     "send_recv", "barrier"};
constexpr std::array<std::string_view, 8> kTypes = {"fp32", "tf32", "bf16",  "fp16",
                                                    "fp8",  "int8", "int32", "int64"};
constexpr std::array<std::int64_t, 8> kTypeSizes = {4, 4, 2, 2, 1, 1, 4, 8};
constexpr std::array<std::string_view, 5> kReductions = {"sum", "avg", "min", "max", "prod"};

template <class Enum>
std::optional<Enum> parse_name(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

/// "AllReduce", "all_reduce" and "all_reduce_perf" all become "allreduce".
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (out.ends_with("perf")) out.resize(out.size() - 4);
  return out;
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return kCollectives[static_cast<std::size_t>(kind)]; }
std::string_view name_of(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }
std::string_view name_of(Reduction reduction) { return kReductions[static_cast<std::size_t>(reduction)]; }

std::span<const std::string_view> collective_names() { return kCollectives; }
std::span<const std::string_view> data_type_names() { return kTypes; }
std::span<const std::string_view> reduction_names() { return kReductions; }

std::optional<CollectiveKind> parse_collective(std::string_view name) {
  const std::string wanted = plain(name);
  for (std::size_t i = 0; i < kCollectives.size(); ++i)
    if (plain(kCollectives[i]) == wanted) return static_cast<CollectiveKind>(i);
  return std::nullopt;
}

std::optional<DataType> parse_data_type(std::string_view name) { return parse_name<DataType>(kTypes, name); }
std::optional<Reduction> parse_reduction(std::string_view name) {
  return parse_name<Reduction>(kReductions, name);
}

std::int64_t size_of(DataType type) { return kTypeSizes[static_cast<std::size_t>(type)]; }

double busbw_factor(CollectiveKind kind, std::int64_t ranks) {
  BUSBAR_CHECK(ranks >= 1);
  const auto n = static_cast<double>(ranks);
  if (kind == CollectiveKind::kAllReduce) return 2 * (n - 1) / n;
  return divides_by_ranks(kind) ? (n - 1) / n : 1;
}

bool divides_by_ranks(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllToAll:
      return true;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kBarrier:
      return false;
  }
  BUSBAR_CHECK(false);
}

bool is_reducing(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kReduce;
}

bool is_rooted(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}

}  // namespace busbar
