#include "sim/base/units.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "sim/base/error.h"

namespace busbar {
namespace {

constexpr double kTwoTo63 = 0x1p63;

[[noreturn]] void overflow(const char* what, const char* kind, std::string given) {
  throw Error({.where = what, .expected = fmt::format("a {} below 2^63", kind), .given = std::move(given)});
}

}  // namespace

void Time::out_of_range() {
  throw Error({.expected = "a time within 106 days", .given = "a longer sum of times"});
}

Time Time::from_seconds(double seconds) {
  const double ps = std::round(seconds * 1e12);
  // Written so that NaN fails too.
  if (!(ps >= -kTwoTo63 && ps < kTwoTo63))
    throw Error({.expected = "a time within 106 days", .given = fmt::format("{:.6g} s", seconds)});
  return Time(static_cast<std::int64_t>(ps));
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow(what, "product", fmt::format("{} x {}", a, b));
  return product;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow(what, "sum", fmt::format("{} + {}", a, b));
  return sum;
}

}  // namespace busbar
