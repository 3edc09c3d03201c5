// Quantities of plans beyond those of sim/base: money, prices, long durations, counts of tokens.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/json_reader.h"

namespace busbar {

/// An amount of a currency by its three-letter code ("USD"), whole or per something.
struct Money {
  double amount = 0;
  std::string currency;
};

/// "5e6 USD". `per` is what must follow the code: "" or "/GPU-hour", "/host", "/port", "/kWh".
/// Errors (Error, kInput): no number, no code of three capitals, another unit, a negative amount.
[[nodiscard]] Money read_money(const JsonValue& value, std::string_view per);
[[nodiscard]] Money parse_money(std::string_view text, std::string_view per, const std::string& where);

/// Seconds of "600 s", "10 min", "4 h", "30 d" or "4 y" (a year is 365 d). Above zero.
[[nodiscard]] double read_duration(const JsonValue& value);
[[nodiscard]] double parse_duration(std::string_view text, const std::string& where);
/// Seconds of "50000 h/GPU".
[[nodiscard]] double read_mean_time_between_failures(const JsonValue& value);

/// "2e12 tokens".
[[nodiscard]] double read_tokens(const JsonValue& value);
[[nodiscard]] double parse_tokens(std::string_view text, const std::string& where);

/// Watts of "10.2 kW/host".
[[nodiscard]] double read_host_power(const JsonValue& value);

/// For people: "33.6 d", "13.5 h", "12 min", "5.71 years".
[[nodiscard]] std::string duration_text(double seconds);
/// "5.100 million USD", "812 USD".
[[nodiscard]] std::string amount_text(double amount, const std::string& currency);
/// "33.0 % too long", "41 times as long".
[[nodiscard]] std::string excess_text(double share, std::string_view what);

}  // namespace busbar
