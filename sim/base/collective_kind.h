// The operations, under the names of the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace busbar {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSendRecv,
  kBarrier,
};
inline constexpr std::size_t kCollectiveKinds = 10;

enum class DataType : std::uint8_t { kFp32, kTf32, kBf16, kFp16, kFp8, kInt8, kInt32, kInt64 };
enum class Reduction : std::uint8_t { kSum, kAvg, kMin, kMax, kProd };

/// "all_reduce". `parse_collective` also takes nccl-tests' spellings: "AllReduce", "all_reduce_perf",
/// "alltoall", "sendrecv", "allgather", "reducescatter".
[[nodiscard]] std::string_view name_of(CollectiveKind kind);
[[nodiscard]] std::optional<CollectiveKind> parse_collective(std::string_view name);
[[nodiscard]] std::span<const std::string_view> collective_names();

[[nodiscard]] std::string_view name_of(DataType type);
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view name);
[[nodiscard]] std::span<const std::string_view> data_type_names();
/// Bytes per element in memory (tf32 is stored as 4 bytes).
[[nodiscard]] std::int64_t size_of(DataType type);

[[nodiscard]] std::string_view name_of(Reduction reduction);
[[nodiscard]] std::optional<Reduction> parse_reduction(std::string_view name);
[[nodiscard]] std::span<const std::string_view> reduction_names();

/// busbw / algbw as nccl-tests defines it: all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all,
/// gather, scatter (n-1)/n; the others 1. With n = 1: 0 for the former two classes. Source: NVIDIA/nccl-tests
/// doc/PERFORMANCE.md.
[[nodiscard]] double busbw_factor(CollectiveKind kind, std::int64_t ranks);
/// True where every rank holds n equal parts, so that the full size is a multiple of n elements.
[[nodiscard]] bool divides_by_ranks(CollectiveKind kind);
[[nodiscard]] bool is_reducing(CollectiveKind kind);
[[nodiscard]] bool is_rooted(CollectiveKind kind);

}  // namespace busbar
