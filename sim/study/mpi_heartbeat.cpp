#include "sim/study/mpi_heartbeat.h"

#include <mpi.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace busbar {

namespace {

constexpr auto kPause = std::chrono::seconds(1);
constexpr double kMoment_s = 1;  // longer between two looks: this process was stopped

}  // namespace

MpiHeartbeat::MpiHeartbeat(std::size_t ranks)
    : left_out_(ranks), thread_([this](const std::stop_token& stop) { beat(stop); }) {}

// An empty message is gone when it is sent: nothing to wait for.
void MpiHeartbeat::beat(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    for (std::size_t rank = 1; rank < left_out_.size(); ++rank) {
      if (left_out_[rank]) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(rank), kAlive, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
    changed.wait_for(lock, stop, kPause, [] { return false; });
  }
}

bool MpiSilence::is_too_long() {
  const auto now = std::chrono::steady_clock::now();
  silent_s_ += std::min(kMoment_s, std::chrono::duration<double>(now - last_).count());
  last_ = now;
  return silent_s_ > kMost_s;
}

}  // namespace busbar
