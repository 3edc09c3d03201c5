#include "sim/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr std::size_t kWidest = 118;
constexpr double kSettled_s = 1;  // before which a rate says little

}  // namespace

ProgressLine::ProgressLine(bool quiet) : shows_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(std::string_view text) {
  if (!shows_) return;
  shown_ = true;
  std::fputs(fmt::format("\r\x1b[K{}", text.substr(0, kWidest)).c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::count(std::string_view phase, std::size_t done, std::size_t all) {
  if (!shows_) return;
  const auto now = std::chrono::steady_clock::now();
  if (phase != phase_) {
    phase_ = phase;
    begin_ = now;
    first_ = done;
  }
  std::string text = phase_;
  if (all > 0) text += fmt::format(": {} of {}", done, all);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  if (all > done && done > first_ && seconds > kSettled_s) {
    const double rate = static_cast<double>(done - first_) / seconds;
    text += fmt::format("  {:.1f}/s  {} left", rate,
                        to_text(Time::from_seconds(static_cast<double>(all - done) / rate)));
  }
  show(text);
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace busbar
