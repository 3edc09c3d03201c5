#include "sim/base/unit_table.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/base/error.h"

namespace busbar::detail {
namespace {

struct Respelling {
  std::string_view ending;  // in lower case
  std::string_view instead;
};

// The first that matches the end of a unit is replaced.
constexpr Respelling kEndings[] = {{"flops/s", "FLOP/s"}, {"flops", "FLOP/s"}, {"flop", "FLOP/s"},
                                   {"/sec", "/s"},        {"/second", "/s"},   {"bps", "b/s"}};
constexpr Respelling kWords[] = {
    {"sec", "s"},   {"secs", "s"},   {"second", "s"},   {"seconds", "s"},   {"msec", "ms"}, {"usec", "us"},
    {"nsec", "ns"}, {"mins", "min"}, {"minute", "min"}, {"minutes", "min"}, {"hr", "h"},    {"hrs", "h"},
    {"hour", "h"},  {"hours", "h"},  {"day", "d"},      {"days", "d"},      {"byte", "B"},  {"bytes", "B"}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view kind_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::kTime:
      return "a time";
    case Dimension::kSize:
      return "a size";
    case Dimension::kBandwidth:
      return "a bandwidth";
    case Dimension::kFlopRate:
      return "a rate of computing";
    case Dimension::kPower:
      return "a power";
  }
  BUSBAR_CHECK(false);
}

const Unit* find_unit_of(Dimension wanted, std::string_view name) {
  const Unit* unit = find_unit(name);
  return unit != nullptr && unit->dimension == wanted ? unit : nullptr;
}

std::string respelled(std::string_view given) {
  const std::string plain = lower(given);
  for (const Respelling& word : kWords)
    if (plain == word.ending) return std::string(word.instead);
  for (const Respelling& row : kEndings) {
    if (!plain.ends_with(row.ending)) continue;
    std::string out(given.substr(0, given.size() - row.ending.size()));
    // "GBps" is bytes: only the case of the b tells.
    const bool bytes = row.ending == "bps" && given[out.size()] == 'B';
    return out + (bytes ? "B/s" : std::string(row.instead));
  }
  return std::string(given);
}

/// A unit of another dimension stands where `wanted` is due.
std::string other_dimension(Dimension wanted, const Unit& given) {
  std::string hint = fmt::format("'{}' is {}", given.name, kind_of(given.dimension));
  const std::string per_second = std::string(given.name) + "/s";
  if (find_unit_of(wanted, per_second) != nullptr)
    return fmt::format("{}; {} is '{}'", hint, kind_of(wanted), per_second);
  if (!given.name.ends_with("/s")) return hint;
  const std::string_view total = given.name.substr(0, given.name.size() - 2);
  if (find_unit_of(wanted, total) == nullptr) return hint;
  return fmt::format("{}; {} is '{}'", hint, kind_of(wanted), total);
}

/// "Gb" and "G": a unit without its end.
std::string unfinished(Dimension wanted, std::string_view given) {
  const std::string name(given);
  const Unit* per_second = find_unit(name + "/s");
  if (per_second != nullptr && per_second->dimension == wanted) return fmt::format("write '{}/s'", name);
  if (per_second != nullptr && wanted == Dimension::kSize && per_second->exp2 == -3)
    return fmt::format("{} counts bits; a size is in bytes", quoted(name));
  const bool is_prefix = name.size() == 1 && std::string_view("kKMGTP").find(name) != std::string_view::npos;
  if (wanted != Dimension::kSize || !is_prefix) return "";
  return fmt::format("write '{}B' (powers of 1000) or '{}iB' (powers of 1024)", name == "K" ? "k" : name,
                     name == "k" ? "K" : name);
}

/// Units of `wanted` that differ from `spelling` in case only: "gb/s" has two.
std::string case_hint(Dimension wanted, std::string_view given, std::string_view spelling) {
  std::vector<std::string_view> names;
  for (const Unit& unit : kUnits)
    if (unit.dimension == wanted && lower(unit.name) == lower(spelling)) names.push_back(unit.name);
  if (names.empty()) return "";
  if (names.size() > 1) return fmt::format("'{}' is in bytes, '{}' in bits", names[0], names[1]);
  const std::string_view name = names[0];
  // "Gib/s" would be bits; we have no such unit, and 'GiB/s' is 8 times as much.
  if (name.ends_with("iB/s") && !spelling.ends_with("B/s")) return "";
  std::string hint = fmt::format("{} is written '{}'", quoted(given), name);
  if (!name.starts_with("kB")) return hint;
  return fmt::format("{} (powers of 1000) or 'Ki{}' (powers of 1024)", hint, name.substr(1));
}

}  // namespace

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return &unit;
  return nullptr;
}

double factor_of(const Unit& unit) {
  double power = unit.mantissa;
  for (int i = 0; i < unit.exp10; ++i) power *= 10;
  return std::ldexp(power, unit.exp2);
}

std::string unit_hint(Dimension wanted, std::string_view given) {
  if (given.starts_with(',') || given.starts_with('_'))
    return "digits are not grouped; decimals follow a '.'";
  const std::string spelling = respelled(given);
  const Unit* unit = find_unit(spelling);
  if (unit != nullptr && unit->dimension != wanted) return other_dimension(wanted, *unit);
  if (unit != nullptr) return fmt::format("{} is written '{}'", quoted(given), unit->name);
  const std::string hint = unfinished(wanted, given);
  return hint.empty() ? case_hint(wanted, given, spelling) : hint;
}

}  // namespace busbar::detail
