#include "calibrate/import/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "sim/base/input.h"

namespace busbar {
namespace {

std::string from_utf16(std::string_view bytes, std::size_t low) {
  std::string text;
  for (std::size_t i = 2; i + 1 < bytes.size(); i += 2)
    text += bytes[i + 1 - low] == 0 && (bytes[i + low] & 0x80) == 0 ? bytes[i + low] : '?';
  return text;
}

std::string decoded(std::string bytes) {
  if (bytes.starts_with("\xff\xfe")) return from_utf16(bytes, 0);
  if (bytes.starts_with("\xfe\xff")) return from_utf16(bytes, 1);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);
  return bytes;
}

template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string load_text(const std::string& path) {
  constexpr std::size_t kPiece = 1U << 20U;
  InputStream in(path);
  std::string bytes;
  for (std::size_t got = 1; got > 0 && bytes.size() <= kMaxFileBytes;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    got = in.read(std::span(bytes).subspan(before));
    bytes.resize(before + got);
  }
  if (bytes.size() > kMaxFileBytes)
    throw Error({.where = path, .expected = "a file of at most 64 MiB", .given = "a longer one"});
  return decoded(std::move(bytes));
}

bool LineScanner::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  return true;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && !is_blank(text[i])) ++i;
    words.push_back(text.substr(begin, i - begin));
  }
  return words;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> parse_whole(std::string_view text) { return parse_all<std::int64_t>(text); }

std::optional<double> parse_decimal(std::string_view text) {
  const auto value = parse_all<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::string_view> word_after(const std::vector<std::string_view>& words, std::string_view key) {
  const auto found = std::find(words.begin(), words.end(), key);
  if (found == words.end() || found + 1 == words.end()) return std::nullopt;
  return *(found + 1);
}

std::string at_line(const std::string& name, std::int64_t line) { return fmt::format("{}:{}", name, line); }

// Source: NVIDIA/nccl NCCL_VERSION: major * 10000 + minor * 100 + patch, and thousands before 2.9.
std::string version_of_code(std::int64_t code) {
  if (code >= 20000 && code < 100000)
    return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
  if (code >= 2000 && code < 3000) return fmt::format("{}.{}.{}", code / 1000, code / 100 % 10, code % 100);
  return "";
}

std::string version_prefix(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  while (end > 0 && text[end - 1] == '.') --end;
  const std::string_view number = text.substr(0, end);
  return !number.empty() && is_digit(number.front()) && number.find('.') != std::string_view::npos
             ? std::string(number)
             : "";
}

}  // namespace busbar
