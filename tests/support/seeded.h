// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <random>

namespace busbar {

class Seeded {
 public:
  explicit Seeded(std::uint64_t seed) : engine_(seed) {}
  /// low..high, both included.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double whole(std::int64_t low, std::int64_t high) { return static_cast<double>(integer(low, high)); }
  std::size_t index(std::int64_t low, std::int64_t high) {
    return static_cast<std::size_t>(integer(low, high));
  }
  bool one_in(std::int64_t n) { return integer(1, n) == 1; }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace busbar
