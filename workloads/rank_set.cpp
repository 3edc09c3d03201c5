#include "workloads/rank_set.h"

#include <fmt/format.h>

#include <charconv>

namespace busbar {

namespace {

constexpr const char* kRankSetForms = "ranks as \"0-7\", \"0-15:2\" or a list such as [0, 1]";

/// Reads digits off the front of `text`.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char mark) {
  if (text.empty() || text.front() != mark) return false;
  text.remove_prefix(1);
  return true;
}

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

std::optional<RankRange> parse_rank_range(std::string_view text) {
  const auto first = take_number(text);
  if (!first || !take(text, '-')) return std::nullopt;
  const auto last = take_number(text);
  if (!last || *last < *first) return std::nullopt;
  std::uint32_t stride = 1;
  if (take(text, ':')) {
    const auto given = take_number(text);
    if (!given || *given == 0) return std::nullopt;
    stride = *given;
  }
  // The one range whose count, 2^32, does not fit.
  const std::uint64_t count = std::uint64_t{*last - *first} / stride + 1;
  if (!text.empty() || count > UINT32_MAX) return std::nullopt;
  return RankRange{*first, static_cast<std::uint32_t>(count), count == 1 ? 1 : stride};
}

std::string to_text(const RankRange& range) {
  const std::string ends = fmt::format("{}-{}", range.first, last_rank(range));
  return range.stride == 1 ? ends : fmt::format("{}:{}", ends, range.stride);
}

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
