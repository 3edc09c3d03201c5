#include "sim/cost/nccl_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace busbar {

namespace {

constexpr std::string_view kProtocolNames[] = {"LL", "LL128", "Simple", "ideal"};
constexpr std::string_view kAlgorithmNames[] = {
    "tree", "ring", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat"};

// Small letters and digits alone: "NVLS_TREE", "NVLSTree" and "nvls-tree" are one name.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string_view name_of(Protocol protocol) { return kProtocolNames[static_cast<std::size_t>(protocol)]; }

bool parse_protocol(std::string_view name, Protocol& out) {
  if (name == "ll" || name == "LL") return out = Protocol::kLl, true;
  if (name == "ll128" || name == "LL128") return out = Protocol::kLl128, true;
  if (name == "simple" || name == "Simple" || name == "SIMPLE") return out = Protocol::kSimple, true;
  return false;
}

std::string_view name_of(NcclAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

bool parse_nccl_algorithm(std::string_view name, NcclAlgorithm& out) {
  const std::string wanted = plain(name);
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    if (plain(kAlgorithmNames[a]) == wanted) return out = static_cast<NcclAlgorithm>(a), true;
  return false;
}

std::string to_text(const NcclVersion& v) { return fmt::format("{}.{}.{}", v.major, v.minor, v.patch); }

std::optional<NcclVersion> parse_nccl_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  NcclVersion version{0, 0, 0};
  int* const parts[] = {&version.major, &version.minor, &version.patch};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *parts[i]);
    if (error != std::errc() || *parts[i] < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() == '-' || text.front() == '+')
      return i > 0 ? std::optional(version) : std::nullopt;
    if (text.front() != '.' || i == 2) return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

}  // namespace busbar
