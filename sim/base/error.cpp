#include "sim/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace busbar {
namespace {

constexpr std::size_t kQuotedCharacters = 60;

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// Bytes of the UTF-8 sequence that `lead` opens, 0 for a byte that opens none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // 0: not valid UTF-8
};

CodePoint decode(std::string_view text, std::size_t start) {
  const unsigned char lead = byte_at(text, start);
  const std::size_t length = sequence_length(lead);
  if (length == 0 || start + length > text.size()) return {};
  if (length == 1) return {lead, 1};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t i = start + 1; i < start + length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte_at(text, i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

/// False for what moves a terminal's cursor, breaks a line or turns the reading direction.
bool is_safe(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool layout =
      c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !layout;
}

std::string escaped(std::string_view text, std::size_t max_characters) {
  std::string out;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++characters) {
    if (characters == max_characters) return out + "...";
    const CodePoint point = decode(text, i);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (point.length > 0 && is_safe(point.value)) {
      out += text.substr(i, length);
    } else {
      for (std::size_t k = i; k < i + length; ++k) out += fmt::format("\\x{:02x}", byte_at(text, k));
    }
    i += length;
  }
  return out;
}

std::string join_line(const ErrorParts& parts) {
  std::string body = parts.message;
  if (body.empty() && !parts.expected.empty()) body = "expected " + parts.expected;
  if (parts.message.empty() && !parts.given.empty()) {
    if (!body.empty()) body += ", ";
    body += "got " + parts.given;
  }
  std::string line = parts.where;
  if (!line.empty() && !body.empty()) line += ": ";
  line += body;
  if (!line.empty() && !parts.suggestion.empty()) line += "; ";
  return escaped(line + parts.suggestion, std::string::npos);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Damerau-Levenshtein distance in its optimal string alignment form, case-insensitive.
/// Cost: O(|a| x |b|).   Source: Boytsov, ACM Journal of Experimental Algorithmics 16, 2011, section 2.2.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

constexpr std::size_t kLongestWord = 256;

/// The largest distance at which `candidate` is still a likely meaning of `given`. Half of the longer word is
/// the ceiling: two letters of three are a guess, not a misspelling.
std::size_t near_enough(std::string_view given, std::string_view candidate) {
  const std::size_t generous = std::max<std::size_t>(2, candidate.size() / 3);
  return std::min(generous, std::max(given.size(), candidate.size()) / 2);
}

}  // namespace

Error::Error(ErrorParts parts) : parts_(std::move(parts)), line_(join_line(parts_)) {}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> candidates) {
  // The table of distances grows with the product of the lengths, and names of 64 KiB are legal.
  if (given.size() > kLongestWord) return "";
  std::optional<std::string_view> best;
  std::size_t best_distance = std::string::npos;
  for (const std::string_view candidate : candidates) {
    const std::size_t limit = near_enough(given, candidate);
    // The distance is at least the difference in length: spares the table for long garbage.
    if (std::max(given.size(), candidate.size()) - std::min(given.size(), candidate.size()) > limit) continue;
    const std::size_t distance = edit_distance(given, candidate);
    if (distance > limit || distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best ? fmt::format("did you mean {}?", quoted(*best)) : "";
}

std::string printable(std::string_view text) { return escaped(text, std::string::npos); }

std::string quoted(std::string_view text) { return fmt::format("'{}'", escaped(text, kQuotedCharacters)); }

void detail::check_failed(const char* condition, const char* file, int line) {
  fmt::print(stderr, "{}:{}: internal error: {} does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace busbar
