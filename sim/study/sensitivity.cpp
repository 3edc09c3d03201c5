#include "sim/study/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <numeric>
#include <optional>
#include <span>
#include <thread>

#include "sim/base/error.h"
#include "sim/base/worker_pool.h"
#include "sim/replay/rerun.h"
#include "sim/study/parameters.h"

namespace busbar {

namespace {

constexpr double kStep = 1.01;   // far above a picosecond of any step, and small beside most kinks
constexpr double kSmall = 5e-3;  // of an elasticity, below which its slope serves for ten per cent
constexpr double kBetter = 0.1;  // what "10 % more NIC bandwidth" asks

double slope(Time from, Time to, double factor) {
  return std::log(to.seconds() / from.seconds()) / std::log(factor);
}

/// Times of a step that may be described by two short ones.
class StepTimes {
 public:
  explicit StepTimes(const StudiedStep& s)
      : last_(*s.topology, *s.trace, *s.profile, s.options), rounds_(s.repeated.rounds) {
    if (s.repeated.shorter != nullptr)
      before_.emplace(*s.topology, *s.repeated.shorter, *s.profile, s.options);
  }
  [[nodiscard]] Time at(const Scales& scales = {}) {
    const Time last = last_.step_time(scales);
    if (!before_) return last;
    const double round_s = last.seconds() - before_->step_time(scales).seconds();
    return Time::from_seconds(last.seconds() + rounds_ * round_s);
  }
  /// What a step of this time takes beyond the studied trace.
  [[nodiscard]] Time repeated(Time step) { return before_ ? step - last_.step_time() : Time::zero(); }

 private:
  Rerun last_;
  std::optional<Rerun> before_;
  double rounds_;
};

SensitivityRecord of_parameter(const StudyParameter& p, StepTimes& times, Time base) {
  SensitivityRecord record{.parameter = p.name,
                           .words = p.words,
                           .value = value_text(p),
                           .less_is_better = p.is_time(),
                           .better = 0};
  const Time more = times.at(p.at(kStep)), less = times.at(p.at(1 / kStep));
  record.up = slope(base, more, kStep);
  record.down = slope(less, base, kStep);
  record.elasticity = (record.up + record.down) / 2;
  if (std::max(std::abs(record.up), std::abs(record.down)) < kSmall) {
    record.better = (p.is_time() ? record.down * std::log(1 - kBetter) : record.up * std::log(1 + kBetter));
    return record;
  }
  const Time better = times.at(p.at(p.is_time() ? 1 - kBetter : 1 + kBetter));
  record.better = better.seconds() / base.seconds() - 1;
  return record;
}

/// The step with another global batch; none: the layout does not take it.
std::optional<Time> at_batch(const StudiedStep& step, std::int64_t global) {
  Workload workload = *step.workload;
  workload.batch.global = global;
  if (global <= 0 || batch_problem(workload.batch, workload.parallel.dp)) return std::nullopt;
  try {
    const StepTrace trace = expand(workload);
    return Rerun(*step.topology, trace, *step.profile, step.options).step_time();
  } catch (const Error& e) {
    if (e.parts().kind != ErrorKind::kInput) throw;
    return std::nullopt;  // a schedule that wants whole rounds
  }
}

/// Step times with more and fewer samples.
struct BatchTimes {
  std::int64_t change = 0;
  std::optional<Time> more, less;
};

BatchTimes batch_times(const StudiedStep& step) {
  const Workload& w = *step.workload;
  for (const std::int64_t rounds : {std::int64_t{1}, w.parallel.pp}) {
    BatchTimes times{.change = rounds * w.batch.micro * w.parallel.dp};
    times.more = at_batch(step, w.batch.global + times.change);
    times.less = at_batch(step, w.batch.global - times.change);
    if (times.more || times.less) return times;
  }
  return {};
}

std::optional<SensitivityRecord> of_batch(const BatchTimes& times, std::int64_t now, Time base) {
  if (!times.more && !times.less) return std::nullopt;
  SensitivityRecord record{.parameter = "global-batch",
                           .words = fmt::format("global batch by {}", times.change),
                           .value = fmt::format("{}", now),
                           .is_load = true};
  const auto before = static_cast<double>(now), change = static_cast<double>(times.change);
  const double grown = before + change, shrunk = before - change;
  if (times.more) record.up = slope(base, *times.more, grown / before);
  if (times.less) record.down = slope(*times.less, base, before / shrunk);
  if (!times.more) record.up = record.down;
  if (!times.less) record.down = record.up;
  record.elasticity = times.more && times.less ? slope(*times.less, *times.more, grown / shrunk) : record.up;
  return record;
}

// A worker holds a machine of its own: more than this many ranks in all of them take too much memory.
constexpr std::size_t kMostRanks = std::size_t{1} << 16;

// Parameters are independent of each other, and a step time of what the machine was asked before: each worker
// builds it once and takes the next parameter.
std::vector<SensitivityRecord> of_parameters(const StudiedStep& step,
                                             std::span<const StudyParameter> parameters, StepTimes& first,
                                             Time base, std::size_t threads) {
  std::vector<SensitivityRecord> records(parameters.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&](StepTimes& times) {
    for (std::size_t p = next++; p < parameters.size(); p = next++)
      records[p] = of_parameter(parameters[p], times, base);
  };
  const std::size_t room = std::max<std::size_t>(1, kMostRanks / std::max<std::size_t>(1, step.trace->ranks));
  const std::size_t workers = std::max<std::size_t>(1, std::min({threads, room, parameters.size() / 2}));
  std::vector<std::size_t> order(workers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  run_jobs(order, workers, [&](std::size_t worker) {
    if (worker == 0) return work(first);
    StepTimes own(step);
    work(own);
  });
  return records;
}

}  // namespace

std::vector<SensitivityRecord> sensitivity(const StudiedStep& step, std::size_t threads) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::future<BatchTimes> batch;  // other jobs, so beside this one
  if (step.workload != nullptr) batch = std::async(std::launch::async, [&] { return batch_times(step); });
  StepTimes times(step);
  const Time base = times.at();
  if (base <= Time::zero()) return {};  // a step without time depends on nothing
  std::vector<SensitivityRecord> records =
      of_parameters(step, study_parameters(*step.topology), times, base, threads);
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return *a.better < *b.better; });
  if (!batch.valid()) return records;
  BatchTimes of_batches = batch.get();
  const Time repeated = times.repeated(base);
  for (std::optional<Time>* time : {&of_batches.more, &of_batches.less})
    if (*time) **time += repeated;
  const std::int64_t now =
      step.repeated.shorter != nullptr ? step.repeated.global_batch : step.workload->batch.global;
  if (auto record = of_batch(of_batches, now, base)) records.push_back(std::move(*record));
  return records;
}

}  // namespace busbar
