// The numbers of a profile under the names, and with the units, that files and people use.
#pragma once

#include <string>
#include <string_view>

namespace busbar {

enum class ParameterUnit : unsigned char {
  kNone,
  kMicroseconds,
  kGigabytesPerSecond,
  kKibibytes,
  kMegabytes
};

/// "hopper.links.hop_us.LL" is "hopper.links.hop_latency.LL", in microseconds.
struct ParameterLabel {
  std::string name;
  ParameterUnit unit = ParameterUnit::kNone;
  std::string_view pinned_by;  // the measurement that would pin it, in words
};
/// Of a name of `parameters(Profile&)` or `other_parameters(Profile&)`.
[[nodiscard]] ParameterLabel label_of(std::string_view parameter);

/// Whether a number is a share of what the hardware could do, so that more than 1 is a mistake. Shares of a
/// modelled speed (of matmuls, of a step) are not: a model may be too slow.
[[nodiscard]] bool is_share_of_hardware(std::string_view parameter);

/// A value in its unit, for files: "0.6 us", "12.5 GB/s", "9196 B", "0.84". What is written parses back to
/// what `rounded_value` gives.
[[nodiscard]] std::string value_text(double value, ParameterUnit unit);
/// The same for people, with its own prefix: "9.0 KiB".
[[nodiscard]] std::string value_for_people(double value, ParameterUnit unit);
/// To the digits that files carry: five, and whole bytes and picoseconds.
[[nodiscard]] double rounded_value(double value, ParameterUnit unit);

}  // namespace busbar
