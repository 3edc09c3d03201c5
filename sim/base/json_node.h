// The parsed JSON tree behind json_reader.h. Private to the reader: others use JsonValue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/json_reader.h"

namespace busbar {

struct JsonMember;

/// Members in file order. `by_key` numbers them in order of their keys, for look-up in O(log n).
struct JsonObject {
  std::vector<JsonMember> members;
  std::vector<std::uint32_t> by_key;
};

using JsonArray = std::vector<JsonNode>;

/// Integers beyond int64 are held as doubles.
struct JsonNode {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, JsonArray, JsonObject> value;
};

struct JsonMember {
  std::string key;
  JsonNode value;
};

struct JsonDocument::Impl {
  std::string name;
  std::string folder;
  std::uint64_t digest = 0;
  JsonNode root;
};

namespace detail {

inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonString = std::size_t{64} << 10;

/// Text to tree. Errors name `name` with line and column.
[[nodiscard]] JsonNode parse_json(std::string_view text, const std::string& name, std::size_t max_depth);

/// Sorts `by_key`. Equal keys stay in file order, side by side.
void index_keys(JsonObject& object);
/// The member called `key`, or nullptr.
[[nodiscard]] const JsonNode* find_member(const JsonObject& object, std::string_view key);

/// Compact JSON, given up soon after `max_size` bytes.
[[nodiscard]] std::string json_text(const JsonNode& node, std::size_t max_size = std::string::npos);
/// `text` as a JSON string literal.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace detail
}  // namespace busbar
