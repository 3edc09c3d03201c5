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

/// Mixes `value` into `hash`; the order of calls matters.   Source: the finaliser of splitmix64 (Steele, Lea
/// & Flood 2014, "Fast splittable pseudorandom number generators").
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t x = hash * 0x9e3779b97f4a7c15 + value + 0x632be59bd9b4e019;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace busbar
