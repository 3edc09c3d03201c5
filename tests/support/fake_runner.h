// A runner without machines: seconds from latency, rate and noise, on a clock of its own.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/run/runner.h"
#include "sim/base/error.h"

namespace busbar {

class FakeRunner : public Runner {
 public:
  /// `hosts` hosts of `per_host` ranks each.
  FakeRunner(std::size_t hosts, std::size_t per_host) {
    machine_.library = "Fake 1.0";
    for (std::size_t h = 0; h < hosts; ++h)
      for (std::size_t r = 0; r < per_host; ++r)
        machine_.ranks.push_back({"h" + std::to_string(h), "fake device", static_cast<std::int64_t>(r)});
  }

  double latency_s = 10e-6, bytes_per_s = 1e9;
  double noise = 0;                        // relative, uniform
  double first_use_s = 0.5;                // paid by the first call of a group
  std::optional<std::uint32_t> slow_rank;  // takes twice as long
  std::optional<std::uint32_t> hung_rank;  // never answers
  double clock_s = 0;                      // advanced by every batch
  std::vector<Call> calls;                 // as they came

  [[nodiscard]] double expected(Bytes size) const { return latency_s + size.as_double() / bytes_per_s; }

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] bool leads() const override { return true; }
  [[nodiscard]] std::string from_leader(std::string text) override { return text; }
  [[nodiscard]] bool offers(CollectiveKind kind) const override { return kind != CollectiveKind::kGather; }
  [[nodiscard]] std::vector<ForcedChoice> choices(CollectiveKind kind, std::int64_t) const override {
    if (kind != CollectiveKind::kAllReduce) return {};
    return {{"ring", "Simple"}, {"ring", "LL"}, {"tree", "LL"}};
  }
  [[nodiscard]] BatchTimes time_batch(const Call& call) override {
    calls.push_back(call);
    if (hung_rank && std::find(call.members.begin(), call.members.end(), *hung_rank) != call.members.end())
      throw Error({.kind = ErrorKind::kSystem,
                   .where = "rank " + std::to_string(*hung_rank),
                   .message = "does not answer"});
    const bool first = used_.insert(call.members).second;
    const auto samples = static_cast<std::size_t>(call.pace == Pace::kIsolated ? call.count : 1);
    BatchTimes times(call.members.size(), std::vector<double>(samples));
    for (std::size_t m = 0; m < times.size(); ++m)
      for (double& seconds : times[m]) {
        seconds = expected(call.size) * (1 + noise * unit_(random_)) + (first ? first_use_s : 0);
        if (slow_rank == call.members[m]) seconds *= 2;
      }
    clock_s += times[0][0] * static_cast<double>(call.count);
    return times;
  }
  [[nodiscard]] std::vector<MeasuredKernel> time_kernels(std::vector<std::string>& notes) override {
    notes.emplace_back("a fake has no memory to copy");
    return {{.kind = MeasuredKernelKind::kLaunch, .time = Time::from_microseconds(4)}};
  }

 private:
  Machine machine_;
  std::set<std::vector<std::uint32_t>> used_;
  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> unit_{-1, 1};
};

}  // namespace busbar
