// Text to tree. The only place of the reader that sees nlohmann/json: its SAX parser finds the syntax, we
// keep the limits, the order and the positions.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/json_node.h"

namespace busbar {
namespace {

using Json = nlohmann::json;

/// "file.json:3:14", counting characters from 1.
std::string place_of(const std::string& name, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::string_view line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  const auto characters = std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return fmt::format("{}:{}:{}", name, lines + 1, characters + 1);
}

/// The opening quote of the string whose closing quote is at `end`: the nearest that no backslash escapes.
std::size_t string_start(std::string_view text, std::size_t end) {
  std::size_t i = end;
  while (i > 0) {
    --i;
    if (text[i] != '"') continue;
    std::size_t escapes = 0;
    while (escapes < i && text[i - 1 - escapes] == '\\') ++escapes;
    if (escapes % 2 == 0) return i;
  }
  return end;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
         c == '.';
}

/// Where the token that ends at `last` begins.
std::size_t token_start(std::string_view text, std::size_t last) {
  if (last >= text.size()) return text.size();
  if (text[last] == '"') return string_start(text, last);
  std::size_t start = last;
  while (is_word(text[last]) && start > 0 && is_word(text[start - 1])) --start;
  return start;
}

/// nlohmann's words without its prefix and without the text last read, which may be long.
std::string syntax_problem(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  if (dash != std::string_view::npos) what.remove_prefix(dash + 3);
  return std::string(what.substr(0, what.find("; last read: ")));
}

/// What is most often meant where the token at `start` is a syntax error.
std::string syntax_hint(std::string_view text, std::size_t start) {
  const std::string_view token = text.substr(start);
  for (const std::string_view word : {"NaN", "nan", "-NaN", "Inf", "inf", "-Inf", "-inf"})
    if (token.starts_with(word)) return "JSON has no NaN and no infinity";
  if (token.starts_with('\'')) return "strings take double quotes";
  const std::size_t before = text.substr(0, start).find_last_not_of(" \t\r\n");
  const bool after_comma = before != std::string_view::npos && text[before] == ',';
  if (after_comma && (token.starts_with('}') || token.starts_with(']'))) return "remove the comma before it";
  return "";
}

/// Walks over the text and tells how far the parser has read.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

/// The SAX handler: builds the tree and throws at the first breach of a limit. Its public functions are
/// called by nlohmann, under the names that it wants.
class Builder {
 public:
  Builder(std::string_view text, const std::string& name, std::size_t max_depth)
      : text_(text), name_(name), max_depth_(max_depth), seen_(text.data()) {}

  JsonNode build() {
    const char* end = text_.data() + text_.size();
    Json::sax_parse(Cursor(text_.data(), &seen_), Cursor(end, &seen_), this, Json::input_format_t::json,
                    /*strict=*/true, /*ignore_comments=*/true);
    return std::move(root_);
  }

  bool null() { return place({}); }
  bool boolean(bool value) { return place({value}); }
  bool number_integer(Json::number_integer_t value) { return place({std::int64_t{value}}); }
  bool number_unsigned(Json::number_unsigned_t value) {
    if (std::in_range<std::int64_t>(value)) return place({static_cast<std::int64_t>(value)});
    return place({static_cast<double>(value)});
  }
  bool number_float(Json::number_float_t value, const Json::string_t& /*text*/) {
    return place({value + 0.0});  // turns -0.0 into 0.0
  }
  bool string(Json::string_t& value) {
    check_length(value);
    return place({std::move(value)});
  }
  bool binary(Json::binary_t& /*value*/) { return false; }  // never in text

  bool start_object(std::size_t /*size*/) { return open({JsonObject{}}); }
  bool start_array(std::size_t /*size*/) { return open({JsonArray{}}); }
  bool key(Json::string_t& value) {
    check_length(value);
    open_.back().key = std::move(value);
    open_.back().key_ends.push_back(last_read());
    return true;
  }
  bool end_object() {
    auto& object = std::get<JsonObject>(open_.back().node.value);
    detail::index_keys(object);
    check_duplicates(object, open_.back().key_ends);
    return close();
  }
  bool end_array() { return close(); }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) {
    const std::size_t start = token_start(text_, std::min(position, text_.size() + 1) - 1);
    if (error.id == 406) fail(start, {.expected = "a number within +-1.8e308", .given = quoted(token)});
    fail(start,
         {.message = "not JSON: " + syntax_problem(error.what()), .suggestion = syntax_hint(text_, start)});
  }

 private:
  /// An array or object whose end has not come, and the key that waits for its value.
  struct Open {
    JsonNode node;
    std::string key;
    std::vector<std::size_t> key_ends;
  };

  [[nodiscard]] std::size_t last_read() const { return static_cast<std::size_t>(seen_ - text_.data()) - 1; }

  [[noreturn]] void fail(std::size_t offset, ErrorParts parts) const {
    parts.where = place_of(name_, text_, offset);
    throw Error(std::move(parts));
  }

  void check_length(const std::string& text) const {
    if (text.size() <= detail::kMaxJsonString) return;
    fail(string_start(text_, last_read()),
         {.expected = fmt::format("a string of at most {} bytes", detail::kMaxJsonString),
          .given = fmt::format("{} bytes", text.size())});
  }

  /// Names the second of the first pair in the file.
  void check_duplicates(const JsonObject& object, const std::vector<std::size_t>& key_ends) const {
    std::optional<std::uint32_t> second;
    for (std::size_t i = 1; i < object.by_key.size(); ++i) {
      const std::uint32_t member = object.by_key[i];
      if (object.members[member].key != object.members[object.by_key[i - 1]].key) continue;
      second = std::min(member, second.value_or(member));
    }
    if (!second) return;
    fail(string_start(text_, key_ends[*second]),
         {.message = "duplicate key " + quoted(object.members[*second].key)});
  }

  bool open(JsonNode node) {
    if (open_.size() >= max_depth_)
      fail(last_read(),
           {.expected = fmt::format("at most {} levels of arrays and objects", detail::kMaxJsonDepth),
            .given = "one more"});
    open_.push_back({std::move(node), {}, {}});
    return true;
  }

  bool close() {
    JsonNode node = std::move(open_.back().node);
    open_.pop_back();
    return place(std::move(node));
  }

  bool place(JsonNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (auto* array = std::get_if<JsonArray>(&open_.back().node.value)) {
      array->push_back(std::move(node));
    } else {
      auto& object = std::get<JsonObject>(open_.back().node.value);
      object.members.push_back({std::move(open_.back().key), std::move(node)});
    }
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t max_depth_;
  const char* seen_;
  std::vector<Open> open_;
  JsonNode root_;
};

}  // namespace

JsonNode detail::parse_json(std::string_view text, const std::string& name, std::size_t max_depth) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error({.where = name, .expected = "JSON", .given = "an empty text"});
  // nlohmann takes a NUL for the end and would ignore what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error({.where = place_of(name, text, nul), .expected = "JSON", .given = "a NUL byte"});
  return Builder(text, name, max_depth).build();
}

}  // namespace busbar
