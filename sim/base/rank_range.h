// Ranks as ranges: "0-7", "0-15:2".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// No job, and no group of ranks, is larger.
inline constexpr std::uint32_t kMaxRanks = 1U << 24;

/// Contiguous ranks with a stride: first, first + stride, ... (count of them).
struct RankRange {
  std::uint32_t first = 0, count = 0, stride = 1;
};

/// "a-b" (inclusive) or "a-b:stride". Errors: anything else, a > b, a stride of 0.
/// The ranks themselves are at most 2^32 - 1; the caller holds them against its limit.
[[nodiscard]] std::optional<RankRange> parse_rank_range(std::string_view text);
[[nodiscard]] std::string to_text(const RankRange& range);

[[nodiscard]] constexpr std::uint32_t last_rank(const RankRange& range) {
  return range.first + (range.count - 1) * range.stride;
}

template <class Visit>
void for_each_rank(const std::vector<RankRange>& ranges, Visit visit) {
  for (const RankRange& range : ranges)
    for (std::uint32_t i = 0; i < range.count; ++i) visit(range.first + i * range.stride);
}

[[nodiscard]] std::vector<std::uint32_t> expand(const std::vector<RankRange>& ranges);
[[nodiscard]] std::uint64_t count(const std::vector<RankRange>& ranges);

}  // namespace busbar
