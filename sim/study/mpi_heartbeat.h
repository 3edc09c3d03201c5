// How the ranks of a study learn that the first one has died.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <thread>

namespace busbar {

/// Of rank 0: a thread that sends every other rank an empty message each second. Needs MPI_THREAD_MULTIPLE.
class MpiHeartbeat {
 public:
  static constexpr int kAlive = 4;  // the tag
  explicit MpiHeartbeat(std::size_t ranks);
  /// A rank that has died gets no more of them.
  void leave_out(std::size_t rank) { left_out_[rank] = true; }

 private:
  void beat(const std::stop_token& stop);
  std::deque<std::atomic<bool>> left_out_;
  std::jthread thread_;  // last: it ends first
};

/// Of the others: how long nothing has come. A pause of this process itself counts as a moment, so that a job
/// that was suspended goes on.
class MpiSilence {
 public:
  static constexpr double kMost_s = 20;
  void end() { silent_s_ = 0; }
  /// Called often.
  [[nodiscard]] bool is_too_long();

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  double silent_s_ = 0;
};

}  // namespace busbar
