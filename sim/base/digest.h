// Digests of input files: equal bytes, equal digests; no protection against forgery.
#pragma once

#include <cstdint>
#include <string_view>

namespace busbar {

inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;

/// FNV-1a, 64 bits.   Source: draft-eastlake-fnv, section 5.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kFnvStart) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

}  // namespace busbar
