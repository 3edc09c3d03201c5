// Independent jobs over threads.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace busbar {

/// Calls job(i) once for each i of `order`, on up to `threads` threads; 0: one per core. After a job has
/// thrown, no other begins, and the exception of the earliest of those that threw is thrown on. `done` is
/// called after each job, by one thread at a time, with how many are done.
void run_jobs(
    const std::vector<std::size_t>& order, std::size_t threads, const std::function<void(std::size_t)>& job,
    const std::function<void(std::size_t)>& done = [](std::size_t) {});

}  // namespace busbar
