// Sets of ranks as ranges: "0-15:2", [0, 1, 4], [3, "8-11"].
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/json_reader.h"
#include "sim/base/rank_range.h"

namespace busbar {

/// Adds one rank, as part of the last range where it continues it.
void append_rank(std::vector<RankRange>& ranges, std::uint32_t rank);

/// A rank set of the input: text, or a list of ranks and texts. Never expanded; order is kept.
/// Errors: an empty set, a rank of kMaxRanks or more, more than kMaxRanks ranks in all.
[[nodiscard]] std::vector<RankRange> read_rank_set(const JsonValue& value);

}  // namespace busbar
