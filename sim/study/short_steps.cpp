// A step of many microbatches repeats: once the pipeline is full, every further round of microbatches takes
// what the one before took, as in any timed event graph of fixed delays (Baccelli, Cohen, Olsder & Quadrat,
// Synchronization and Linearity, 1992, chapter 3); where kernels and transfers slow each other, rounds
// come close to that geometrically. So short steps of m0 + k w microbatches are simulated, k = 0, 1, ...,
// until the last three lie on a line in every figure, and
//
//   figure(m) = figure(m0 + k w) + ((m - m0) / w - k) x (figure(m0 + k w) - figure(m0 + (k - 1) w)).
//
// Where that would take as long as the whole step, the whole step is simulated.
#include "sim/study/short_steps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sim/replay/simulate.h"

namespace busbar {

namespace {

constexpr std::int64_t kLeastRound = 8;  // microbatches
constexpr double kSameRound = 1e-6;      // of the step: bends below it are a line's
constexpr double kWorthIt = 0.6;  // of the whole step's microbatches: the most that short ones may have

StepFigures figures_of(const RunResult& result) {
  StepFigures f{.step_s = result.step_time.seconds(),
                .compute_s = result.split.compute.seconds(),
                .exposed_s = result.split.exposed.seconds(),
                .bubble_s = result.split.bubble.seconds(),
                .wait_s = result.split.straggler_wait.seconds(),
                .idle_s = result.split.idle.seconds(),
                .tokens = result.tokens,
                .model_flops = result.model_flops,
                .hardware_flops = result.hardware_flops,
                .peak_flops = result.peak_flops.value_or(0),
                .failure = {}};
  if (!result.memory) return f;
  f.parameters_bytes = result.memory->parameters.as_double();
  f.gradients_bytes = result.memory->gradients.as_double();
  f.optimizer_bytes = result.memory->optimizer.as_double();
  f.activations_bytes = result.memory->activations.as_double();
  f.buffers_bytes = result.memory->buffers.as_double();
  return f;
}

/// Microbatches that leave a full pipeline as they found it: whole turns of all stages, `least` of them.
std::int64_t turns(const ParallelSpec& p, std::int64_t least) { return (least + p.pp - 1) / p.pp * p.pp; }

/// Schedules that keep what all microbatches leave have another memory at every length.
bool keeps_all(const ParallelSpec& c) {
  return c.pp > 1 &&
         (c.schedule == PipelineSchedule::kGpipe || c.schedule == PipelineSchedule::kZeroBubble2p);
}

/// Whether `b` lies between `a` and `c` as on a line, in all figures.
bool is_line(const StepFigures& a, const StepFigures& b, const StepFigures& c) {
  for (const auto number : kStepNumbers) {
    const double bend = c.*number - 2 * b.*number + a.*number;
    if (std::abs(bend) > kSameRound * std::max(std::abs(c.*number), c.step_s)) return false;
  }
  return true;
}

StepFigures beyond(const StepFigures& before, const StepFigures& last, double rounds) {
  StepFigures figures = last;
  for (const auto number : kStepNumbers) figures.*number += rounds * (last.*number - before.*number);
  return figures;
}

struct Rounds {
  StepFigures figures;                // of the whole step
  std::int64_t before = 0, last = 0;  // global batches of the short ones
  double rounds = 0;
};

/// None: the step is short, or its rounds differ for too long.
std::optional<Rounds> from_rounds(const Topology& topology, const Profile& profile, Workload workload) {
  const ParallelSpec& p = workload.parallel;
  if (keeps_all(p)) return std::nullopt;
  const std::int64_t per_microbatch = workload.batch.micro * p.dp,
                     all = workload.batch.global / per_microbatch;
  const std::int64_t round = turns(p, kLeastRound), full = turns(p, std::max(kLeastRound, 2 * p.pp));
  const std::int64_t first = full + (all - full) % round;
  const double most = kWorthIt * static_cast<double>(all);
  if (static_cast<double>(4 * first + 6 * round) > most) return std::nullopt;
  std::vector<StepFigures> f;
  std::int64_t spent = 0;
  for (std::int64_t microbatches = first;; microbatches += round) {
    spent += microbatches;
    if (static_cast<double>(spent) > most) return std::nullopt;
    workload.batch.global = microbatches * per_microbatch;
    f.push_back(whole_step(topology, profile, workload));
    const std::size_t n = f.size();
    if (n < 4 || !is_line(f[n - 3], f[n - 2], f[n - 1]) || !is_line(f[n - 4], f[n - 3], f[n - 2])) continue;
    const std::int64_t left = (all - microbatches) / round;  // whole: `first` has the rest
    const auto rounds = static_cast<double>(left);
    return Rounds{.figures = beyond(f[n - 2], f[n - 1], rounds),
                  .before = workload.batch.global - round * per_microbatch,
                  .last = workload.batch.global,
                  .rounds = rounds};
  }
}

}  // namespace

StepFigures whole_step(const Topology& topology, const Profile& profile, const Workload& workload) {
  return figures_of(simulate(topology, expand(workload), profile, {}));
}

StepFigures step_figures(const Topology& topology, const Profile& profile, const Workload& workload) {
  if (const auto rounds = from_rounds(topology, profile, workload)) return rounds->figures;
  return whole_step(topology, profile, workload);
}

std::optional<ShortSteps> short_steps(const Topology& topology, const Profile& profile,
                                      const Workload& workload) {
  const auto rounds = from_rounds(topology, profile, workload);
  if (!rounds) return std::nullopt;
  ShortSteps steps{.before = workload, .last = workload, .rounds = rounds->rounds};
  steps.before.batch.global = rounds->before;
  steps.last.batch.global = rounds->last;
  return steps;
}

}  // namespace busbar
