// Sets of ranks as ranges: "0-15:2", [0, 1, 4], [3, "8-11"].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/json_reader.h"
#include "workloads/trace.h"

namespace busbar {

inline constexpr std::uint32_t kMaxRanks = 1U << 24;

/// "a-b" (inclusive) or "a-b:stride". Errors: anything else, a > b, a stride of 0.
/// The ranks themselves are at most 2^32 - 1; the caller holds them against its limit.
[[nodiscard]] std::optional<RankRange> parse_rank_range(std::string_view text);
[[nodiscard]] std::string to_text(const RankRange& range);

/// Adds one rank, as part of the last range where it continues it.
void append_rank(std::vector<RankRange>& ranges, std::uint32_t rank);

/// A rank set of the input: text, or a list of ranks and texts. Never expanded; order is kept.
/// Errors: an empty set, a rank of kMaxRanks or more, more than kMaxRanks ranks in all.
[[nodiscard]] std::vector<RankRange> read_rank_set(const JsonValue& value);

[[nodiscard]] constexpr std::uint32_t last_rank(const RankRange& range) {
  return range.first + (range.count - 1) * range.stride;
}

template <class Visit>
void for_each_rank(const std::vector<RankRange>& ranges, Visit visit) {
  for (const RankRange& range : ranges)
    for (std::uint32_t i = 0; i < range.count; ++i) visit(range.first + i * range.stride);
}

}  // namespace busbar
