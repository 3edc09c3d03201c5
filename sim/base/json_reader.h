// Reading JSON files with closed keys, and errors that name the file, the place, what was expected and what
// was given. Users of this header need not see nlohmann/json.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

class JsonValue;
struct JsonNode;  // sim/base/json_node.h, private to the reader

/// A parsed document and the name it is called by in errors. Cheap to copy (shared, immutable).
/// Accepts `//` and `/* */` comments and a byte-order mark. Errors (Error, kInput) with line and column:
/// not JSON, truncated, duplicate key, depth over 64, string over 64 KiB, NaN or infinity, trailing text.
class JsonDocument {
 public:
  [[nodiscard]] static JsonDocument load(const std::string& path);
  [[nodiscard]] static JsonDocument parse(std::string_view text, std::string name);
  [[nodiscard]] JsonValue root() const;
  [[nodiscard]] const std::string& name() const;
  /// The folder of the file (for files that it names; "." where the path has none), "" for text.
  [[nodiscard]] std::string folder() const;
  /// 64-bit FNV-1a of the bytes read and of every override, as 16 hex digits.
  [[nodiscard]] std::string digest() const;

  /// --set key.path=value: a copy with one value replaced or added. Path: keys and array indices joined by
  /// dots. Missing objects on the way are made; a missing array index is an error. `value` is taken as JSON
  /// if it parses as JSON (numbers, true, null, [..], {..}, "text"), else as a string.
  [[nodiscard]] JsonDocument with(std::string_view key_path, std::string_view value) const;
  /// The value as compact JSON text (for digests and echoes).
  [[nodiscard]] std::string dump() const;

 private:
  friend class JsonValue;
  struct Impl;
  [[nodiscard]] static JsonDocument make(std::string_view text, std::string name, std::string folder);
  std::shared_ptr<const Impl> impl_;
};

/// A cursor to one value. All readers throw Error (kInput) naming `where()`.
class JsonValue {
 public:
  /// "file.json#/links/0/bandwidth" ("file.json" for the root).
  [[nodiscard]] std::string where() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_null() const;

  /// Objects with a closed set of keys: throws on any key that is not in `keys`, with a suggestion.
  void only_keys(std::span<const std::string_view> keys) const;
  void only_keys(std::initializer_list<std::string_view> keys) const {
    only_keys(std::span<const std::string_view>(keys.begin(), keys.size()));
  }
  /// Objects with free keys (maps by name), in file order.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Member access: `at` throws when missing ("missing key 'x'"); `find` returns nullopt when missing.
  [[nodiscard]] JsonValue at(std::string_view key) const;
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  /// Elements of an array.
  [[nodiscard]] std::vector<JsonValue> items() const;

  /// Scalars. Integers must be whole numbers within [low, high]; 2.0 is accepted, 2.5 is not.
  [[nodiscard]] std::string string() const;
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] double number(double low, double high) const;
  [[nodiscard]] bool boolean() const;

  /// Quantities: text with a unit. A bare number is an error that says which unit is wanted.
  [[nodiscard]] Time time() const;
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] Bandwidth bandwidth() const;
  [[nodiscard]] FlopRate flop_rate() const;
  [[nodiscard]] double watts() const;
  /// "50%" as a fraction.
  [[nodiscard]] double percent() const;

  /// An error at this place. `given` is this value, abbreviated.
  [[noreturn]] void fail(std::string expected, std::string suggestion = "") const;
  /// An error at this place in free words.
  [[noreturn]] void fail_because(std::string message) const;
  /// This value for an error line: strings, arrays and objects quoted and cut to 60 characters, others as in
  /// JSON.
  [[nodiscard]] std::string abbreviated() const;

 private:
  friend class JsonDocument;
  JsonValue(std::shared_ptr<const JsonDocument::Impl> doc, const JsonNode* node, std::string pointer);
  std::shared_ptr<const JsonDocument::Impl> doc_;
  const JsonNode* node_;
  std::string pointer_;
};

}  // namespace busbar
