#include "sim/study/goodput.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/study/figures.h"

namespace busbar {
namespace {

// 8.03e9 parameters x 12 B to 0.27 GB/s, after every 500 steps of 2 s.
TEST(Checkpoints, StallAQuarterOfTheTimeOnASlowFileSystem) {
  FailureModel model{.checkpoint_bytes = 8.03e9 * 12, .storage_Bps = 0.27e9};
  EXPECT_NEAR(model.checkpoint_bytes, 96.4e9, 0.05e9);
  EXPECT_NEAR(model.stall_s(), 357, 0.5);
  EXPECT_NEAR(1 - checkpoint_share(model, 500 * 2.0), 0.26, 0.005);
  model.asynchronous = true;
  model.staging_Bps = 20e9;
  EXPECT_LT(1 - checkpoint_share(model, 500 * 2.0), 0.01);
}

// Llama 2 70B: 2e12 tokens on 2,048 A100 took 1,720,320 GPU-hours (Touvron et al., 2023, table 2).
TEST(RuleOfSixFlops, GivesThePublishedGpuHoursOfLlama2) {
  const RuleOfSix run{.parameters = 70e9, .tokens = 2e12, .gpus = 2048, .peak_flops = 312e12};
  EXPECT_NEAR(run.gpu_hours(0.40), 1.87e6, 0.005e6);
  EXPECT_NEAR(run.gpu_hours(0.48), 1.56e6, 0.005e6);
  EXPECT_NEAR(run.seconds(0.40) / 86400, 38, 0.5);
  EXPECT_NEAR(run.seconds(0.48) / 86400, 32, 0.5);
  EXPECT_GT(run.mfu(1'720'320 * 3600.0 / 2048), 0.40);
  EXPECT_LT(run.mfu(1'720'320 * 3600.0 / 2048), 0.48);
}

TEST(RuleOfSixFlops, SaysHowSlowASlowRunWas) {
  const RuleOfSix run{.parameters = 70e9, .tokens = 16.384e6, .gpus = 16, .peak_flops = 312e12};
  EXPECT_NEAR(run.mfu(13.5 * 3600), 0.028, 0.0005);
}

const FailureModel kModel{.mtbf_s = 40'000, .checkpoint_bytes = 100e9, .storage_Bps = 1e9, .restart_s = 300};

TEST(CheckpointInterval, IsYoungsAndDalysForRareFailures) {
  // C = 100 s, M = 40,000 s: Young sqrt(8e6) = 2828.4; Daly that x (1 + sqrt(0.00125) / 3 + 0.00125 / 9) -
  // 100.
  EXPECT_NEAR(young_interval(kModel), 2828.43, 0.01);
  EXPECT_NEAR(daly_interval(kModel), 2828.43 * (1 + 0.0353553 / 3 + 0.00125 / 9) - 100, 0.05);
}

TEST(CheckpointInterval, BySimulationIsNearDalysAndNoWorse) {
  const double training = 2000 * kModel.mtbf_s;
  const double simulated = simulated_interval(kModel, training, 7);
  EXPECT_NEAR(simulated / daly_interval(kModel), 1, 0.35);  // the hill is flat
  EXPECT_GE(simulate_goodput(kModel, simulated, training, 7).goodput,
            simulate_goodput(kModel, daly_interval(kModel), training, 7).goodput);
}

// Standard error of some 2,000 failures' losses: well under 1 %.
TEST(Goodput, BySimulationAgreesWithDalysModel) {
  for (const double interval : {500.0, 2700.0, 10'000.0})
    EXPECT_NEAR(simulate_goodput(kModel, interval, 2000 * kModel.mtbf_s, 3).goodput,
                expected_goodput(kModel, interval), 0.01)
        << interval;
}

// Daly's e^(R/M): what fails during a restart begins it anew.
TEST(Goodput, RestartsFailToo) {
  FailureModel model = kModel;
  for (const double restarts : {0.1, 1.0}) {
    model.restart_s = restarts * model.mtbf_s;
    const double expected = expected_goodput(model, 2700);
    EXPECT_NEAR(simulate_goodput(model, 2700, 20'000 * model.mtbf_s, 3).goodput, expected, 0.03 * expected)
        << restarts;
  }
}

TEST(Goodput, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto run = [](std::uint64_t seed) {
    return simulate_goodput(kModel, 2700, 50 * kModel.mtbf_s, seed).goodput;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Goodput, WithoutFailuresOnlyCheckpointsCost) {
  FailureModel model = kModel;
  model.mtbf_s = 0;
  EXPECT_EQ(simulate_goodput(model, 900, 1e6, 1).goodput, 0.9);
  EXPECT_EQ(expected_goodput(model, 900), 0.9);
}

TEST(Goodput, AsynchronousCheckpointsStallLessAndLoseWhatIsUnwritten) {
  FailureModel async = kModel;
  async.asynchronous = true;
  async.staging_Bps = 100e9;
  EXPECT_GT(simulate_goodput(async, 2700, 2000 * async.mtbf_s, 5).goodput,
            simulate_goodput(kModel, 2700, 2000 * kModel.mtbf_s, 5).goodput);
  EXPECT_NEAR(simulate_goodput(async, 2700, 2000 * async.mtbf_s, 5).goodput, expected_goodput(async, 2700),
              0.01);
}

TEST(Spares, CoverPoissonRepairs) {
  // Mean of repairs under way 0.6: P(0) = 0.549, P(<= 1) = 0.878, P(<= 2) = 0.977, P(<= 3) = 0.9966.
  const FailureModel model{.mtbf_s = 40'000, .repair_s = 24'000};
  EXPECT_EQ(spares_for(model, 0.5), 0);
  EXPECT_EQ(spares_for(model, 0.95), 2);
  EXPECT_EQ(spares_for(model, 0.99), 3);
}

TEST(Spares, EndTheWaitForRepairs) {
  FailureModel model = kModel;
  model.repair_s = 20'000;
  const GoodputRun none = simulate_goodput(model, 2700, 500 * model.mtbf_s, 9);
  model.spares = spares_for(model, 0.99);
  const GoodputRun some = simulate_goodput(model, 2700, 500 * model.mtbf_s, 9);
  EXPECT_GT(none.waiting, 0.2);  // a third of the time: 20,000 in each 40,000 + 20,000
  EXPECT_LT(some.waiting, 0.01);
  EXPECT_GT(some.goodput, none.goodput);
}

}  // namespace
}  // namespace busbar
