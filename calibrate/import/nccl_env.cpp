#include "calibrate/import/nccl_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

#include "calibrate/import/text_scan.h"
#include "sim/base/named_table.h"

namespace busbar {
namespace {

using detail::Variable;

constexpr std::int64_t kMostChannels = 1024;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

[[noreturn]] void fail(const Variable& variable, std::string expected, std::string suggestion = "") {
  throw Error({.where = fmt::format("{}: {}", variable.where, variable.name),
               .expected = std::move(expected),
               .given = quoted(variable.value),
               .suggestion = std::move(suggestion)});
}

// NCCL reads numbers as C does: decimal, or hexadecimal after "0x".
std::int64_t whole(const Variable& variable, std::int64_t low, std::int64_t high) {
  std::optional<std::int64_t> value;
  const std::string_view text = variable.value;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error == std::errc() && end == text.data() + text.size() && text.size() > 2) value = number;
  } else {
    value = parse_whole(text);
  }
  if (!value || *value < low || *value > high)
    fail(variable, fmt::format("a whole number from {} to {}", low, high));
  return *value;
}

bool flag(const Variable& variable) { return whole(variable, 0, 1) == 1; }

// Two names of one bound: the larger least, the smaller most.
using Bound = std::optional<std::int64_t>;
void raise(Bound& bound, std::int64_t value) { bound = std::max(bound.value_or(value), value); }
void lower_to(Bound& bound, std::int64_t value) { bound = std::min(bound.value_or(value), value); }

std::int64_t channels(const Variable& v) { return whole(v, 1, kMostChannels); }
std::int64_t bytes(const Variable& v) { return whole(v, 1, kMostBytes); }

std::int64_t threads(const Variable& v) {
  const std::int64_t count = whole(v, 32, 1024);
  if (count % 32 != 0) fail(v, "a multiple of 32");
  return count;
}

// The levels of paths, by name or by number. LOC and 0 switch a transport off.
bool level_allows(const Variable& variable) {
  static constexpr std::string_view kLevels[] = {"LOC", "NVL", "PIX", "PXB", "PXN",
                                                 "PHB", "SYS", "C2C", "P2C"};
  for (const std::string_view level : kLevels)
    if (lower(level) == lower(variable.value)) return level != "LOC";
  const auto number = parse_whole(variable.value);
  if (!number || *number < 0 || *number > 9)
    fail(variable, "a level: " + one_of(kLevels), did_you_mean(variable.value, kLevels));
  return *number != 0;
}

// 2 leaves the choice to NCCL.
void apply_nvls(const Variable& v, NcclSettings& s) {
  const std::int64_t value = whole(v, 0, 2);
  s.nvls = value == 2 ? std::nullopt : std::optional(value == 1);
}

void apply_overhead(const Variable& v, NcclSettings& s) {
  s.net_overhead_ns = static_cast<double>(whole(v, 0, 1'000'000'000));
}

struct Setting {
  std::string_view name;
  void (*apply)(const Variable&, NcclSettings&);
};

constexpr Setting kSettings[] = {
    {"NCCL_ALGO", detail::apply_algorithms},
    {"NCCL_PROTO", detail::apply_protocols},
    {"NCCL_MIN_NCHANNELS", [](const Variable& v, NcclSettings& s) { raise(s.min_channels, channels(v)); }},
    {"NCCL_MIN_CTAS", [](const Variable& v, NcclSettings& s) { raise(s.min_channels, channels(v)); }},
    {"NCCL_MIN_NRINGS", [](const Variable& v, NcclSettings& s) { raise(s.min_channels, channels(v)); }},
    {"NCCL_MAX_NCHANNELS", [](const Variable& v, NcclSettings& s) { lower_to(s.max_channels, channels(v)); }},
    {"NCCL_MAX_CTAS", [](const Variable& v, NcclSettings& s) { lower_to(s.max_channels, channels(v)); }},
    {"NCCL_MAX_NRINGS", [](const Variable& v, NcclSettings& s) { lower_to(s.max_channels, channels(v)); }},
    {"NCCL_MIN_P2P_NCHANNELS",
     [](const Variable& v, NcclSettings& s) { raise(s.min_p2p_channels, channels(v)); }},
    {"NCCL_MAX_P2P_NCHANNELS",
     [](const Variable& v, NcclSettings& s) { lower_to(s.max_p2p_channels, channels(v)); }},
    {"NCCL_NVLS_NCHANNELS", [](const Variable& v, NcclSettings& s) { s.nvls_channels = channels(v); }},
    {"NCCL_NCHANNELS_PER_NET_PEER",
     [](const Variable& v, NcclSettings& s) { s.channels_per_net_peer = channels(v); }},
    {"NCCL_NVLS_ENABLE", apply_nvls},
    {"NCCL_COLLNET_ENABLE", [](const Variable& v, NcclSettings& s) { s.collnet = flag(v); }},
    {"NCCL_PXN_DISABLE", [](const Variable& v, NcclSettings& s) { s.pxn = !flag(v); }},
    {"NCCL_P2P_DISABLE", [](const Variable& v, NcclSettings& s) { s.p2p = !flag(v); }},
    {"NCCL_NET_GDR_LEVEL", [](const Variable& v, NcclSettings& s) { s.gpu_direct_rdma = level_allows(v); }},
    {"NCCL_IB_GDR_LEVEL", [](const Variable& v, NcclSettings& s) { s.gpu_direct_rdma = level_allows(v); }},
    {"NCCL_CROSS_NIC",
     [](const Variable& v, NcclSettings& s) { s.cross_nic = static_cast<int>(whole(v, 0, 2)); }},
    {"NCCL_BUFFSIZE", [](const Variable& v, NcclSettings& s) { s.buffer_bytes = bytes(v); }},
    {"NCCL_NVLS_CHUNKSIZE", [](const Variable& v, NcclSettings& s) { s.nvls_chunk_bytes = bytes(v); }},
    {"NCCL_P2P_NET_CHUNKSIZE", [](const Variable& v, NcclSettings& s) { s.p2p_net_chunk_bytes = bytes(v); }},
    {"NCCL_P2P_NVL_CHUNKSIZE", [](const Variable& v, NcclSettings& s) { s.p2p_nvl_chunk_bytes = bytes(v); }},
    {"NCCL_P2P_PCI_CHUNKSIZE", [](const Variable& v, NcclSettings& s) { s.p2p_pci_chunk_bytes = bytes(v); }},
    {"NCCL_NTHREADS", [](const Variable& v, NcclSettings& s) { s.threads = threads(v); }},
    {"NCCL_LL128_NTHREADS", [](const Variable& v, NcclSettings& s) { s.ll128_threads = threads(v); }},
    {"NCCL_NET_OVERHEAD", apply_overhead},
};

[[noreturn]] void fail_unknown(const Variable& variable) {
  std::vector<std::string_view> names = names_of<Setting>(kSettings);
  detail::append_names_without_effect(names);
  throw Error({.where = variable.where,
               .message = fmt::format("NCCL has no variable {}", quoted(variable.name)),
               .suggestion = did_you_mean(variable.name, names)});
}

std::string_view unquoted(std::string_view value) {
  const bool pair = value.size() > 1 && value.front() == value.back();
  return pair && (value.front() == '"' || value.front() == '\'') ? value.substr(1, value.size() - 2) : value;
}

Variable parse_line(std::string_view line, std::string where) {
  if (line.starts_with("export ")) line = trimmed(line.substr(7));
  const std::size_t equals = line.find('=');
  const std::string_view name = trimmed(line.substr(0, equals));
  if (equals == std::string_view::npos || name.empty() || name.find(' ') != std::string_view::npos)
    throw Error({.where = std::move(where), .expected = "NAME=value", .given = quoted(line)});
  std::string_view value = trimmed(line.substr(equals + 1));
  // A comment may follow a bare value.
  if (!value.starts_with('"') && !value.starts_with('\'')) value = trimmed(value.substr(0, value.find(" #")));
  return {std::move(where), std::string(name), std::string(trimmed(unquoted(value)))};
}

// In the order of names, so that aliases meet in the same order whatever the file's.
std::map<std::string, Variable> variables_of(std::string_view text, const std::string& name) {
  std::map<std::string, Variable> variables;
  for (LineScanner lines(text); lines.next();) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty() || line.starts_with('#')) continue;
    std::string where = at_line(name, lines.number());
    if (line.size() > kMaxLineBytes)
      throw Error({.where = std::move(where), .expected = "at most 64 KiB in a line", .given = "more"});
    Variable variable = parse_line(line, std::move(where));
    variables.insert_or_assign(variable.name, std::move(variable));
  }
  return variables;
}

void check_bounds(const Bound& least, const Bound& most, const char* what, const std::string& name) {
  if (least && most && *least > *most)
    throw Error({.where = name,
                 .expected = fmt::format("at most as many {} in a MIN variable as in its MAX", what),
                 .given = fmt::format("{} and {}", *least, *most)});
}

}  // namespace

NcclEnvironment read_nccl_env(std::string_view text, const std::string& name) {
  NcclEnvironment environment;
  for (const auto& [key, variable] : variables_of(text, name)) {
    const Setting* const setting = find_row<Setting>(kSettings, key);
    if (setting != nullptr) {
      if (!variable.value.empty()) setting->apply(variable, environment.settings);
      continue;
    }
    const std::string_view reason = detail::reason_without_effect(key);
    if (reason.empty()) fail_unknown(variable);
    environment.ignored.push_back({key, reason});
  }
  const NcclSettings& s = environment.settings;
  check_bounds(s.min_channels, s.max_channels, "channels", name);
  check_bounds(s.min_p2p_channels, s.max_p2p_channels, "p2p channels", name);
  return environment;
}

NcclEnvironment load_nccl_env(const std::string& path) { return read_nccl_env(load_text(path), path); }

}  // namespace busbar
