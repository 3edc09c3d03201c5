#include "workloads/strategies/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/base/error.h"

namespace busbar {
namespace {

using Numbers = std::vector<std::int64_t>;

ParallelSpec pipeline(std::int64_t pp, PipelineSchedule schedule = PipelineSchedule::k1f1b,
                      std::int64_t v = 1) {
  return {.pp = pp, .schedule = schedule, .virtual_stages = v};
}

constexpr PipelineSchedule kAll[] = {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b,
                                     PipelineSchedule::kInterleaved, PipelineSchedule::kZeroBubbleH1,
                                     PipelineSchedule::kZeroBubble2p};

TEST(BlocksPerChunk, AreEqualWhereTheyDivide) {
  EXPECT_EQ(blocks_per_chunk(32, pipeline(4)), (Numbers{8, 8, 8, 8}));
  EXPECT_EQ(blocks_per_chunk(96, pipeline(2, PipelineSchedule::kInterleaved, 2)), (Numbers{24, 24, 24, 24}));
}

// 126 blocks, an embedding and a head are 128 units: 8 each on 16 stages.
TEST(BlocksPerChunk, WeighEmbeddingAndHeadAsABlockEach) {
  Numbers expected(16, 8);
  expected.front() = expected.back() = 7;
  EXPECT_EQ(blocks_per_chunk(126, pipeline(16)), expected);
}

TEST(BlocksPerChunk, AddUpAndDifferByLittle) {
  for (std::int64_t pp = 1; pp <= 12; ++pp)
    for (std::int64_t blocks = pp; blocks < 60; ++blocks) {
      const Numbers list = blocks_per_chunk(blocks, pipeline(pp));
      EXPECT_EQ(std::accumulate(list.begin(), list.end(), std::int64_t{0}), blocks);
      const auto [low, high] = std::minmax_element(list.begin(), list.end());
      EXPECT_LE(*high - *low, 2) << blocks << " on " << pp;
      EXPECT_GE(*low, 0);
    }
}

TEST(BlocksPerChunk, RefuseTooFewBlocksAndNumbersThatDoNotAddUp) {
  EXPECT_THROW(static_cast<void>(blocks_per_chunk(3, pipeline(4))), Error);
  ParallelSpec given = pipeline(2);
  given.stages = {3, 4};
  EXPECT_EQ(blocks_per_chunk(7, given), (Numbers{3, 4}));
  EXPECT_THROW(static_cast<void>(blocks_per_chunk(8, given)), Error);
}

// Each chunk's microbatches go forward once and backward once, backward after forward.
TEST(StageTasks, AreEachMicrobatchOfEachChunkOnceInOrder) {
  for (const PipelineSchedule schedule : kAll)
    for (const std::int64_t pp : {1, 2, 4, 8})
      for (const std::int64_t m : {pp, 2 * pp, 5 * pp}) {
        const std::int64_t v = schedule == PipelineSchedule::kInterleaved ? 3 : 1;
        const ParallelSpec p = pipeline(pp, schedule, v);
        ASSERT_EQ(schedule_problem(p, m), std::nullopt);
        for (std::int64_t stage = 0; stage < pp; ++stage) {
          std::map<std::pair<std::int64_t, std::int64_t>, int> seen;  // 1 forward, 2 backward, 3 weights
          for (const StageTask& task : stage_tasks(p, stage, m)) {
            int& state = seen[{task.microbatch, task.chunk}];
            EXPECT_EQ(state, static_cast<int>(task.work));
            ++state;
          }
          EXPECT_EQ(seen.size(), static_cast<std::size_t>(m * v));
          const int last = keeps_weights_apart(schedule) ? 3 : 2;
          for (const auto& [key, state] : seen) EXPECT_EQ(state, last);
        }
      }
}

// 1F1B holds pp - stage microbatches, GPipe all of them; ZB-H1 pp on every stage, 1F1B's most (Qi et al.,
// 2024): the weight gradients that it keeps back still need their activations. ZB-2p 2 pp - 1, within the two
// times pp that it is named for.
TEST(InFlight, IsWhatTheScheduleIsFor) {
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(in_flight(pipeline(4), stage, 16), 4 - stage);
    EXPECT_EQ(in_flight(pipeline(4, PipelineSchedule::kGpipe), stage, 16), 16);
    EXPECT_EQ(in_flight(pipeline(4, PipelineSchedule::kZeroBubbleH1), stage, 16), 4);
    EXPECT_EQ(in_flight(pipeline(4, PipelineSchedule::kZeroBubble2p), stage, 16), 7);
  }
}

/// The time of a schedule when a chunk's forward takes f, its backward b (with zb-h1 half of it each for
/// input and weight gradients) and messages nothing: each task waits for the stage and for its neighbour's
/// task.
double makespan(const ParallelSpec& p, std::int64_t m, double f, double b) {
  std::map<std::tuple<int, std::int64_t, std::int64_t>, double> done;  // work, microbatch, global chunk
  std::vector<std::size_t> next(static_cast<std::size_t>(p.pp), 0);
  std::vector<double> free(static_cast<std::size_t>(p.pp), 0.0);
  std::vector<std::vector<StageTask>> tasks;
  for (std::int64_t s = 0; s < p.pp; ++s) tasks.push_back(stage_tasks(p, s, m));
  const std::int64_t chunks = p.pp * p.virtual_stages;
  const bool apart = keeps_weights_apart(p.schedule);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < tasks.size(); ++s)
      while (next[s] < tasks[s].size()) {
        const StageTask& t = tasks[s][next[s]];
        const std::int64_t g = t.chunk * p.pp + static_cast<std::int64_t>(s);
        const int work = static_cast<int>(t.work);
        double ready = 0;
        const std::int64_t from = g + (t.work == StageWork::kForward ? -1 : 1);
        if (t.work != StageWork::kWeightGradient && from >= 0 && from < chunks) {
          const auto it = done.find({work, t.microbatch, from});
          if (it == done.end()) break;
          ready = it->second;
        }
        const double length = t.work == StageWork::kForward ? f : apart ? b / 2 : b;
        free[s] = std::max(free[s], ready) + length;
        done[{work, t.microbatch, g}] = free[s];
        ++next[s];
        moved = true;
      }
  }
  for (std::size_t s = 0; s < tasks.size(); ++s) EXPECT_EQ(next[s], tasks[s].size()) << "deadlock on " << s;
  return *std::max_element(free.begin(), free.end());
}

// Bubble (p - 1)(f + b) of m (f + b): 7/71 of the step for pp 8 and m 64, 7/39 for m 32 and 5.2 % with v = 4.
TEST(Bubble, IsItsClosedForm) {
  const auto share = [](const ParallelSpec& p, std::int64_t m) {
    const double v = static_cast<double>(p.virtual_stages);
    const double work = static_cast<double>(m) * 3;
    return 1 - work / makespan(p, m, 1 / v, 2 / v);
  };
  EXPECT_NEAR(share(pipeline(8), 64), 7.0 / 71, 1e-12);
  EXPECT_NEAR(share(pipeline(8), 32), 7.0 / 39, 1e-12);
  EXPECT_NEAR(share(pipeline(8, PipelineSchedule::kGpipe), 32), 7.0 / 39, 1e-12);
  EXPECT_NEAR(share(pipeline(8, PipelineSchedule::kInterleaved, 4), 32), 7.0 / 4 / (32 + 7.0 / 4), 1e-12);
  EXPECT_NEAR(7.0 / 4 / (32 + 7.0 / 4), 0.052, 0.0005);
}

// Weight gradients fill the end: with equal parts f = b = w the bubble falls from (p-1)(f+b+w) to (p-1) f.
TEST(Bubble, IsAThirdWithWeightGradientsApart) {
  for (const std::int64_t pp : {2, 4, 8}) {
    const std::int64_t m = 4 * pp;
    const double work = 3.0 * static_cast<double>(m);
    EXPECT_NEAR(makespan(pipeline(pp, PipelineSchedule::kZeroBubbleH1), m, 1, 2) - work,
                static_cast<double>(pp - 1), 1e-9);
  }
}

// With twice the forwards ahead every stage works without a pause from its first forward, (p-1) f after the
// first stage's at the latest, to its last weight gradient.
TEST(Bubble, IsOnlyTheWayInWithTwiceTheForwardsAhead) {
  for (const std::int64_t pp : {2, 4, 8}) {
    for (const std::int64_t m : {2 * pp - 1, 4 * pp}) {
      const double work = 3.0 * static_cast<double>(m);
      EXPECT_NEAR(makespan(pipeline(pp, PipelineSchedule::kZeroBubble2p), m, 1, 2) - work,
                  static_cast<double>(pp - 1), 1e-9);
    }
  }
}

TEST(ScheduleProblem, NamesWhatWouldRun) {
  EXPECT_NE(schedule_problem(pipeline(4, PipelineSchedule::kInterleaved, 2), 6), std::nullopt);
  EXPECT_NE(schedule_problem(pipeline(4, PipelineSchedule::k1f1b, 2), 8), std::nullopt);
}

TEST(BlocksPerChunk, FollowParametersWhereTheFrameworkCutsByThem) {
  // A block has 4 x 8192^2 + 3 x 8192 x 28672 parameters, the head 131072 x 8192: 1.103 blocks. A quarter of
  // 81.103 blocks is 20.28: 21 blocks begin in the first, 20 in the second and third, 19 are left.
  Workload workload;
  workload.model.transformer = TransformerDims{.layers = 80,
                                               .hidden = 8192,
                                               .ffn_hidden = 28672,
                                               .heads = 64,
                                               .kv_heads = 64,
                                               .head_dim = 128,
                                               .vocab = 131072,
                                               .gated_mlp = true};
  workload.parallel = pipeline(4);
  EXPECT_EQ(blocks_per_chunk(80, workload), (Numbers{20, 20, 20, 20}));
  workload.framework = &framework_called("nanotron");
  EXPECT_EQ(blocks_per_chunk(80, workload), (Numbers{21, 20, 20, 19}));
  // What the workload says comes first.
  workload.parallel.stages = {1, 2, 3, 74};
  EXPECT_EQ(blocks_per_chunk(80, workload), workload.parallel.stages);
}

}  // namespace
}  // namespace busbar
