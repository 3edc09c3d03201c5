#include "sim/study/goodput.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <vector>

#include "sim/base/digest.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr std::int64_t kMostSpares = 1'000'000;

/// Uniform in (0, 1], the k-th of a seed.
double uniform(std::uint64_t seed, std::uint64_t k) {
  return (static_cast<double>(mix(seed, k) >> 11) + 1) * 0x1.0p-53;
}

double at_least_write(const FailureModel& m, double interval) {
  return m.asynchronous ? std::max(interval, m.write_s() - m.stall_s()) : interval;
}

/// The course of one run: training, checkpoints, failures, repairs.
class FailingRun {
 public:
  FailingRun(const FailureModel& model, double interval, std::uint64_t seed)
      : m_(model), interval_(interval), seed_(seed), next_failure_(draw()) {}

  GoodputRun until(double training) {
    while (saved_ < training && run_.failures < kMostFailures) train(training);
    run_.goodput = now_ > 0 ? saved_ / now_ : 1;
    run_.waiting = now_ > 0 ? waited_ / now_ : 0;
    return run_;
  }

 private:
  static constexpr std::int64_t kMostFailures = 20'000;  // a mean to half a per cent of what is lost

  double draw() { return now_ - m_.mtbf_s * std::log(uniform(seed_, draws_++)); }

  // All intervals with their checkpoints up to the next failure, or the end. A checkpoint counts once it is
  // written; an asynchronous one is written during the next interval.
  void train(double training) {
    if (pending_ > 0 && next_failure_ >= pending_at_) {
      saved_ += pending_;
      pending_ = 0;
    }
    const double each = interval_ + m_.stall_s();
    const double wanted = std::max(1.0, std::ceil((training - saved_) / interval_));
    const double whole = std::min(wanted, std::floor((next_failure_ - now_) / each));
    if (whole < 1) {
      fail();
      return;
    }
    now_ += whole * each;
    if (!m_.asynchronous) {
      saved_ += whole * interval_;
      return;
    }
    saved_ += pending_ + (whole - 1) * interval_;  // intervals are never shorter than writes
    pending_ = interval_;
    pending_at_ = now_ - m_.stall_s() + m_.write_s();
  }

  // Whatever fails during the restart begins it anew.
  void fail() {
    pending_ = 0;
    do {
      ++run_.failures;
      now_ = next_failure_;
      lose_host();
      next_failure_ = draw();
    } while (next_failure_ < now_ + m_.restart_s && run_.failures < kMostFailures);
    now_ += m_.restart_s;
  }

  void lose_host() {
    while (!repairs_.empty() && repairs_.top() <= now_) repairs_.pop();
    repairs_.push(now_ + m_.repair_s);
    if (std::ssize(repairs_) <= m_.spares || m_.repair_s <= 0) return;
    waited_ += repairs_.top() - now_;  // a host is missing until the first comes back
    now_ = repairs_.top();
  }

  const FailureModel& m_;
  double interval_;
  std::uint64_t seed_, draws_ = 0;
  double now_ = 0, saved_ = 0, waited_ = 0;
  double pending_ = 0, pending_at_ = 0;  // training whose asynchronous checkpoint is being written
  double next_failure_;
  GoodputRun run_;
  std::priority_queue<double, std::vector<double>, std::greater<>> repairs_;
};

}  // namespace

double FailureModel::stall_s() const {
  if (checkpoint_bytes == 0) return 0;
  const double rate = asynchronous ? staging_Bps : storage_Bps;
  BUSBAR_CHECK(rate > 0);
  return checkpoint_bytes / rate;
}

double FailureModel::write_s() const {
  if (checkpoint_bytes == 0) return 0;
  return asynchronous ? stall_s() + checkpoint_bytes / storage_Bps : stall_s();
}

double young_interval(const FailureModel& m) {
  if (m.mtbf_s == 0) return HUGE_VAL;
  return at_least_write(m, std::sqrt(2 * m.stall_s() * m.mtbf_s));
}

double daly_interval(const FailureModel& m) {
  if (m.mtbf_s == 0) return HUGE_VAL;
  const double c = m.stall_s(), ratio = c / (2 * m.mtbf_s);
  if (ratio >= 1) return at_least_write(m, m.mtbf_s);
  return at_least_write(m, std::sqrt(2 * c * m.mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - c);
}

double checkpoint_share(const FailureModel& m, double interval_s) {
  if (std::isinf(interval_s)) return 1;
  return interval_s / (interval_s + m.stall_s());
}

double expected_goodput(const FailureModel& m, double interval_s) {
  if (m.mtbf_s == 0) return checkpoint_share(m, interval_s);
  const double lost =
      std::exp(m.restart_s / m.mtbf_s) * m.mtbf_s * std::expm1((interval_s + m.stall_s()) / m.mtbf_s);
  const double unwritten = m.asynchronous ? (m.write_s() - m.stall_s()) / m.mtbf_s : 0;
  return std::max(0.0, interval_s / lost - unwritten * interval_s / lost);
}

GoodputRun simulate_goodput(const FailureModel& m, double interval_s, double training_s, std::uint64_t seed) {
  BUSBAR_CHECK(interval_s > 0 && training_s > 0);
  if (m.mtbf_s == 0) return {.goodput = checkpoint_share(m, interval_s)};
  return FailingRun(m, at_least_write(m, interval_s), seed).until(training_s);
}

// Goodput as a function of the interval has one hill; with equal draws it is rough by single failures only.
double simulated_interval(const FailureModel& m, double training_s, std::uint64_t seed) {
  if (m.mtbf_s == 0) return HUGE_VAL;
  const double centre = std::max(1.0, daly_interval(m));
  double best = centre, most = -1;
  for (int k = -70; k <= 70; ++k) {  // a factor of 4 either way, in steps of 2 %
    const double interval = at_least_write(m, centre * std::pow(1.02, k));
    const double goodput = simulate_goodput(m, interval, training_s, seed).goodput;
    if (goodput <= most) continue;
    most = goodput;
    best = interval;
  }
  return best;
}

std::int64_t spares_for(const FailureModel& m, double probability) {
  if (m.mtbf_s == 0 || m.repair_s == 0) return 0;
  const double mean = m.repair_s / m.mtbf_s;
  const auto term = [&](double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); };
  double sum = term(0);
  std::int64_t k = 0;
  while (sum < probability && k < kMostSpares) sum += term(static_cast<double>(++k));
  return k;
}

}  // namespace busbar
