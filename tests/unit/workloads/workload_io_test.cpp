#include "workloads/workload_io.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <random>

#include "tests/support/sanitized.h"
#include "workload_helpers.h"
#include "workloads/settings.h"
#include "workloads/trace_io.h"

namespace busbar {
namespace {

using test::all_fields;
using test::BadInput;
using test::error_of;
using test::workload_of;

constexpr const char* kEveryKey = R"({
  "schema": "busbar.workload/1", "name": "FSDP 7B",
  "model": {"layers": 3, "hidden": 64, "ffn_hidden": 128, "heads": 4, "kv_heads": 2, "head_dim": 32, "vocab": 1000,
            "name": "tiny", "gated_mlp": false, "tied_embeddings": true, "biases": true, "causal": false,
            "attention": "gqa"},
  "batch": {"sequence": 256, "micro": 2, "global": 64},
  "parallel": {"tp": 1, "pp": 1, "cp": 1, "ep": 1, "dp": 16, "sharding": "fsdp", "order": "tp-cp-dp-pp",
               "sequence_parallel": false, "schedule": "1f1b", "virtual_stages": 1},
  "precision": {"compute": "fp8", "parameters": "fp16", "gradients": "fp32", "reduce": "fp32"},
  "recompute": "none",
  "fsdp": {"reshard_after_forward": false, "prefetch": 0, "wrap": "root"},
  "ddp": {"bucket_cap": "50 MiB", "first_bucket": "2 MiB"},
  "overlap": {"dp": false, "tp": false, "pp": true, "ep": false},
  "optimizer": {"kind": "sgd", "state": "bf16", "distributed": false}})";

constexpr const char* kShort = R"({"schema": "busbar.workload/1", "model": {"preset": "llama-2-7b"},
  "batch": {"sequence": 4096, "global": 16}, "parallel": {"dp": 16}})";

constexpr const char* kList =
    R"({"schema": "busbar.workload/1", "batch": {"global": 8}, "parallel": {"dp": 4},
  "model": {"parameters": [
    {"name": "root.stem", "shape": [3, 5], "forward": "2 ms", "backward": {"duration": "3 ms"}},
    {"name": "conv", "shape": [7], "type": "fp32", "forward": {"flops": 1e9, "bytes": "1 MB"}, "count": 2}]}})";

TEST(ReadWorkload, ReadsEveryKey) {
  const Workload workload = workload_of(kEveryKey);
  EXPECT_EQ(workload.name, "FSDP 7B");
  EXPECT_EQ(workload.model.name, "tiny");
  const TransformerDims& dims = *workload.model.transformer;
  EXPECT_EQ((std::vector{dims.layers, dims.hidden, dims.ffn_hidden, dims.heads, dims.kv_heads, dims.head_dim,
                         dims.vocab}),
            (std::vector<std::int64_t>{3, 64, 128, 4, 2, 32, 1000}));
  EXPECT_TRUE(!dims.gated_mlp && dims.tied_embeddings && dims.biases && !dims.causal);
  EXPECT_EQ(workload.batch.sequence, 256);
  EXPECT_EQ(workload.batch.micro, 2);
  EXPECT_EQ(workload.batch.global, 64);
  EXPECT_EQ(workload.parallel.dp, 16);
  EXPECT_EQ(workload.parallel.sharding, Sharding::kFsdp);
}

TEST(ReadWorkload, ReadsTheSettingsOfStrategies) {
  const Workload workload = workload_of(kEveryKey);
  EXPECT_EQ(workload.precision.compute, DataType::kFp8);
  EXPECT_EQ(workload.precision.parameters, DataType::kFp16);
  EXPECT_EQ(workload.precision.gradients, DataType::kFp32);
  EXPECT_EQ(workload.precision.reduce, DataType::kFp32);
  EXPECT_TRUE(!workload.fsdp.reshard_after_forward && workload.fsdp.prefetch == 0);
  EXPECT_EQ(workload.fsdp.wrap, FsdpWrap::kRoot);
  EXPECT_EQ(workload.ddp.bucket_cap, 50_MiB);
  EXPECT_EQ(workload.ddp.first_bucket, 2_MiB);
  EXPECT_FALSE(workload.overlap.dp);
  EXPECT_EQ(workload.optimizer.kind, "sgd");
  EXPECT_EQ(workload.optimizer.state, DataType::kBf16);
}

constexpr const char* kLayout = R"({
  "schema": "busbar.workload/1",
  "model": {"layers": 8, "hidden": 64, "ffn_hidden": 128, "heads": 8, "vocab": 512, "experts": 4, "top_k": 2},
  "batch": {"sequence": 64, "global": 32},
  "parallel": {"tp": 2, "cp": 2, "pp": 2, "dp": 4, "ep": 4, "etp": 1, "sharding": "hsdp", "shard_size": 4,
               "order": "tp-pp-cp-dp", "sequence_parallel": true, "schedule": "interleaved", "virtual_stages": 2},
  "recompute": "full", "overlap": {"tp": true, "pp": false, "ep": true, "cp": false},
  "moe": {"capacity_factor": 1.25, "imbalance": {"hot_expert": 2}, "node_limit": null},
  "context": {"method": "all_gather"}, "stages": {"layers": [1, 2, 3, 2]}})";

TEST(ReadWorkload, ReadsLayouts) {
  const Workload w = workload_of(kLayout);
  const ParallelSpec& p = w.parallel;
  EXPECT_EQ((std::vector{p.tp, p.cp, p.pp, p.dp, p.ep, p.etp, p.virtual_stages}),
            (std::vector<std::int64_t>{2, 2, 2, 4, 4, 1, 2}));
  EXPECT_EQ(p.world(), 32);
  EXPECT_EQ(p.shard_size, 4);
  EXPECT_EQ(p.order, (std::vector<std::string>{"tp", "pp", "cp", "dp"}));
  EXPECT_TRUE(p.sequence_parallel);
  EXPECT_EQ(p.schedule, PipelineSchedule::kInterleaved);
  EXPECT_EQ(p.stages, (std::vector<std::int64_t>{1, 2, 3, 2}));
  EXPECT_EQ(w.recompute, Recompute::kFull);
  EXPECT_EQ(w.context, ContextMethod::kAllGather);
  EXPECT_TRUE(w.overlap.dp && w.overlap.tp && !w.overlap.pp && w.overlap.ep && !w.overlap.cp);
  EXPECT_EQ(w.moe.capacity_factor, 1.25);
  EXPECT_EQ(w.moe.hot, 2);
}

TEST(EffectiveSettings, NameWhatALayoutHas) {
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : effective_settings(workload_of(kLayout))) settings[key] = value;
  const std::map<std::string, std::string> expected = {
      {"parallel.etp", "1"},        {"parallel.shard_size", "4"},         {"parallel.order", "tp-pp-cp-dp"},
      {"stages.layers", "1 2 3 2"}, {"moe.capacity_factor", "1.25"},      {"moe.imbalance.hot_expert", "2"},
      {"recompute", "full"},        {"parallel.schedule", "interleaved"}, {"context.method", "all_gather"},
      {"fsdp.prefetch", "1"}};
  for (const auto& [key, value] : expected) EXPECT_EQ(settings[key], value) << key;
}

TEST(EffectiveSettings, NameWhatLaunchingTakes) {
  const auto settings_of = [](const char* more) {
    std::map<std::string, std::string> settings;
    const Workload workload = workload_of(std::string(R"({"schema": "busbar.workload/1", )") + more +
                                          R"("model": {"preset": "gpt2"}, "parallel": {"dp": 1},
                                             "batch": {"sequence": 64, "global": 1}})");
    for (const auto& [key, value] : effective_settings(workload)) settings[key] = value;
    return settings;
  };
  EXPECT_FALSE(settings_of("").contains("launch.member"));
  const auto launch = settings_of(R"("framework": "nanotron", "launch": {"backward": "4 ms"}, )");
  EXPECT_EQ(launch.at("launch.forward"), "1.5 ms");  // the framework's
  EXPECT_EQ(launch.at("launch.backward"), "4 ms");
  EXPECT_EQ(test::error_of([&] { static_cast<void>(settings_of(R"("launch": {"peer": "1 us"}, )")); }),
            "w.json#/launch: unknown key 'peer'; allowed: forward, backward, member, message, copy");
}

TEST(ReadWorkload, ReadsADistributedOptimizerByEitherKey) {
  const auto sharding = [](const char* parallel, const char* optimizer) {
    return workload_of(std::string(R"({"schema": "busbar.workload/1", "model": {"preset": "llama-2-7b"},
      "batch": {"sequence": 4096, "global": 16}, "parallel": {"dp": 16)") +
                       parallel + "}, \"optimizer\": " + optimizer + "}")
        .parallel.sharding;
  };
  EXPECT_EQ(sharding("", R"({"distributed": true})"), Sharding::kDistributed);
  EXPECT_EQ(sharding(R"(, "sharding": "distributed")", "{}"), Sharding::kDistributed);
  const std::string line =
      error_of([&] { static_cast<void>(sharding(R"(, "sharding": "fsdp")", R"({"distributed": true})")); });
  EXPECT_NE(line.find("does not go with \"sharding\": \"fsdp\""), std::string::npos) << line;
}

TEST(ReadWorkload, HasDefaults) {
  const Workload workload = workload_of(kShort);
  EXPECT_EQ(workload.name, "w.json");
  EXPECT_EQ(workload.model.name, "llama-2-7b");
  EXPECT_EQ(workload.batch.micro, 1);
  EXPECT_EQ(workload.parallel.sharding, Sharding::kNone);
  EXPECT_EQ(workload.precision.reduce, DataType::kBf16);
  EXPECT_TRUE(workload.overlap.dp && workload.fsdp.reshard_after_forward);
  EXPECT_FALSE(workload.ddp.bucket_cap || workload.ddp.first_bucket);
  EXPECT_EQ(workload.optimizer.kind, "adamw");
}

TEST(ReadWorkload, DerivesHeadsThatAreNotGiven) {
  const Workload workload =
      workload_of(R"({"schema": "busbar.workload/1", "batch": {"sequence": 1, "global": 1},
    "model": {"layers": 1, "hidden": 64, "ffn_hidden": 1, "heads": 4, "vocab": 1}, "parallel": {"dp": 1}})");
  EXPECT_EQ(workload.model.transformer->head_dim, 16);
  EXPECT_EQ(workload.model.transformer->kv_heads, 4);
}

TEST(ReadWorkload, ReadsAListOfParameters) {
  const std::vector<ParameterSpec> list = workload_of(kList).model.parameters;
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].elements(), 15);
  EXPECT_EQ(list[0].type, std::nullopt);
  EXPECT_EQ(list[0].forward.duration, Time::from_seconds(2e-3));
  EXPECT_EQ(list[0].backward.duration, Time::from_seconds(3e-3));
  EXPECT_EQ(list[1].name, "conv.0");
  EXPECT_EQ(list[2].name, "conv.1");
  EXPECT_EQ(list[2].type, DataType::kFp32);
  EXPECT_EQ(list[2].forward.flops, 1e9);
  EXPECT_EQ(list[2].forward.bytes, 1e6);
}

TEST(ReadWorkload, RefusesByNameWhatIsNotModelled) {
  const std::vector<BadInput> cases = {
      {"precision.compute", "nvfp4", "computing in nvfp4 is not modelled yet"},
      {"precision.compute", "fp8-block", "computing in fp8-block is not modelled yet"},
      {"parallel.schedule", "dualpipe",
       "w.json#/parallel/schedule: the schedule dualpipe is not modelled yet"},
      {"fsdp.prefetch", "2", "prefetching more than one block is not modelled yet"},
  };
  for (const BadInput& bad : cases) {
    const std::string line = error_of([&] {
      static_cast<void>(read_workload(JsonDocument::parse(kEveryKey, "w.json").with(bad.path, bad.value)));
    });
    EXPECT_NE(line.find(bad.message), std::string::npos) << bad.path << " = " << bad.value << "\n" << line;
  }
}

void expect_refused(const char* text, const std::vector<BadInput>& cases) {
  for (const BadInput& bad : cases) {
    const std::string line = error_of([&] {
      static_cast<void>(read_workload(JsonDocument::parse(text, "w.json").with(bad.path, bad.value)));
    });
    EXPECT_NE(line.find(bad.message), std::string::npos) << bad.path << " = " << bad.value << "\n" << line;
  }
}

TEST(ReadWorkload, RefusesBadSettingsWithTheirPlace) {
  expect_refused(
      kEveryKey,
      {
          {"schema", "busbar.trace/1", "expected \"busbar.workload/1\""},
          {"modle", "{}", "did you mean 'model'?"},
          {"parallel.dp", "0", "w.json#/parallel/dp"},
          {"parallel.dp", "16777217", "w.json#/parallel/dp"},
          {"jitter", "{}", "w.json#/jitter"},
          {"jitter", R"({"compute": {"lognormal": 2}})", "w.json#/jitter/compute/lognormal"},
          {"jitter", R"({"compute": {"lognormal": 0.1, "per": "host"}})", "w.json#/jitter/compute/per"},
          {"jitter", R"({"compute": {"normal": 0.1}})", "unknown key 'normal'"},
          {"parallel.sharding", "fspd", "did you mean 'fsdp'?"},
          {"batch.global", "65",
           "w.json#/batch: a global batch of 65 is not a multiple of micro x dp = 2 x 16; the "
           "nearest are 64 and 96"},
          {"batch.global", "31", "the nearest is 32"},
          {"batch.global", "0", "w.json#/batch/global"},
          {"batch.micro", "0", "w.json#/batch/micro"},
          {"batch.sequence", "2.5", "w.json#/batch/sequence"},
          {"batch.micro", "9223372036854775807", "2^63"},
          {"precision.compute", "bf61", "did you mean 'bf16'?"},
          {"precision.parameters", "int8", "fp32, bf16 or fp16"},
          {"ddp.bucket_cap", "25", "w.json#/ddp/bucket_cap"},
          {"ddp.bucket_cap", "25 ms", "w.json#/ddp/bucket_cap"},
          {"ddp.first_bucket", "0 B", "a size above 0"},
          {"fsdp.wrap", "layer", "block or root"},
          {"fsdp.prefetch", "-1", "w.json#/fsdp/prefetch"},
          {"optimizer.kind", "adam", "did you mean 'adamw'?"},
          {"overlap.dp", "1", "w.json#/overlap/dp"},
      });
}

TEST(ReadWorkload, RefusesBadModelsWithTheirPlace) {
  expect_refused(kEveryKey,
                 {
                     {"model.layers", "0", "w.json#/model/layers"},
                     {"model.layers", "100001", "w.json#/model/layers"},
                     {"model.kv_heads", "3", "w.json#/model/kv_heads: expected a divisor of heads = 4"},
                     {"model.hiden", "3", "did you mean 'hidden'?"},
                     {"model.hidden", "9223372036854775807",
                      "w.json#/model: the model's size: expected a product below 2^63"},
                     {"model.hidden", "9223372036854775808", "w.json#/model/hidden"},
                     {"model.attention", "mha", "\"gqa\" has fewer"},
                     {"model", "{\"preset\": \"lama-2-7b\"}", "did you mean 'llama-2-7b'?"},
                     {"model", "{\"layers\": 1}", "missing key 'hidden'"},
                 });
  expect_refused(kList,
                 {
                     {"model.parameters", "[]", "at least one parameter"},
                     {"model.parameters.0.shape", "[3, 0]", "w.json#/model/parameters/0/shape/1"},
                     {"model.parameters.0.shape", "[4294967296, 4294967296]", "2^63"},
                     {"model.parameters.0.shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "more than 16"},
                     {"model.parameters.0.name", std::string(257, 'n'), "at most 256 bytes"},
                     {"model.parameters.0.forward", "2", "w.json#/model/parameters/0/forward"},
                     {"model.parameters.0.forward", "2 MB", "w.json#/model/parameters/0/forward"},
                     {"model.parameters.0.forward", "{\"flop\": 1}", "did you mean 'flops'?"},
                     {"model.parameters.0.name", "conv.1", "two parameters are called 'conv.1'"},
                     {"model.parameters.0.count", "100000", "more than 100000 parameters"},
                     {"model.parameters.0.type", "int8", "fp32, bf16 or fp16"},
                     {"model.layers", "3", "unknown key 'layers'"},
                 });
}

TEST(ReadWorkload, NeedsHeadsThatDivideTheHiddenSize) {
  const std::string line = error_of([] {
    static_cast<void>(workload_of(R"({"schema": "busbar.workload/1", "batch": {"sequence": 1, "global": 1},
      "model": {"layers": 1, "hidden": 64, "ffn_hidden": 1, "heads": 5, "vocab": 1}, "parallel": {"dp": 1}})"));
  });
  EXPECT_NE(line.find("a divisor of hidden = 64, or 'head_dim' beside it"), std::string::npos) << line;
}

TEST(ReadWorkload, NamesMissingKeys) {
  const std::string no_batch = R"({"schema": "busbar.workload/1", "model": {"preset": "llama-2-7b"}})";
  EXPECT_NE(error_of([&] { static_cast<void>(workload_of(no_batch)); }).find("missing key 'batch'"),
            std::string::npos);
  const std::string no_dp = R"({"schema": "busbar.workload/1", "model": {"preset": "llama-2-7b"},
    "batch": {"sequence": 1, "global": 1}, "parallel": {}})";
  EXPECT_NE(error_of([&] { static_cast<void>(workload_of(no_dp)); }).find("missing key 'dp'"),
            std::string::npos);
}

TEST(ExpandWorkload, FindsAStrategyByName) {
  for (const Strategy& strategy : strategies()) EXPECT_FALSE(strategy.help.empty()) << strategy.name;
}

TEST(ExpandWorkload, RefusesStepsBeyondItsLimits) {
  Workload workload = workload_of(kShort);
  workload.batch.global = std::int64_t{16} << 20;
  EXPECT_NE(error_of([&] { static_cast<void>(expand(workload)); }).find("at most 2000000 operations"),
            std::string::npos);
  workload.batch = {.sequence = std::int64_t{1} << 60, .micro = 1, .global = 16};
  EXPECT_NE(error_of([&] { static_cast<void>(expand(workload)); }).find("2^63"), std::string::npos);
  workload.batch = {.sequence = 1, .micro = 1, .global = 17};
  EXPECT_NE(error_of([&] { static_cast<void>(expand(workload)); }).find("16 and 32"), std::string::npos);
}

TEST(WorkloadCatalogue, EveryFileExpandsIntoATraceThatReadsBack) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(BUSBAR_SOURCE_DIR "/workloads/catalogue")) {
    if (++files % 4 != 0 && kSanitized) continue;
    Workload workload = read_workload(JsonDocument::load(entry.path().string()));
    workload.parallel.host_ranks = 8;
    const StepTrace trace = expand(workload);
    const StepTrace again = read_trace(JsonDocument::parse(write_trace(trace), "t.json"));
    EXPECT_EQ(all_fields(again), all_fields(trace)) << entry.path();
  }
  EXPECT_GE(files, 18U);
}

// Ranks, rows and capacities that divide nothing evenly.
TEST(ExpandWorkload, EveryLayoutOfExpertsReadsBackAsATrace) {
  std::mt19937 draw(7);
  const auto one_of = [&](std::vector<std::int64_t> values) { return values[draw() % values.size()]; };
  int expanded = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t ep = one_of({1, 2, 3, 4, 6}), dp = ep * one_of({1, 2}), tp = one_of({1, 2, 4});
    const std::string text = fmt::format(
        R"({{"schema": "busbar.workload/1", "batch": {{"sequence": {}, "micro": 1, "global": {}}},
            "model": {{"layers": 2, "hidden": 64, "ffn_hidden": 128, "heads": 8, "vocab": 256, "experts": {},
                       "top_k": {}, "expert_ffn_hidden": 64}},
            "parallel": {{"tp": {}, "ep": {}, "dp": {}, "sharding": "{}", "sequence_parallel": {}}},
            "moe": {{"capacity_factor": {}}}}})",
        one_of({60, 64, 100}), dp, ep * one_of({1, 2, 3}), one_of({1, 2}), tp, ep, dp,
        std::array{"none", "zero1", "fsdp"}[draw() % 3], draw() % 2 == 0,
        std::array{"null", "1.25"}[draw() % 2]);
    Workload workload;
    try {
      workload = workload_of(text);
    } catch (const Error&) {
      continue;  // what does not divide is refused
    }
    const StepTrace trace = expand(workload);
    EXPECT_EQ(all_fields(read_trace(JsonDocument::parse(write_trace(trace), "t.json"))), all_fields(trace))
        << text;
    ++expanded;
  }
  EXPECT_GT(expanded, 100);
}

}  // namespace
}  // namespace busbar
