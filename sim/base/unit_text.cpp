#include "sim/base/unit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/unit_table.h"

namespace busbar {
namespace {

using detail::Dimension;
using detail::Unit;

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kPercentExample = "such as \"50%\"";
constexpr std::string_view kNcclExample = "such as \"8\", \"4K\" or \"8G\"";
constexpr std::string_view kNoUnit = "a bare number has no unit";

struct Wording {
  std::string_view what;
  std::string_view range;  // for values at the wrong side of zero
  std::string_view example;
};

Wording wording(Dimension dimension) {
  switch (dimension) {
    case Dimension::kTime:
      return {"a time", "of zero or more", "such as \"1.5 us\" or \"2 ms\""};
    case Dimension::kSize:
      return {"a size", "of zero or more", "such as \"25 MiB\" or \"14 GB\""};
    case Dimension::kBandwidth:
      return {"a bandwidth", "above zero", "such as \"400 Gb/s\" or \"50 GB/s\""};
    case Dimension::kFlopRate:
      return {"a rate of computing", "above zero", "such as \"989 TFLOP/s\""};
    case Dimension::kPower:
      return {"a power", "above zero", "such as \"500 W\""};
  }
  BUSBAR_CHECK(false);
}

UnitError not_a(Dimension dimension, std::string suggestion = "") {
  const Wording words = wording(dimension);
  return {fmt::format("{} {}", words.what, words.example), std::move(suggestion)};
}

UnitError out_of_range(Dimension dimension, std::string_view range) {
  const Wording words = wording(dimension);
  return {fmt::format("{} {} {}", words.what, range, words.example), ""};
}

UnitError wrong_sign(Dimension dimension) { return out_of_range(dimension, wording(dimension).range); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - start;
}

/// Length of the decimal number that `text` begins with: digits [. digits] [e [sign] digits]. 0: none.
std::size_t number_length(std::string_view text) {
  std::size_t end = digits_at(text, 0);
  std::size_t digits = end;
  if (end < text.size() && text[end] == '.') {
    const std::size_t fraction = digits_at(text, end + 1);
    digits += fraction;
    end += 1 + fraction;
  }
  if (digits == 0) return 0;
  if (end == text.size() || (text[end] != 'e' && text[end] != 'E')) return end;
  const bool sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
  const std::size_t exponent_start = end + (sign ? 2 : 1);
  const std::size_t exponent = digits_at(text, exponent_start);
  return exponent == 0 ? end : exponent_start + exponent;  // "1 EFLOP/s" may be written "1EFLOP/s"
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

__extension__ using Wide = unsigned __int128;
constexpr auto kLargest = static_cast<Wide>(kMaxInt);

/// digits x 10^exponent, to 32 digits: only fractions of binary units can need more.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
  bool is_cut = false;  // digits other than 0 did not fit
};

/// Appends one digit, while it fits; `places` more digits of value 0 stand before it.
bool append(Wide& digits, int places, char digit) {
  constexpr Wide kRoom = Wide{1} << 107;  // leaves 21 bits: 4 for this digit and 17 for the 86400 s of a day
  Wide next = digits;
  for (int i = 0; i <= places; ++i) {
    if (next > kRoom) return false;
    next *= 10;
  }
  digits = next + static_cast<unsigned>(digit - '0');
  return true;
}

int exponent_of(std::string_view text) {
  constexpr int kLimit = 1'000'000;  // beyond any range, and far from overflow
  if (text.starts_with('+')) text.remove_prefix(1);
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) return text.starts_with('-') ? -kLimit : kLimit;
  return std::max(-kLimit, std::min(kLimit, value));
}

/// `number` is what number_length() accepts. Zeros wait until a digit follows, so "1.500000" has two digits.
Decimal decimal_of(std::string_view number) {
  Decimal out;
  int zeros = 0;
  bool in_fraction = false;
  for (std::size_t i = 0; i < number.size(); ++i) {
    const char c = number[i];
    if (c == 'e' || c == 'E') {
      out.exponent += exponent_of(number.substr(i + 1));
      break;
    }
    if (c == '.') {
      in_fraction = true;
      continue;
    }
    if (in_fraction) --out.exponent;
    const bool kept = c != '0' && !out.is_cut && append(out.digits, zeros, c);
    if (kept) zeros = 0;
    if (!kept) ++zeros;
    if (!kept && c != '0') out.is_cut = true;
  }
  out.exponent += zeros;
  return out;
}

/// What a quantity of one dimension consists of.
struct Quantity {
  Decimal decimal;
  double value = 0;  // of the number alone; infinite when beyond a double
  const Unit* unit = nullptr;
};

double double_of(std::string_view number, const Decimal& decimal) {
  double value = 0;
  const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  return decimal.exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

bool is_negative(std::string_view text) { return text.starts_with('-') && number_length(text.substr(1)) > 0; }

Parsed<Quantity> split(Dimension dimension, std::string_view text) {
  text = trimmed(text);
  if (is_negative(text)) return wrong_sign(dimension);
  const std::string_view number = text.substr(0, number_length(text));
  if (number.empty()) return not_a(dimension);
  const std::string_view name = trimmed(text.substr(number.size()));
  if (name.empty()) return not_a(dimension, std::string(kNoUnit));
  const Unit* unit = detail::find_unit(name);
  if (unit == nullptr || unit->dimension != dimension)
    return not_a(dimension, detail::unit_hint(dimension, name));
  const Decimal decimal = decimal_of(number);
  return Quantity{decimal, double_of(number, decimal), unit};
}

/// digits x 10^exponent x mantissa, rounded half up; nothing at 2^63 and beyond.
std::optional<std::int64_t> rounded(const Decimal& n, int mantissa) {
  Wide value = n.digits * static_cast<unsigned>(mantissa);
  int exponent = n.exponent;
  for (; exponent > 0 && value > 0 && value <= kLargest; --exponent) value *= 10;
  for (; exponent < -1 && value > 0; ++exponent) value /= 10;
  if (exponent == -1) value = (value + 5) / 10;
  if (value > kLargest) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// digits x 10^exponent x 2^exp2, where that is a whole number below 2^63. Divisions, by 5 and 2, come first,
/// so that no digit is lost.
std::optional<std::int64_t> exact(const Decimal& n, int exp2) {
  Wide value = n.digits;
  if (value == 0) return 0;
  int exponent = n.exponent;
  for (; exponent < 0; ++exponent, --exp2) {
    if (value % 5 != 0) return std::nullopt;
    value /= 5;
  }
  for (; exp2 < 0; ++exp2) {
    if (value % 2 != 0) return std::nullopt;
    value /= 2;
  }
  for (; exponent > 0 && value <= kLargest; --exponent) value *= 10;
  for (; exp2 > 0 && value <= kLargest; --exp2) value *= 2;
  if (value > kLargest) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// A positive, finite double in base units.
Parsed<double> parse_rate(Dimension dimension, std::string_view text) {
  const Parsed<Quantity> parts = split(dimension, text);
  if (const auto* error = std::get_if<UnitError>(&parts)) return *error;
  const auto& quantity = std::get<Quantity>(parts);
  const double value = quantity.value * detail::factor_of(*quantity.unit);
  if (!(value > 0)) return wrong_sign(dimension);
  if (!std::isfinite(value)) return out_of_range(dimension, "below 1e308");
  return value;
}

}  // namespace

Parsed<Time> parse_time(std::string_view text) {
  const Parsed<Quantity> parts = split(Dimension::kTime, text);
  if (const auto* error = std::get_if<UnitError>(&parts)) return *error;
  const auto& quantity = std::get<Quantity>(parts);
  Decimal decimal = quantity.decimal;
  decimal.exponent += quantity.unit->exp10;
  const std::optional<std::int64_t> ps = rounded(decimal, quantity.unit->mantissa);
  if (!ps) return out_of_range(Dimension::kTime, "of at most 106 days");
  return Time::picoseconds(*ps);
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  const Parsed<Quantity> parts = split(Dimension::kSize, text);
  if (const auto* error = std::get_if<UnitError>(&parts)) return *error;
  const auto& quantity = std::get<Quantity>(parts);
  Decimal decimal = quantity.decimal;
  decimal.exponent += quantity.unit->exp10;
  const auto count = exact(decimal, quantity.unit->exp2);
  if (count && !decimal.is_cut) return Bytes(*count);
  const bool is_large = quantity.value * detail::factor_of(*quantity.unit) >= 0x1p63;
  return out_of_range(Dimension::kSize, is_large ? "below 2^63 bytes" : "of a whole number of bytes");
}

Parsed<Bandwidth> parse_bandwidth(std::string_view text) {
  const Parsed<double> rate = parse_rate(Dimension::kBandwidth, text);
  if (const auto* error = std::get_if<UnitError>(&rate)) return *error;
  return Bandwidth::bytes_per_second(std::get<double>(rate));
}

Parsed<FlopRate> parse_flop_rate(std::string_view text) {
  const Parsed<double> rate = parse_rate(Dimension::kFlopRate, text);
  if (const auto* error = std::get_if<UnitError>(&rate)) return *error;
  return FlopRate::flops_per_second(std::get<double>(rate));
}

Parsed<double> parse_watts(std::string_view text) { return parse_rate(Dimension::kPower, text); }

Parsed<double> parse_percent(std::string_view text) {
  text = trimmed(text);
  if (is_negative(text))
    return UnitError{fmt::format("a percentage of zero or more {}", kPercentExample), ""};
  const UnitError error{fmt::format("a percentage {}", kPercentExample), ""};
  const std::string_view number = text.substr(0, number_length(text));
  if (number.empty()) return error;
  const std::string_view unit = trimmed(text.substr(number.size()));
  if (unit.empty()) return UnitError{error.expected, std::string(kNoUnit)};
  const double value = double_of(number, decimal_of(number)) / 100;
  if (unit != "%" || !std::isfinite(value)) return error;
  return value;
}

Parsed<Bytes> parse_nccl_size(std::string_view text) {
  const UnitError error{fmt::format("a size {}", kNcclExample),
                        "K, M and G are powers of 1024, without a 'B'"};
  const std::size_t length = digits_at(text, 0);
  if (length == 0 || text.size() > length + 1) return error;
  int exp2 = 0;
  if (text.size() > length) {
    const std::size_t prefix = std::string_view("KkMmGg").find(text[length]);
    if (prefix == std::string_view::npos) return error;
    exp2 = 10 * (1 + static_cast<int>(prefix / 2));
  }
  const Decimal decimal = decimal_of(text.substr(0, length));
  const auto count = exact(decimal, exp2);
  if (count && !decimal.is_cut) return Bytes(*count);
  return UnitError{fmt::format("a size below 2^63 bytes {}", kNcclExample), ""};
}

}  // namespace busbar
