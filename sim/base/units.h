// Strong units. A number with a dimension never travels as a bare double outside a formula.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace busbar {

/// A span of simulated time, or an instant since the start of the step, in whole picoseconds.
/// Range: +-106 days. Conversions from seconds round to the nearest picosecond.
/// Errors: `from_seconds` of NaN, or beyond the range, throws Error (kInput).
class Time {
 public:
  constexpr Time() = default;
  [[nodiscard]] static constexpr Time picoseconds(std::int64_t ps) { return Time(ps); }
  [[nodiscard]] static constexpr Time zero() { return Time(0); }
  [[nodiscard]] static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  [[nodiscard]] static Time from_seconds(double seconds);
  [[nodiscard]] static Time from_microseconds(double us) { return from_seconds(us * 1e-6); }

  [[nodiscard]] constexpr std::int64_t ps() const { return ps_; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }
  [[nodiscard]] constexpr double microseconds() const { return static_cast<double>(ps_) * 1e-6; }

  constexpr auto operator<=>(const Time&) const = default;
  // Sums and products beyond the range throw Error (kInput), as `from_seconds` does.
  constexpr Time& operator+=(Time other) { return *this = *this + other; }
  constexpr Time& operator-=(Time other) { return *this = *this - other; }
  friend constexpr Time operator+(Time a, Time b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.ps_, b.ps_, &sum)) out_of_range();
    return Time(sum);
  }
  friend constexpr Time operator-(Time a, Time b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.ps_, b.ps_, &difference)) out_of_range();
    return Time(difference);
  }
  friend constexpr Time operator*(Time a, std::int64_t k) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.ps_, k, &product)) out_of_range();
    return Time(product);
  }
  friend constexpr Time operator*(std::int64_t k, Time a) { return a * k; }

 private:
  constexpr explicit Time(std::int64_t ps) : ps_(ps) {}
  [[noreturn]] static void out_of_range();
  std::int64_t ps_ = 0;
};

/// A data size in bytes. Never negative in valid input; arithmetic that can overflow goes through
/// `checked_mul` and `checked_add`, which throw Error (kInput).
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t n) : n_(n) {}
  [[nodiscard]] constexpr std::int64_t count() const { return n_; }
  [[nodiscard]] constexpr double as_double() const { return static_cast<double>(n_); }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    n_ += other.n_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.n_ + b.n_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.n_ - b.n_); }

 private:
  std::int64_t n_ = 0;
};

/// Bytes per second in one direction of one link. Only named factories make one.
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  [[nodiscard]] static constexpr Bandwidth bytes_per_second(double v) { return Bandwidth(v); }
  [[nodiscard]] static constexpr Bandwidth gigabytes_per_second(double v) { return Bandwidth(v * 1e9); }
  [[nodiscard]] static constexpr Bandwidth gigabits_per_second(double v) { return Bandwidth(v * 1e9 / 8); }
  [[nodiscard]] static constexpr Bandwidth unlimited() {
    return Bandwidth(std::numeric_limits<double>::infinity());
  }
  [[nodiscard]] constexpr double Bps() const { return v_; }
  constexpr auto operator<=>(const Bandwidth&) const = default;
  friend constexpr Bandwidth operator*(Bandwidth a, double k) { return Bandwidth(a.v_ * k); }
  friend constexpr Bandwidth operator/(Bandwidth a, double k) { return Bandwidth(a.v_ / k); }

 private:
  constexpr explicit Bandwidth(double v) : v_(v) {}
  double v_ = 0;
};

/// Floating-point operations per second of one GPU.
class FlopRate {
 public:
  constexpr FlopRate() = default;
  [[nodiscard]] static constexpr FlopRate flops_per_second(double v) { return FlopRate(v); }
  [[nodiscard]] static constexpr FlopRate teraflops_per_second(double v) { return FlopRate(v * 1e12); }
  [[nodiscard]] constexpr double flops() const { return v_; }
  constexpr auto operator<=>(const FlopRate&) const = default;

 private:
  constexpr explicit FlopRate(double v) : v_(v) {}
  double v_ = 0;
};

/// Products and sums of counts that came from input. Throw Error (kInput) naming `what` on overflow.
[[nodiscard]] std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* what);
[[nodiscard]] std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what);

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_kB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) * 1000); }
constexpr Bytes operator""_MB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) * 1000000); }
constexpr Bytes operator""_GB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n) * 1000000000);
}
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 10); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 20); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 30); }
}  // namespace literals

}  // namespace busbar
