// Quantities as text: "400 Gb/s", "1.5 us", "25 MiB". SI and IEC prefixes differ, bits differ from bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "sim/base/units.h"

namespace busbar {

/// Why a text is not a quantity: `expected` names the unit with an example ("a bandwidth such as
/// \"400 Gb/s\" or \"50 GB/s\""), `suggestion` may be empty ("'GBps' is written 'GB/s'").
struct UnitError {
  std::string expected;
  std::string suggestion;
};

template <class T>
using Parsed = std::variant<T, UnitError>;

/// number [blanks] unit. Numbers: decimal with optional exponent; no NaN, infinity, hex, sign '-' or
/// thousands marks. Time:      ps ns us (also the micro sign) ms s min h d Bytes:     B, kB MB GB TB PB
/// (powers of 1000), KiB MiB GiB TiB PiB (powers of 1024); the value must be a
///            whole number of bytes below 2^63
/// Bandwidth: bits: b/s kb/s Mb/s Gb/s Tb/s (also bit/s, Gbit/s); bytes: B/s kB/s ... TB/s, KiB/s ... TiB/s.
/// > 0. FlopRate:  FLOP/s with k, M, G, T, P, E. > 0.
[[nodiscard]] Parsed<Time> parse_time(std::string_view text);
[[nodiscard]] Parsed<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Parsed<Bandwidth> parse_bandwidth(std::string_view text);
[[nodiscard]] Parsed<FlopRate> parse_flop_rate(std::string_view text);
/// Watts: W, kW. > 0.
[[nodiscard]] Parsed<double> parse_watts(std::string_view text);
/// "50%" -> 0.5. At least 0; no upper bound (the caller checks).
[[nodiscard]] Parsed<double> parse_percent(std::string_view text);
/// nccl-tests sizes for sweeps: digits with an optional K, M, G (powers of 1024): "8", "4K", "8G". Below
/// 2^63.
[[nodiscard]] Parsed<Bytes> parse_nccl_size(std::string_view text);

/// For people, three significant digits: "412 ms", "1.23 s", "16.7 min", "26.2 MB", "400 GB/s", "989
/// TFLOP/s". A size that is a whole number below 1024 of KiB, MiB .. PiB is shown so: "25 MiB". An infinite
/// bandwidth is "unlimited".
[[nodiscard]] std::string to_text(Time t);
[[nodiscard]] std::string to_text(Bytes b);
/// Always in powers of 1000, so that sizes in one column or sentence compare: "18.3 GB".
[[nodiscard]] std::string to_si_text(Bytes b);
[[nodiscard]] std::string to_text(Bandwidth b);
[[nodiscard]] std::string to_text(FlopRate f);

/// For files: the shortest text that parses back to the same value ("32 MiB", "1234567 B", "1.5 us").
[[nodiscard]] std::string to_exact_text(Time t);
[[nodiscard]] std::string to_exact_text(Bytes b);
[[nodiscard]] std::string to_exact_text(Bandwidth b);

}  // namespace busbar
