// Real traces and logs against what is known of them, where the folder of outside data lies beside the
// checkout.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/base/json_reader.h"
#include "tests/support/errors.h"
#include "validate/import/measured_input.h"
#include "validate/import/trace_events.h"
#include "validate/import/trace_steps.h"

namespace busbar {
namespace {

std::string artefacts() { return std::string(BUSBAR_SOURCE_DIR) + "/../shared/data/artefacts/"; }
bool missing() { return !std::filesystem::exists(artefacts() + "index.json"); }

template <class Check>
void for_each_of(const std::string& kind, Check check) {
  const JsonDocument index = JsonDocument::load(artefacts() + "index.json");
  for (const JsonValue& entry : index.root().at("files").items())
    if (entry.at("kind").string() == kind) check(artefacts() + entry.at("file").string(), entry.at("truth"));
}

MeasuredStep step_in(const std::vector<std::string>& paths) {
  MeasuredInput input = read_measured_inputs(paths);
  EXPECT_EQ(input.steps.size(), 1U);
  return std::move(input.steps.at(0));
}

double number(const JsonValue& value) { return value.number(-1e15, 1e15); }

TEST(Artefacts, TracesHaveTheEventsKernelsAndRanksOfTheIndex) {
  if (missing()) GTEST_SKIP() << "no shared data";
  std::size_t read = 0;
  for_each_of("kineto", [&](const std::string& path, const JsonValue& truth) {
    const RankTrace trace = read_rank_trace(path);
    ++read;
    EXPECT_EQ(trace.events, number(truth.at("events"))) << path;
    EXPECT_EQ(trace.gpu_kernels, number(truth.at("kernels"))) << path;
    EXPECT_EQ(trace.communications.size(), number(truth.at("nccl_kernels"))) << path;
    double us = 0;
    std::size_t with_metadata = 0;
    for (const TraceCommunication& c : trace.communications) {
      us += static_cast<double>(c.span.end - c.span.begin) * 1e-3;
      if (c.call.bytes >= 0) ++with_metadata;
    }
    EXPECT_NEAR(us, number(truth.at("nccl_us")), 0.06) << path;  // of the index, rounded to 0.1
    EXPECT_EQ(with_metadata, number(truth.at("nccl_with_metadata"))) << path;
    if (!truth.at("rank").is_null()) {
      EXPECT_EQ(trace.rank, truth.at("rank").integer(0, 1000)) << path;
    }
    if (!truth.at("world_size").is_null()) {
      EXPECT_EQ(trace.world, truth.at("world_size").integer(0, 1000)) << path;
    }
  });
  EXPECT_EQ(read, 10U);
}

TEST(Artefacts, TheBucketsOfResNetComeOutWithTheirBytes) {
  if (missing()) GTEST_SKIP() << "no shared data";
  const MeasuredStep step = step_in({artefacts() + "kineto/ddp-2rank-with-metadata.json"});
  EXPECT_EQ(step.steps, 3U);
  std::set<std::int64_t> bytes, expected;
  for (const MeasuredCollective& c : step.collectives)
    if (c.operation == CollectiveKind::kAllReduce) {
      EXPECT_DOUBLE_EQ(c.count, 1);
      EXPECT_EQ(c.ranks, 2);
      EXPECT_EQ(c.group, "default_pg");
      bytes.insert(c.bytes->count());
    }
  for (const std::int64_t elements : {2049000, 7875584, 6563840, 6637568, 2431040})
    expected.insert(4 * elements);
  EXPECT_EQ(bytes, expected);
  // Markers are 222,503 and 219,786 us apart, the last lasts 224,936 us.
  EXPECT_NEAR(step.time->seconds(), 0.222503, 1e-6);
}

TEST(Artefacts, WaitingForTheLastRankOfAnAllToAllIsNotTransfer) {
  if (missing()) GTEST_SKIP() << "no shared data";
  std::vector<std::string> paths;
  for (const int rank : {0, 1, 2, 3})
    paths.push_back(artefacts() + "kineto/dlrm-8rank-worker" + std::to_string(rank) + ".json.gz");
  const MeasuredStep step = step_in(paths);
  EXPECT_TRUE(step.waiting_separated);
  ASSERT_EQ(step.ranks.size(), 4U);
  // The first of five calls lasts 2146, 7635, 518 and 6132 us: 518 is its transfer.
  double all_to_all = 0;
  for (const MeasuredCollective& c : step.collectives)
    if (c.operation == CollectiveKind::kAllToAll) {
      EXPECT_TRUE(c.bytes);
      all_to_all += c.count;
      EXPECT_LE(c.time.seconds(), 519e-6);
    }
  EXPECT_DOUBLE_EQ(all_to_all, 5);
  for (const MeasuredRank& rank : step.ranks) {
    const MeasuredSplit& s = rank.split;
    EXPECT_EQ(s.compute + s.exposed + s.waiting + s.bubble + s.idle, rank.step);  // one step: exactly
  }
  EXPECT_GT(step.ranks[1].split.waiting, step.ranks[2].split.waiting);
}

TEST(Artefacts, SizesComeFromTheCallsOnTheHostWhereKernelsHaveNone) {
  if (missing()) GTEST_SKIP() << "no shared data";
  const MeasuredStep step = step_in({artefacts() + "kineto/dlrm-8rank-rank3.json"});
  EXPECT_FALSE(step.waiting_separated);
  bool largest = false;
  for (const MeasuredCollective& c : step.collectives) {
    EXPECT_NE(c.operation, CollectiveKind::kSendRecv);  // the kernel's name; the call says all_to_all
    if (c.operation == CollectiveKind::kAllReduce && c.bytes == Bytes(4 * 45310188)) largest = true;
  }
  EXPECT_TRUE(largest);
}

TEST(Artefacts, TracesWithoutAKernelAreRead) {
  if (missing()) GTEST_SKIP() << "no shared data";
  const MeasuredStep step = step_in({artefacts() + "kineto/gloo-300rank-rank34-cpu.json"});
  ASSERT_FALSE(step.collectives.empty());
  EXPECT_EQ(step.collectives[0].operation, CollectiveKind::kAllReduce);
  EXPECT_EQ(step.collectives[0].bytes, Bytes(4 * 321271));
  EXPECT_EQ(step.ranks.at(0).rank, 34);
}

TEST(Artefacts, LogsOfMegatronHaveTheMedianStepAndSettingsOfTheIndex) {
  if (missing()) GTEST_SKIP() << "no shared data";
  std::size_t read = 0;
  for_each_of("megatron-log", [&](const std::string& path, const JsonValue& truth) {
    const MeasuredStep step = step_in({path});
    ++read;
    // A second iteration that is warm-up too moves the median a little.
    EXPECT_NEAR(step.time->seconds() * 1e3, number(truth.at("median_step_ms_after_first")),
                2e-3 * number(truth.at("median_step_ms_after_first")))
        << path;
    const auto setting = [&](const std::string& key) -> std::int64_t {
      for (const MeasuredSetting& s : step.settings)
        if (s.key == key) return s.value;
      return -1;
    };
    const JsonValue arguments = truth.at("args");
    for (const auto& [argument, key] :
         {std::pair{"world_size", "gpus"}, std::pair{"seq_length", "batch.sequence"},
          std::pair{"num_layers", "model.layers"}, std::pair{"global_batch_size", "batch.global"},
          std::pair{"tensor_model_parallel_size", "parallel.tp"}})
      if (const auto value = arguments.find(argument)) {
        EXPECT_EQ(setting(key), *parse_whole(value->string())) << path << " " << key;
      }
  });
  EXPECT_EQ(read, 7U);
}

TEST(Artefacts, DllLoggerAndTorchtitanGiveTheirSteps) {
  if (missing()) GTEST_SKIP() << "no shared data";
  const MeasuredStep nemo = step_in({artefacts() + "nemo-titan-log/nemo-dllogger.json"});
  EXPECT_EQ(nemo.format, "DLLogger log");
  // 50 steps of 107, 66, 53, 46, 42 and then 24.7 to 25.9 s, the last four 31.7 to 32.9 s.
  EXPECT_EQ(nemo.steps, 45U);
  EXPECT_NEAR(nemo.time->seconds(), 25.3, 0.05);
  const MeasuredStep titan = step_in({artefacts() + "nemo-titan-log/torchtitan-new-format.log"});
  EXPECT_DOUBLE_EQ(titan.tokens_per_s_per_gpu.value(), 4376);
  EXPECT_FALSE(titan.time);
}

TEST(Artefacts, AnMlperfLogWithoutTrainingIsRefused) {
  if (missing()) GTEST_SKIP() << "no shared data";
  const std::string path = artefacts() + "nemo-titan-log/mlperf-gpt3-h100-eos-n32.mllog";
  EXPECT_NE(error_of([&] {
              static_cast<void>(read_measured_inputs(std::vector{path}));
            }).find("without a single iteration that has a time"),
            std::string::npos);
}

}  // namespace
}  // namespace busbar
