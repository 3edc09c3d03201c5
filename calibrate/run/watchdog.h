// A thread that wakes when a batch takes too long.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "calibrate/run/tcp_socket.h"

namespace busbar {

/// Calls `alarm` with what was being done, in a thread of its own, when the time between `arm` and `disarm`
/// exceeds the limit; at most once.
class Watchdog {
 public:
  Watchdog(double limit_s, std::function<void(const std::string& what)> alarm);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  void arm(std::string what);
  void disarm();

 private:
  void watch();

  double limit_s_;
  std::function<void(const std::string&)> alarm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Deadline> deadline_;
  std::string what_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace busbar
