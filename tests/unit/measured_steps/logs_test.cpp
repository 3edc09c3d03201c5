// Logs of training runs: which lines count, and what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/errors.h"
#include "validate/import/training_log.h"

namespace busbar {
namespace {

MeasuredStep read(const std::string& text) {
  const LogFormat* const format = log_format_of(text);
  EXPECT_NE(format, nullptr) << text;
  return step_of(format->read(text, "log"));
}

std::string iteration(int number, const std::string& ms, int batch = 8) {
  return " iteration " + std::to_string(number) +
         "/ 100 | consumed samples: 8 | elapsed time per iteration (ms): " + ms +
         " | global batch size: " + std::to_string(batch) + " | number of skipped iterations: 0 |\n";
}

bool notes(const MeasuredStep& step, const std::string& part) {
  for (const std::string& note : step.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

TEST(MegatronLog, TheFirstLineIsWarmUpAndTheMedianIsOfTheRest) {
  const MeasuredStep step =
      read(iteration(1, "9000.0") + iteration(2, "100.0") + iteration(3, "104.0") + iteration(4, "102.0"));
  EXPECT_EQ(step.steps, 3U);
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.102);
  EXPECT_DOUBLE_EQ(step.p10->seconds(), 0.100);
  EXPECT_DOUBLE_EQ(step.p90->seconds(), 0.104);
  EXPECT_TRUE(notes(step, "warm-up"));
}

TEST(MegatronLog, LinesThatAreStillSlowAreWarmUpToo) {
  const MeasuredStep step = read(iteration(1, "9000") + iteration(2, "210") + iteration(3, "100") +
                                 iteration(4, "100") + iteration(5, "140"));
  EXPECT_EQ(step.steps, 3U);  // 210 > 1.5 x 100; 140 is no warm-up: faster ones came before it
  EXPECT_TRUE(notes(step, "the first 2 lines"));
}

TEST(MegatronLog, ANanIsLeftOutAndCounted) {
  const MeasuredStep step = read(iteration(1, "9000") + iteration(2, "100") + iteration(3, "nan"));
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.1);
  EXPECT_TRUE(notes(step, "1 line without a time (nan)"));
}

TEST(MegatronLog, OnlyLinesWithTheLastBatchCount) {
  const MeasuredStep step = read(iteration(1, "50", 4) + iteration(2, "50", 4) + iteration(3, "100") +
                                 iteration(4, "101") + iteration(5, "103"));
  EXPECT_EQ(step.steps, 2U);
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.102);
  EXPECT_TRUE(notes(step, "2 lines with another global batch"));
}

TEST(MegatronLog, ArgumentsBecomeSettingsWithTheirPlace) {
  const MeasuredStep step = read(
      "using world size: 16, data-parallel-size: 2, tensor-model-parallel size: 8 \n"
      "  micro_batch_size ................................ 2\n"
      "  virtual_pipeline_model_parallel_size ............ None\n" +
      iteration(1, "100") + iteration(2, "100"));
  ASSERT_EQ(step.settings.size(), 3U);
  EXPECT_EQ(step.settings[0].key, "gpus");
  EXPECT_EQ(step.settings[0].value, 16);
  EXPECT_EQ(step.settings[1].key, "batch.micro");
  EXPECT_EQ(step.settings[1].where, "log:2");
  EXPECT_EQ(step.settings[2].key, "batch.global");
}

TEST(MegatronLog, RunningOutOfMemoryBeforeTheFirstIterationIsTheError) {
  EXPECT_EQ(error_of([] {
              static_cast<void>(
                  read("using world size: 16, model-parallel size: 8\n"
                       "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"));
            }),
            "log: a Megatron-LM log without a single iteration that has a time; the run went out of memory "
            "(line 2)");
}

TEST(PrimusLog, TheFirstOfTwoFiguresIsOfTheIterationAndColoursGo) {
  const MeasuredStep step = read(
      "[\x1b[32m20251115\x1b[0m] : iteration 1/ 50 | elapsed time per iteration (ms): 306130.5/306130.5 | "
      "tokens per GPU "
      "(tokens/s/GPU): 400.0/400.0 |\x1b[0m\n"
      "[\x1b[32m20251115\x1b[0m] : iteration 2/ 50 | elapsed time per iteration (ms): 6381.4/156330.0 | "
      "tokens per GPU "
      "(tokens/s/GPU): 20539.7/20539.7 |\x1b[0m\n");
  EXPECT_DOUBLE_EQ(step.time->seconds(), 6.3814);
  EXPECT_DOUBLE_EQ(step.tokens_per_s_per_gpu.value(), 20539.7);
}

// Locales with a decimal comma: 430 ms, not 4,300.
TEST(MegatronLog, ADecimalCommaIsNoThousandsSeparator) {
  const MeasuredStep step = read(iteration(1, "9000,0") + iteration(2, "430,0") + iteration(3, "430,1"));
  EXPECT_DOUBLE_EQ(step.p10->seconds(), 0.430);
  EXPECT_DOUBLE_EQ(step.p90->seconds(), 0.4301);
  // May be either: left out.
  EXPECT_EQ(read(iteration(1, "9000,0") + iteration(2, "430,0") + iteration(3, "1,600")).time->seconds(),
            0.43);
}

TEST(MegatronLog, ARunThatStartsAgainIsNoWarmUp) {
  std::string text;
  for (int i = 1; i <= 6; ++i) text += iteration(i, "600");
  for (int i = 1; i <= 8; ++i) text += iteration(i, "300");
  EXPECT_EQ(read(text).steps, 13U);  // all but the first
}

TEST(Logs, NoteIterationsThatGoBack) {
  const std::string run = iteration(1, "900") + iteration(2, "100") + iteration(3, "100");
  EXPECT_FALSE(notes(read(run), "several runs"));
  EXPECT_TRUE(notes(read(run + run), "iteration 1 (log:4) comes after iteration 3 (log:3): several runs"));
  EXPECT_TRUE(notes(read(run + iteration(3, "100")), "iteration 3 (log:4) comes after iteration 3"));
  const auto line = [](int rank, int step) {
    return "[rank" + std::to_string(rank) + "]:2024-10-29 - root - INFO - step: " + std::to_string(step) +
           "  loss: 11.25  tps: 5,762  mfu: 45.00%\n";
  };
  const std::string titan = line(0, 10) + line(1, 10) + line(0, 20) + line(1, 20) + line(0, 30);
  EXPECT_FALSE(notes(read(titan + line(1, 30)), "several runs"));  // ranks log beside each other
  EXPECT_TRUE(notes(read(titan + line(0, 10)), "iteration 10 (log:6) comes after iteration 30 (log:5)"));
}

TEST(Logs, NoteSettingsThatDifferInOneLog) {
  const auto argument = [](int value) {
    return "  tensor_model_parallel_size ...................... " + std::to_string(value) + "\n";
  };
  const std::string lines = iteration(1, "900") + iteration(2, "100");
  EXPECT_FALSE(notes(read(lines + argument(4) + argument(4)), "several runs"));
  const MeasuredStep step = read(lines + argument(4) + argument(8));
  EXPECT_TRUE(notes(step, "parallel.tp is 4 (log:3) and 8 (log:4): several runs in one log?"));
}

TEST(TorchtitanLog, OldAndNewLinesGiveTokensOfOneGpu) {
  const MeasuredStep old = read(
      "[rank0]:2024-10-29 12:00:00,000 - root - INFO - \x1b[36mstep:  1  \x1b[32mloss: 12.25  "
      "\x1b[33mmemory: "
      "48.87GiB(51.44%)  \x1b[34mwps: 900  \x1b[35mmfu: 5.00%\x1b[39m\n"
      "[rank0]:2024-10-29 12:01:00,000 - root - INFO - step: 10  loss: 11.25  memory: 48.87GiB(51.44%)  wps: "
      "5,762  mfu: "
      "45.00%\n");
  EXPECT_DOUBLE_EQ(old.tokens_per_s_per_gpu.value(), 5762);
  const MeasuredStep fresh = read(
      "step: 20  loss: 11.83506  grad_norm:  9.6669  memory: 48.87GiB(51.44%)  tps: 4,376  tflops: 253.41  "
      "mfu: 25.62%\n"
      "step: 30  loss: 10.83506  grad_norm:  9.6669  memory: 48.87GiB(51.44%)  tps: 4,400  tflops: 253.41  "
      "mfu: 25.62%\n");
  EXPECT_DOUBLE_EQ(fresh.tokens_per_s_per_gpu.value(), 4400);
  EXPECT_FALSE(fresh.time);
}

TEST(NemoLog, ProgressBarsAndLinesGiveTheTimeOfAStepOnce) {
  const MeasuredStep bar = read(
      "Epoch 0: 1%| | 1/100 [v_num=, global_step=1.0, train_step_timing in s=30.0]\r"
      "Epoch 0: 2%| | 2/100 [v_num=, global_step=2.0, train_step_timing in s=5.0]\r"
      "Epoch 0: 2%| | 2/100 [v_num=, global_step=2.0, train_step_timing in s=5.0]\r"
      "Epoch 0: 3%| | 3/100 [v_num=, global_step=3.0, train_step_timing in s=5.2]\n");
  EXPECT_EQ(bar.steps, 2U);
  EXPECT_DOUBLE_EQ(bar.time->seconds(), 5.1);
  const MeasuredStep lines = read(
      "Training epoch 0, iteration 0/9 | lr: 1e-07 | global_batch_size: 256 | global_step: 0 | "
      "train_step_timing in s: 50\n"
      "Training epoch 0, iteration 1/9 | lr: 1e-07 | global_batch_size: 256 | global_step: 1 | "
      "train_step_timing in s: 4.5\n");
  EXPECT_DOUBLE_EQ(lines.time->seconds(), 4.5);
  EXPECT_EQ(lines.settings.at(0).value, 256);
}

TEST(DllLogger, NumbersMayBeText) {
  const MeasuredStep step = read(
      R"(DLLL {"type": "LOG", "step": "PARAMETER", "data": {"cfg/micro_batch_size": "2", "trainer/num_nodes": 4, "trainer/devices": 8}})"
      "\n"
      R"(DLLL {"type": "LOG", "step": 0, "data": {"train_step_timing in s": "60.5"}})"
      "\n"
      R"(DLLL {"type": "LOG", "step": 1, "data": {"train_step_timing in s": 32.5, "train_backward_timing in s": 6e-5}})"
      "\n");
  EXPECT_DOUBLE_EQ(step.time->seconds(), 32.5);
  ASSERT_EQ(step.settings.size(), 2U);
  EXPECT_EQ(step.settings[1].key, "gpus");
  EXPECT_EQ(step.settings[1].value, 32);
}

TEST(DllLogger, ABrokenLineIsNamed) {
  EXPECT_NE(error_of([] { static_cast<void>(read("DLLL {}\nDLLL {\"data\": \n")); }).find("log:2"),
            std::string::npos);
}

// Python writes a loss that is no number as NaN.
TEST(DllLogger, NumbersThatAreNoneDoNotHideTheRest) {
  const MeasuredStep step = read(
      R"(DLLL {"data": {"train_step_timing in s": 0.7, "loss": NaN}}
DLLL {"data": {"train_step_timing in s": 0.5, "loss": -Infinity, "what": "a NaN loss"}}
)");
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.5);  // the first is warm-up
}

TEST(DllLogger, ALastLineWithoutItsEndIsLeftOut) {
  const std::string whole = R"(DLLL {"data": {"train_step_timing in s": 0.7}}
DLLL {"data": {"train_step_timing in s": 0.5}}
)";
  const MeasuredStep step = read(whole + R"(DLLL {"data": {"train_step_ti)");
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.5);
  EXPECT_NE(std::find(step.notes.begin(), step.notes.end(), "line 3, the last one, is cut and left out"),
            step.notes.end());
}

// A bar follows each figure: "43" may be the beginning of 436.
TEST(MegatronLog, ALineCutInItsFigureIsNoIteration) {
  const std::string whole =
      " iteration 1/ 9 | elapsed time per iteration (ms): 800.0 | loss: 1 |\n"
      " iteration 2/ 9 | elapsed time per iteration (ms): 436.0 | loss: 1 |\n";
  const MeasuredStep step = read(whole + " iteration 3/ 9 | elapsed time per iteration (ms): 43");
  EXPECT_EQ(step.steps, 1U);
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.436);
}

// Two blocks of 64 samples in batches of 16: 4 steps each. The second has 2000 ms less an evaluation of 400
// ms.
TEST(MlperfLog, BlocksOfSamplesWithoutEvaluationGiveTheStep) {
  const auto line = [](const std::string& key, int ms, const std::string& rest) {
    return "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(ms) + ", \"key\": \"" + key +
           "\", " + rest + "}\n";
  };
  const auto samples = [](int n) {
    return "\"value\": null, \"metadata\": {\"samples_count\": " + std::to_string(n) + "}";
  };
  const std::string text = line("global_batch_size", 1, "\"value\": 16, \"metadata\": {}") +
                           line("block_start", 1000, samples(0)) + line("block_stop", 9000, samples(64)) +
                           line("eval_start", 9000, samples(64)) + line("eval_stop", 9400, samples(64)) +
                           line("block_start", 9400, samples(64)) + line("block_stop", 11000, samples(128));
  const MeasuredStep step = read(text);
  EXPECT_EQ(step.steps, 1U);  // the first block holds the warm-up
  EXPECT_DOUBLE_EQ(step.time->seconds(), 0.4);
  // Four ranks log the same.
  std::string all;
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);)
    for (int rank = 0; rank < 4; ++rank) all += one + '\n';
  EXPECT_DOUBLE_EQ(read(all).time->seconds(), 0.4);
}

}  // namespace
}  // namespace busbar
