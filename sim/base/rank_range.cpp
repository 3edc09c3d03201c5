#include "sim/base/rank_range.h"

#include <fmt/format.h>

#include <charconv>

namespace busbar {

namespace {

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

std::vector<std::uint32_t> expand(const std::vector<RankRange>& ranges) {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(count(ranges));
  for_each_rank(ranges, [&](std::uint32_t rank) { ranks.push_back(rank); });
  return ranks;
}

std::uint64_t count(const std::vector<RankRange>& ranges) {
  std::uint64_t total = 0;
  for (const RankRange& range : ranges) total += range.count;
  return total;
}

}  // namespace busbar
