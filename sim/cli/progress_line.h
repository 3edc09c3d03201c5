// What a program says while it works.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace busbar {

/// One line of standard error that overwrites itself and goes at the end; only on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet = false);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view text);
  /// "phase: 3 of 10", after a second with the rate of this phase and the time left; the phase alone where
  /// `all` is 0.
  void count(std::string_view phase, std::size_t done, std::size_t all);
  void clear();

 private:
  bool shows_, shown_ = false;
  std::string phase_;
  std::chrono::steady_clock::time_point begin_;
  std::size_t first_ = 0;  // what was done when the phase began
};

}  // namespace busbar
