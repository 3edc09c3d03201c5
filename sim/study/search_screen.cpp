#include "sim/study/search_screen.h"

#include <algorithm>

#include "sim/study/search_sharing.h"
#include "sim/study/search_stages.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

// Sums of thousands of picosecond roundings.
constexpr double kRounding = 1e-6;

/// What the closed forms of one layout share.
struct Job {
  const Workload& w;
  const StageTimes& stages;
  const SharingTime& sharing;
  double message = 0, least_message = 0;  // from stage to stage: the mean, the shortest
  double optimizer = 0;                   // of the first stage
  double microbatches = 1;
};

Bytes message_bytes(const Workload& w) {
  if (!w.model.transformer) return {};
  const std::int64_t element = w.precision.compute == DataType::kFp8 ? 2 : size_of(w.precision.compute);
  const std::int64_t tokens = w.batch.micro * w.batch.sequence / w.parallel.cp;
  return Bytes(tokens * w.model.transformer->hidden * element /
               (w.parallel.sequence_parallel ? w.parallel.tp : 1));
}

double optimizer_seconds(const Workload& w, const StageTimes& stages, const LayerTimes& layers) {
  const Layout layout(w.parallel);
  const auto share = [&](std::int64_t elements, const char* slot) {
    return shards(w.parallel.sharding)
               ? static_cast<double>(elements) / static_cast<double>(layout.size(slot))
               : static_cast<double>(elements);
  };
  const auto copied = [&](std::int64_t elements, const char* slot) {
    return layout.size(slot) > 1 ? elements : 0;
  };
  const double each = static_cast<double>(optimizer_bytes_per_parameter(w.precision, w.optimizer));
  const double elements = share(stages.common.front(), "shard") + share(stages.experts.front(), "edp");
  double bytes = elements * each;
  if (each > 0)
    bytes += static_cast<double>(gradient_pass_bytes(w) * (stages.common.front() + stages.experts.front()));
  if (cuts_tensors(w))
    bytes +=
        static_cast<double>(kCopyTraffic * size_of(w.precision.parameters) *
                            (copied(stages.common.front(), "shard") + copied(stages.experts.front(), "edp")));
  return bytes == 0 ? 0 : layers.traffic_seconds(bytes);
}

/// Forward and backward of one microbatch with what the exchanges of sharded parameters add. While they run,
/// kernels have fewer SMs.
struct PassPair {
  double forward = 0, backward = 0;
};
PassPair with_gathers(const StageTime& stage, const SharingTime& s, double share) {
  const auto beside = [&](double kernels, double transfers) {
    const double slowed = kernels + s.sms * std::min(kernels, transfers);
    return std::max(slowed, transfers);
  };
  PassPair pair{.forward = beside(stage.forward, share * s.per_forward),
                .backward = beside(stage.backward, share * s.per_backward)};
  pair.forward += share * s.first;
  return pair;
}

double hidden_behind(double all, double last, double window, const OverlapSpec& overlap) {
  if (!overlap.dp) return all;
  return std::max(last, all - window);
}

double expected_of(const Job& job) {
  const ParallelSpec& p = job.w.parallel;
  const SharingTime& s = job.sharing;
  double slowest = 0, sum = 0, forward = 0, backward = 0, weights = 0;
  for (std::size_t i = 0; i < job.stages.expected.size(); ++i) {
    const StageTime& stage = job.stages.expected[i];
    // Stages differ by embedding and head; what they exchange is in proportion to their parameters.
    const double share = static_cast<double>(job.stages.common[i]) /
                         static_cast<double>(std::max<std::int64_t>(1, job.stages.common.front()));
    PassPair pair = with_gathers(stage, s, share);
    if (!job.w.overlap.pp && p.pp > 1) {
      pair.forward += job.message;
      pair.backward += job.message;
    }
    const double both = std::max(pair.forward + pair.backward + stage.weights, stage.host);
    slowest = std::max(slowest, both);
    sum += both;
    forward = std::max(forward, pair.forward);
    backward = std::max(backward, pair.backward);
    weights = std::max(weights, stage.weights);
  }
  const double stages = static_cast<double>(p.pp - 1), m = job.microbatches;
  const double fill = p.pp > 1 ? 2 * stages * job.message : 0;
  double time = 0;
  if (p.schedule == PipelineSchedule::kZeroBubble2p && p.pp > 1)
    time = m * slowest;
  else if (p.schedule == PipelineSchedule::kZeroBubbleH1 && p.pp > 1)
    time = m * slowest + stages * std::max(0.0, forward + backward - weights) + fill;
  else
    time = m * slowest + (sum - slowest) / static_cast<double>(p.virtual_stages) + fill;
  const StageTime& first = job.stages.expected.front();
  const double exposed = hidden_behind(s.at_end, s.at_end_last, first.backward, job.w.overlap) +
                         hidden_behind(s.at_start, s.at_start_first, first.forward, job.w.overlap) +
                         s.sms * (std::min(s.at_end, first.backward) + std::min(s.at_start, first.forward)) +
                         s.after;
  return std::max(time + exposed + job.optimizer, m * first.host + s.host);
}

/// Chains that every schedule has, the longest of them.
double least_of(const Job& job) {
  const ParallelSpec& p = job.w.parallel;
  const bool drains = !keeps_weights_apart(p.schedule);  // the last task of a stage is a backward
  const bool steady = p.schedule == PipelineSchedule::kZeroBubble2p && p.pp > 1;  // no fill in what is timed
  double most = job.sharing.least, before = 0, after = 0;
  for (const StageTime& stage : job.stages.least) {
    const double busy = job.microbatches * stage.busy() - stage.forward_lead - stage.backward_lead;
    const double chain = steady ? busy : before + busy + (drains ? after : 0);
    const bool first = &stage == &job.stages.least.front();
    most = std::max(most, chain + (drains || first ? job.optimizer : 0));
    if (first && drains && p.virtual_stages == 1) {
      // Until the last backward begins nothing of it can be sent.
      const double passes = (job.microbatches - 1) * stage.busy() + stage.forward;
      most = std::max(most, passes - stage.forward_lead - stage.backward_lead + job.sharing.least_at_end);
    }
    before += stage.first_forward - stage.forward_lead + job.least_message;
    after += stage.first_backward - stage.backward_lead + job.least_message;
  }
  return std::max(0.0, most * (1 - kRounding));
}

}  // namespace

Screener::Screener(const Workload& base, const Topology& topology, const Profile& profile)
    : base_(base),
      collectives_(topology, profile),
      layers_(base_, topology, profile, collectives_),
      sizes_(base_) {}

MemoryUse Screener::memory(const Candidate& candidate) {
  return fullest_stage(workload_of(base_, candidate), candidate, sizes_);
}

Screened Screener::screen(const Candidate& candidate) {
  const Workload w = workload_of(base_, candidate);
  const StageTimes stages = stage_times(w, layers_.of(candidate));
  const SharingTime sharing = sharing_time(w, stages, collectives_, layers_.sms());
  Job job{.w = w,
          .stages = stages,
          .sharing = sharing,
          .optimizer = optimizer_seconds(w, stages, layers_),
          .microbatches = static_cast<double>(microbatches_of(w))};
  const Layout layout(w.parallel);
  for (std::int64_t stage = 0; stage + 1 < w.parallel.pp; ++stage) {
    const double one =
        collectives_
            .message(layout.rank_of({.pp = stage}), layout.rank_of({.pp = stage + 1}), message_bytes(w))
            .seconds;
    job.message += one / static_cast<double>(w.parallel.pp - 1);
    job.least_message = stage == 0 ? one : std::min(job.least_message, one);
  }
  return {.expected_s = expected_of(job), .least_s = least_of(job), .memory = {}};
}

}  // namespace busbar
