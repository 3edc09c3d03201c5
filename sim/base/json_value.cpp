#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/json_node.h"
#include "sim/base/json_reader.h"
#include "sim/base/unit_text.h"

namespace busbar {
namespace {

constexpr std::size_t kShownKey = 60;  // a key of 64 KiB would make a line of 64 KiB

/// One step of a JSON pointer.   Source: RFC 6901, section 3.
std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key.substr(0, kShownKey)) {
    if (c == '~')
      step += "~0";
    else if (c == '/')
      step += "~1";
    else
      step += c;
  }
  return key.size() > kShownKey ? step + "..." : step;
}

template <class Number>
std::string range_text(std::string_view what, Number low, Number high, bool has_low, bool has_high) {
  if (has_low && has_high) return fmt::format("{} from {} to {}", what, low, high);
  if (has_low) return fmt::format("{} of at least {}", what, low);
  if (has_high) return fmt::format("{} of at most {}", what, high);
  return std::string(what);
}

std::optional<std::int64_t> whole(double value) {
  if (!(value >= -0x1p63 && value < 0x1p63) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::string quotes_hint(const JsonValue& value) {
  return value.is_string() ? "a number takes no quotes" : "";
}

/// Text with a unit. A value that is no text gets the same words as an empty one: they name the unit.
template <class T>
T quantity(const JsonValue& value, Parsed<T> (*parse)(std::string_view)) {
  const Parsed<T> result = parse(value.is_string() ? value.string() : "");
  if (const T* parsed = std::get_if<T>(&result); parsed != nullptr) return *parsed;
  const auto& error = std::get<UnitError>(result);
  value.fail(error.expected, value.is_number() ? "a bare number has no unit" : error.suggestion);
}

}  // namespace

JsonValue::JsonValue(std::shared_ptr<const JsonDocument::Impl> doc, const JsonNode* node, std::string pointer)
    : doc_(std::move(doc)), node_(node), pointer_(std::move(pointer)) {}

std::string JsonValue::where() const { return pointer_.empty() ? doc_->name : doc_->name + "#" + pointer_; }

bool JsonValue::is_object() const { return std::holds_alternative<JsonObject>(node_->value); }
bool JsonValue::is_array() const { return std::holds_alternative<JsonArray>(node_->value); }
bool JsonValue::is_string() const { return std::holds_alternative<std::string>(node_->value); }
bool JsonValue::is_boolean() const { return std::holds_alternative<bool>(node_->value); }
bool JsonValue::is_null() const { return std::holds_alternative<std::monostate>(node_->value); }
bool JsonValue::is_number() const {
  return std::holds_alternative<std::int64_t>(node_->value) || std::holds_alternative<double>(node_->value);
}

void JsonValue::only_keys(std::span<const std::string_view> allowed) const {
  for (const std::string& key : keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    std::string suggestion = did_you_mean(key, allowed);
    if (suggestion.empty()) suggestion = fmt::format("allowed: {}", fmt::join(allowed, ", "));
    throw Error(
        {.where = where(), .message = "unknown key " + quoted(key), .suggestion = std::move(suggestion)});
  }
}

std::vector<std::string> JsonValue::keys() const {
  const auto* object = std::get_if<JsonObject>(&node_->value);
  if (object == nullptr) fail("an object");
  std::vector<std::string> names;
  names.reserve(object->members.size());
  for (const JsonMember& member : object->members) names.push_back(member.key);
  return names;
}

JsonValue JsonValue::at(std::string_view key) const {
  std::optional<JsonValue> value = find(key);
  if (!value) fail_because("missing key " + quoted(key));
  return *std::move(value);
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const auto* object = std::get_if<JsonObject>(&node_->value);
  if (object == nullptr) fail("an object");
  const JsonNode* member = detail::find_member(*object, key);
  if (member == nullptr) return std::nullopt;
  return JsonValue(doc_, member, pointer_ + pointer_step(key));
}

std::vector<JsonValue> JsonValue::items() const {
  const auto* array = std::get_if<JsonArray>(&node_->value);
  if (array == nullptr) fail("an array");
  std::vector<JsonValue> values;
  values.reserve(array->size());
  for (std::size_t i = 0; i < array->size(); ++i)
    values.push_back(JsonValue(doc_, &(*array)[i], fmt::format("{}/{}", pointer_, i)));
  return values;
}

std::string JsonValue::string() const {
  const auto* text = std::get_if<std::string>(&node_->value);
  if (text == nullptr) fail("a string");
  return *text;
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  using Limits = std::numeric_limits<std::int64_t>;
  std::optional<std::int64_t> value;
  if (const auto* exact = std::get_if<std::int64_t>(&node_->value)) value = *exact;
  if (const auto* real = std::get_if<double>(&node_->value)) value = whole(*real);
  if (!value || *value < low || *value > high)
    fail(range_text("a whole number", low, high, low != Limits::min(), high != Limits::max()),
         quotes_hint(*this));
  return *value;
}

double JsonValue::number(double low, double high) const {
  std::optional<double> value;
  if (const auto* exact = std::get_if<std::int64_t>(&node_->value)) value = static_cast<double>(*exact);
  if (const auto* real = std::get_if<double>(&node_->value)) value = *real;
  const auto is_limit = [](double bound) { return std::abs(bound) < std::numeric_limits<double>::max(); };
  if (!value || *value < low || *value > high)
    fail(range_text("a number", low, high, is_limit(low), is_limit(high)), quotes_hint(*this));
  return *value;
}

bool JsonValue::boolean() const {
  const auto* value = std::get_if<bool>(&node_->value);
  if (value == nullptr) fail("true or false", is_string() ? "a boolean takes no quotes" : "");
  return *value;
}

Time JsonValue::time() const { return quantity(*this, parse_time); }
Bytes JsonValue::bytes() const { return quantity(*this, parse_bytes); }
Bandwidth JsonValue::bandwidth() const { return quantity(*this, parse_bandwidth); }
FlopRate JsonValue::flop_rate() const { return quantity(*this, parse_flop_rate); }
double JsonValue::watts() const { return quantity(*this, parse_watts); }
double JsonValue::percent() const { return quantity(*this, parse_percent); }

void JsonValue::fail(std::string expected, std::string suggestion) const {
  throw Error({.where = where(),
               .expected = std::move(expected),
               .given = abbreviated(),
               .suggestion = std::move(suggestion)});
}

void JsonValue::fail_because(std::string message) const {
  throw Error({.where = where(), .message = std::move(message)});
}

std::string JsonValue::abbreviated() const {
  if (const auto* text = std::get_if<std::string>(&node_->value)) return quoted(*text);
  const std::string text = detail::json_text(*node_, kShownKey * 4);
  return is_object() || is_array() ? quoted(text) : text;
}

}  // namespace busbar
