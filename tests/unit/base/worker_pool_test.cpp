#include "sim/base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

namespace busbar {
namespace {

std::vector<std::size_t> first(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

TEST(RunJobs, DoesEachJobOnceOnAnyNumberOfThreads) {
  for (const std::size_t threads : {1U, 2U, 7U, 0U}) {
    std::vector<std::atomic<int>> times(50);
    std::size_t reports = 0;
    run_jobs(
        first(50), threads, [&](std::size_t i) { ++times[i]; },
        [&](std::size_t done) { EXPECT_EQ(done, ++reports); });
    for (const auto& n : times) EXPECT_EQ(n, 1);
    EXPECT_EQ(reports, 50U);
  }
}

TEST(RunJobs, PassesAFailureOnAndStops) {
  std::atomic<int> done{0};
  const auto job = [&](std::size_t i) {
    if (i == 3) throw std::runtime_error("job 3");
    ++done;
  };
  EXPECT_THROW(run_jobs(first(1000), 1, job), std::runtime_error);
  EXPECT_EQ(done, 3);  // 0, 1 and 2
  EXPECT_THROW(run_jobs(first(1000), 4, job), std::runtime_error);
}

TEST(RunJobs, HasNothingToDoWithoutJobs) {
  run_jobs({}, 4, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace busbar
