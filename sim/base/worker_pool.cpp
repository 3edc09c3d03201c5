#include "sim/base/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace busbar {

namespace {

class Pool {
 public:
  Pool(const std::vector<std::size_t>& order, const std::function<void(std::size_t)>& job,
       const std::function<void(std::size_t)>& done)
      : order_(order), job_(job), done_(done), failed_at_(order.size()) {}

  void work() {
    for (;;) {
      const std::size_t at = next_++;
      if (at >= order_.size() || stop_) return;
      try {
        job_(order_[at]);
        const std::lock_guard lock(mutex_);
        done_(++finished_);
      } catch (...) {
        fail(at);
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void fail(std::size_t at) {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (at >= failed_at_) return;
    failed_at_ = at;
    failure_ = std::current_exception();
  }

  const std::vector<std::size_t>& order_;
  const std::function<void(std::size_t)>& job_;
  const std::function<void(std::size_t)>& done_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::size_t finished_ = 0, failed_at_;
  std::exception_ptr failure_;
};

}  // namespace

void run_jobs(const std::vector<std::size_t>& order, std::size_t threads,
              const std::function<void(std::size_t)>& job, const std::function<void(std::size_t)>& done) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  Pool pool(order, job, done);
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min(threads, order.size()); ++i)
    helpers.emplace_back([&pool] { pool.work(); });
  pool.work();
  helpers.clear();  // joins
  pool.rethrow();
}

}  // namespace busbar
