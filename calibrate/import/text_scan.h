// Scanning text files line by line and word by word. No regular expressions: lines of logs may be long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace busbar {

inline constexpr std::size_t kMaxFileBytes = 64U << 20U;
inline constexpr std::size_t kMaxLineBytes = 64U << 10U;
inline constexpr std::size_t kMaxRows = 1'000'000;

/// The bytes of a file of at most 64 MiB, unpacked if gzip packed it. UTF-16 with its mark becomes one byte
/// per character ('?' beyond ASCII); the mark of UTF-8 is dropped. Throws Error: kSystem if it cannot be
/// read, kInput if it is too long.
[[nodiscard]] std::string load_text(const std::string& path);

/// The lines of a text, without their ends ("\n", "\r\n"). Borrows the text.
class LineScanner {
 public:
  explicit LineScanner(std::string_view text) : rest_(text) {}
  /// Moves to the next line; false at the end.
  bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::int64_t number() const { return number_; }  // from 1
  [[nodiscard]] bool at_end() const { return rest_.empty(); }    // no line follows

 private:
  std::string_view rest_, line_;
  std::int64_t number_ = 0;
};

[[nodiscard]] bool is_blank(char c);
[[nodiscard]] bool is_digit(char c);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
/// The words between blanks.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
/// The parts between separators, trimmed; empty parts are kept, so that there is always at least one.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The whole text as an integer (a sign is allowed) or as a finite decimal number.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);
/// The word after the first `key`, if there is one.
[[nodiscard]] std::optional<std::string_view> word_after(const std::vector<std::string_view>& words,
                                                         std::string_view key);

/// "file:12".
[[nodiscard]] std::string at_line(const std::string& name, std::int64_t line);
/// 26.2 as "22602" -> "2.26.2": NCCL's number of a version, "" for what is none.
[[nodiscard]] std::string version_of_code(std::int64_t code);
/// The dotted number that `text` begins with: "2.20.5+cuda12.4" -> "2.20.5"; "" if there is none.
[[nodiscard]] std::string version_prefix(std::string_view text);

}  // namespace busbar
