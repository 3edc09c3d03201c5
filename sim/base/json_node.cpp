#include "sim/base/json_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace busbar::detail {
namespace {

/// Writes a tree until the text is longer than wanted.
class Writer {
 public:
  explicit Writer(std::size_t max_size) : max_size_(max_size) {}
  std::string take() { return std::move(out_); }

  void write(const JsonNode& node) {
    std::visit([this](const auto& value) { put(value); }, node.value);
  }

 private:
  [[nodiscard]] bool full() const { return out_.size() > max_size_; }
  void put(std::monostate /*null*/) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(std::int64_t value) { out_ += fmt::format("{}", value); }
  void put(double value) { out_ += fmt::format("{}", value); }
  void put(const std::string& value) { out_ += json_string(value); }

  void put(const JsonArray& array) {
    out_ += '[';
    for (std::size_t i = 0; i < array.size() && !full(); ++i) {
      if (i > 0) out_ += ',';
      write(array[i]);
    }
    out_ += ']';
  }

  void put(const JsonObject& object) {
    out_ += '{';
    for (std::size_t i = 0; i < object.members.size() && !full(); ++i) {
      if (i > 0) out_ += ',';
      out_ += json_string(object.members[i].key) + ':';
      write(object.members[i].value);
    }
    out_ += '}';
  }

  std::size_t max_size_;
  std::string out_;
};

}  // namespace

void index_keys(JsonObject& object) {
  const std::vector<JsonMember>& members = object.members;
  object.by_key.resize(members.size());
  std::iota(object.by_key.begin(), object.by_key.end(), 0U);
  std::sort(object.by_key.begin(), object.by_key.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = members[a].key.compare(members[b].key);
    return order < 0 || (order == 0 && a < b);
  });
}

const JsonNode* find_member(const JsonObject& object, std::string_view key) {
  const auto place =
      std::lower_bound(object.by_key.begin(), object.by_key.end(), key,
                       [&](std::uint32_t i, std::string_view k) { return object.members[i].key < k; });
  if (place == object.by_key.end() || object.members[*place].key != key) return nullptr;
  return &object.members[*place].value;
}

std::string json_text(const JsonNode& node, std::size_t max_size) {
  Writer writer(max_size);
  writer.write(node);
  return writer.take();
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace busbar::detail
