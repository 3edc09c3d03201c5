#include "sim/study/study_quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr double kDay = 86400, kYear = 365 * kDay;
constexpr double kLongDays = 1000;  // from there on years say more
constexpr double kMillion = 1e6;
constexpr double kFactor = 10;  // shares of more are told as factors
// Far beyond any plan: products of what is below stay numbers.
constexpr double kMostMoney = 1e18, kMostTokens = 1e24, kMostWatts = 1e9;
constexpr double kLeastSeconds = 1e-3, kMostSeconds = 1e12;

struct Parts {
  double number = 0;
  std::string_view unit;
};

/// "2.5 USD/GPU-hour" as 2.5 and the rest; none: it does not begin with a number.
std::optional<Parts> split(std::string_view text) {
  Parts parts;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.number);
  if (error != std::errc() || !std::isfinite(parts.number)) return std::nullopt;
  parts.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (parts.unit.starts_with(' ')) parts.unit.remove_prefix(1);
  while (parts.unit.ends_with(' ')) parts.unit.remove_suffix(1);
  return parts;
}

[[noreturn]] void fail(const std::string& where, std::string expected, std::string_view given) {
  throw Error({.where = where, .expected = std::move(expected), .given = quoted(given)});
}

/// The text of a quantity; a bare number lacks its unit.
std::string text_of(const JsonValue& value, const std::string& expected) {
  if (!value.is_string()) value.fail(expected);
  return value.string();
}

std::string money_example(std::string_view per) {
  return fmt::format("an amount from 0 to 1e18 with its currency such as \"{} USD{}\"",
                     per.empty() ? "5e6" : "2.5", per);
}
constexpr const char* kDuration =
    "a time from 0.001 s to 1e12 s such as \"10 min\", \"4 h\", \"30 d\" or \"4 y\"";
constexpr const char* kMtbf = "a time per GPU from 0.001 s to 1e12 s such as \"50000 h/GPU\"";
constexpr const char* kTokens = "a number of tokens from 1 to 1e24 such as \"2e12 tokens\"";
constexpr const char* kHostPower = "a power per host up to 1e6 kW such as \"10.2 kW/host\"";

struct DurationUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<DurationUnit, 5> kDurations = {
    {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", kDay}, {"y", kYear}}};

std::optional<double> seconds_of(const Parts& parts) {
  for (const DurationUnit& unit : kDurations)
    if (unit.name == parts.unit) {
      const double seconds = parts.number * unit.seconds;
      if (seconds >= kLeastSeconds && seconds <= kMostSeconds) return seconds;
    }
  return std::nullopt;
}

bool is_currency(std::string_view code) {
  return code.size() == 3 &&
         std::all_of(code.begin(), code.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

Money parse_money(std::string_view text, std::string_view per, const std::string& where) {
  const auto parts = split(text);
  const bool fits = parts && parts->number >= 0 && parts->number <= kMostMoney &&
                    parts->unit.size() == 3 + per.size() && is_currency(parts->unit.substr(0, 3)) &&
                    parts->unit.substr(3) == per;
  if (!fits) fail(where, money_example(per), text);
  return {parts->number, std::string(parts->unit.substr(0, 3))};
}

Money read_money(const JsonValue& value, std::string_view per) {
  return parse_money(text_of(value, money_example(per)), per, value.where());
}

double parse_duration(std::string_view text, const std::string& where) {
  const auto parts = split(text);
  const auto seconds = parts ? seconds_of(*parts) : std::nullopt;
  if (!seconds) fail(where, kDuration, text);
  return *seconds;
}

double read_duration(const JsonValue& value) {
  return parse_duration(text_of(value, kDuration), value.where());
}

double read_mean_time_between_failures(const JsonValue& value) {
  const std::string text = text_of(value, kMtbf);
  const std::string_view whole = text;
  constexpr std::string_view kPer = "/GPU";
  if (!whole.ends_with(kPer)) fail(value.where(), kMtbf, text);
  return parse_duration(whole.substr(0, whole.size() - kPer.size()), value.where());
}

double parse_tokens(std::string_view text, const std::string& where) {
  const auto parts = split(text);
  if (!parts || parts->unit != "tokens" || parts->number < 1 || parts->number > kMostTokens)
    fail(where, kTokens, text);
  return parts->number;
}

double read_tokens(const JsonValue& value) { return parse_tokens(text_of(value, kTokens), value.where()); }

double read_host_power(const JsonValue& value) {
  const std::string text = text_of(value, kHostPower);
  const auto parts = split(text);
  const double watts = !parts                     ? 0
                       : parts->unit == "kW/host" ? 1000 * parts->number
                       : parts->unit == "W/host"  ? parts->number
                                                  : 0;
  if (watts > 0 && watts <= kMostWatts) return watts;
  fail(value.where(), kHostPower, text);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 2 * kDay) return fmt::format("{:.3g} h", seconds / 3600);
  if (seconds < kLongDays * kDay) return fmt::format("{:.3g} d", seconds / kDay);
  return fmt::format("{:.3g} years", seconds / kYear);
}

std::string amount_text(double amount, const std::string& currency) {
  if (amount >= kMillion) return fmt::format("{:.3f} million {}", amount / kMillion, currency);
  return fmt::format("{:.{}f} {}", amount, amount < 100 ? 2 : 0, currency);
}

std::string excess_text(double share, std::string_view what) {
  if (share < 1) return fmt::format("{:.1f} % too {}", 100 * share, what);
  if (share < kFactor) return fmt::format("{:.0f} % too {}", 100 * share, what);
  return fmt::format("{:.0f} times as {}", 1 + share, what);
}

}  // namespace busbar
