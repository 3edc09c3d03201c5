#include "calibrate/run/watchdog.h"

#include <utility>

namespace busbar {

Watchdog::Watchdog(double limit_s, std::function<void(const std::string&)> alarm)
    : limit_s_(limit_s), alarm_(std::move(alarm)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::arm(std::string what) {
  {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    deadline_ = deadline_in(limit_s_);
  }
  changed_.notify_one();
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (!deadline_) {
      changed_.wait(lock);
      continue;
    }
    const Deadline deadline = *deadline_;
    changed_.wait_until(lock, deadline);
    if (ends_ || deadline_ != deadline || std::chrono::steady_clock::now() < deadline) continue;
    const std::string what = what_;
    lock.unlock();
    alarm_(what);
    return;
  }
}

}  // namespace busbar
