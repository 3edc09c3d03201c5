// Quantities for people and for files.
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>

#include "sim/base/unit_table.h"
#include "sim/base/unit_text.h"

namespace busbar {
namespace {

struct Step {
  std::string_view name;
  double factor = 1;
  double below = 999.5;  // the next unit takes over here: 999.5 would print as 1000
};

constexpr Step kTimes[] = {{"ps", 1},   {"ns", 1e3},         {"us", 1e6},        {"ms", 1e9},
                           {"s", 1e12}, {"min", 60e12, 120}, {"h", 3600e12, 48}, {"d", 86400e12}};
constexpr Step kSizes[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}};
constexpr Step kBinarySizes[] = {
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};
constexpr Step kBandwidths[] = {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
constexpr Step kFlopRates[] = {{"FLOP/s", 1},     {"kFLOP/s", 1e3},  {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9},
                               {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}};

/// Three significant digits in the unit that leaves one to three before the point.
std::string scaled(double value, std::span<const Step> steps) {
  std::size_t i = 0;
  while (i + 1 < steps.size() && std::abs(value) / steps[i].factor >= steps[i].below) ++i;
  const double shown = value / steps[i].factor;
  if (std::abs(shown) >= 999.5) return fmt::format("{:.0f} {}", shown, steps[i].name);
  return fmt::format("{:.3g} {}", shown, steps[i].name);
}

/// The shortest of `value` in each unit of `dimension` that `parse` takes back to the same; `plain` is in
/// base units.
template <class T>
std::string shortest(T quantity, double value, std::string plain, detail::Dimension dimension,
                     Parsed<T> (*parse)(std::string_view)) {
  for (const detail::Unit& unit : detail::kUnits) {
    if (unit.dimension != dimension || unit.exp2 < 0) continue;
    const std::string text = fmt::format("{} {}", value / detail::factor_of(unit), unit.name);
    if (text.size() >= plain.size() || text.find('e') != std::string::npos) continue;
    const Parsed<T> back = parse(text);
    if (const T* same = std::get_if<T>(&back); same != nullptr && *same == quantity) plain = text;
  }
  return plain;
}

}  // namespace

std::string to_text(Time t) { return scaled(static_cast<double>(t.ps()), kTimes); }

std::string to_text(Bytes b) {
  for (const Step& step : kBinarySizes) {
    const auto unit = static_cast<std::int64_t>(step.factor);
    const std::int64_t count = b.count() / unit;
    if (b.count() % unit == 0 && count >= 1 && count < 1024) return fmt::format("{} {}", count, step.name);
  }
  return scaled(b.as_double(), kSizes);
}

std::string to_si_text(Bytes b) { return scaled(b.as_double(), kSizes); }

std::string to_text(Bandwidth b) { return std::isinf(b.Bps()) ? "unlimited" : scaled(b.Bps(), kBandwidths); }
std::string to_text(FlopRate f) { return scaled(f.flops(), kFlopRates); }

std::string to_exact_text(Time t) {
  return shortest(t, static_cast<double>(t.ps()), fmt::format("{} ps", t.ps()), detail::Dimension::kTime,
                  parse_time);
}

std::string to_exact_text(Bytes b) {
  return shortest(b, b.as_double(), fmt::format("{} B", b.count()), detail::Dimension::kSize, parse_bytes);
}

std::string to_exact_text(Bandwidth b) {
  if (std::isinf(b.Bps())) return "unlimited";
  return shortest(b, b.Bps(), fmt::format("{} B/s", b.Bps()), detail::Dimension::kBandwidth, parse_bandwidth);
}

}  // namespace busbar
