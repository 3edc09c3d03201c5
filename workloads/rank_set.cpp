#include "workloads/rank_set.h"

#include <fmt/format.h>

namespace busbar {

namespace {

constexpr const char* kRankSetForms = "ranks as \"0-7\", \"0-15:2\" or a list such as [0, 1]";

RankRange range_of(const JsonValue& value) {
  const std::optional<RankRange> range = parse_rank_range(value.string());
  if (!range) value.fail(kRankSetForms);
  if (last_rank(*range) >= kMaxRanks) value.fail(fmt::format("ranks below {}", kMaxRanks));
  return *range;
}

void append_item(std::vector<RankRange>& ranges, const JsonValue& item) {
  if (!item.is_string()) {
    append_rank(ranges, static_cast<std::uint32_t>(item.integer(0, kMaxRanks - 1)));
    return;
  }
  const RankRange range = range_of(item);
  if (range.count == 1)
    append_rank(ranges, range.first);
  else
    ranges.push_back(range);
}

}  // namespace

void append_rank(std::vector<RankRange>& ranges, std::uint32_t rank) {
  if (!ranges.empty()) {
    RankRange& run = ranges.back();
    if (run.count == 1 && rank > run.first) {
      run = {run.first, 2, rank - run.first};
      return;
    }
    if (run.count > 1 && rank > last_rank(run) && rank - last_rank(run) == run.stride) {
      ++run.count;
      return;
    }
  }
  ranges.push_back({rank, 1, 1});
}

std::vector<RankRange> read_rank_set(const JsonValue& value) {
  if (!value.is_string() && !value.is_array()) value.fail(kRankSetForms);
  std::vector<RankRange> ranges;
  if (value.is_string()) return {range_of(value)};
  for (const JsonValue& item : value.items()) append_item(ranges, item);
  if (ranges.empty()) value.fail("at least one rank");
  if (count(ranges) > kMaxRanks) value.fail_because(fmt::format("more than {} ranks", kMaxRanks));
  return ranges;
}

}  // namespace busbar
