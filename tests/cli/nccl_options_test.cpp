// How NCCL is set up and called: --env, --tuner, --nccl-log, --nccl-version and the ways of calling.
#include <fmt/format.h>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

const std::string kSweep = "--topology dgx1x8.json --collective all_reduce --sizes 1G ";

class NcclOptions : public ProgramTest {
 protected:
  JsonValue result(const std::string& arguments) {
    const Outcome o = simulate(arguments + " --json r.json --quiet");
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return JsonDocument::load(path("r.json").string()).root();
  }
  /// "ring/Simple/16" of the only row.
  std::string choice(const std::string& arguments) {
    const JsonValue row = result(arguments).at("rows").items().at(0);
    return fmt::format("{}/{}/{}", row.at("algorithm").string(), row.at("protocol").string(),
                       row.at("channels").integer(1, 64));
  }
  double time(const std::string& arguments) {
    return result(arguments).at("rows").items().at(0).at("time_s").number(0, 1e9);
  }
  static std::string setting(const JsonValue& r, const char* key) {
    const auto value = r.at("inputs").at("settings").find(key);
    return value ? value->string() : "";
  }
  static std::string warning(const JsonValue& r, const std::string& code) {
    for (const JsonValue& w : r.at("warnings").items())
      if (w.at("code").string() == code) return w.at("text").string();
    return "";
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& parts) {
    const Outcome o = simulate(arguments);
    EXPECT_EQ(o.exit_code, 2) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    for (const std::string& part : parts)
      EXPECT_NE(o.err.find(part), std::string::npos) << "no \"" << part << "\" in: " << o.err;
  }
};

TEST_F(NcclOptions, ChooseByDefaultAsTheNewestReleaseDoes) {
  EXPECT_EQ(choice(kSweep), "nvls/Simple/16");
  const JsonValue r = result(kSweep);
  EXPECT_EQ(setting(r, "nccl-version"), "2.30.0");
  EXPECT_EQ(setting(r, "calls"), "back to back");
  EXPECT_EQ(setting(r, "gpus-per-process"), "1");
  EXPECT_NE(simulate("--help").out.find("2.30.0"), std::string::npos);
}

TEST_F(NcclOptions, TakeVariablesFromAFile) {
  file("nccl.conf", "export NCCL_ALGO=Ring\nNCCL_PROTO=Simple\nNCCL_MAX_NCHANNELS=8\n");
  EXPECT_EQ(choice(kSweep + "--env nccl.conf"), "ring/Simple/8");
  const JsonValue r = result(kSweep + "--env nccl.conf");
  EXPECT_EQ(setting(r, "env"), "nccl.conf");
  EXPECT_EQ(setting(r, "env-digest").size(), 16U);
  EXPECT_EQ(warning(r, "env-no-effect"), "");
  file("other.conf", "NCCL_ALGO=Ring\n");
  EXPECT_NE(setting(result(kSweep + "--env other.conf"), "env-digest"), setting(r, "env-digest"));
}

TEST_F(NcclOptions, ListVariablesWithoutEffectInOneWarning) {
  file("nccl.conf", "NCCL_DEBUG=INFO\nNCCL_IB_HCA=mlx5\nPATH=/bin\nNCCL_NVLS_ENABLE=0\n");
  const JsonValue r = result(kSweep + "--env nccl.conf");
  EXPECT_EQ(r.at("warnings").items().size(), 1U);
  const std::string text = warning(r, "env-no-effect");
  for (const char* part : {"NCCL_DEBUG (logging)", "NCCL_IB_HCA (topology)", "PATH (not NCCL's)"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find("NVLS"), std::string::npos) << text;
  EXPECT_EQ(r.at("rows").items().at(0).at("algorithm").string(), "ring");
}

TEST_F(NcclOptions, TakeATunersRules) {
  file("tuner.csv", "allreduce,0,1048576,tree,ll,4,-1,-1\nallreduce,1048577,-1,ring,simple,12,1,8\n");
  EXPECT_EQ(choice(kSweep + "--tuner tuner.csv"), "ring/Simple/12");
  const JsonValue r = result(kSweep + "--tuner tuner.csv");
  EXPECT_EQ(setting(r, "tuner"), "tuner.csv");
  EXPECT_EQ(setting(r, "tuner-digest").size(), 16U);
  // A rule for other groups leaves NCCL's own choice.
  file("other.csv", "allreduce,0,-1,ring,simple,12,2,16\n");
  EXPECT_EQ(choice(kSweep + "--tuner other.csv"), "nvls/Simple/16");
  // What the command line forces comes before the tuner.
  EXPECT_EQ(choice(kSweep + "--tuner tuner.csv --algorithm tree --protocol LL128 --channels 2"),
            "tree/LL128/2");
}

TEST_F(NcclOptions, SaySoWhereRegisteredBuffersChangeNothing) {
  EXPECT_NE(
      warning(result(kSweep + "--registered-buffers"), "registered-buffers").find("change no prediction"),
      std::string::npos);
  EXPECT_EQ(time(kSweep + "--registered-buffers"), time(kSweep));
  file("tuner.csv", "allreduce,0,-1,ring,simple,12,-1,-1,-1,1\n");
  EXPECT_EQ(choice(kSweep + "--tuner tuner.csv"), "nvls/Simple/16");
  EXPECT_EQ(choice(kSweep + "--tuner tuner.csv --registered-buffers"), "ring/Simple/12");
  EXPECT_EQ(setting(result(kSweep + "--registered-buffers"), "registered-buffers"), "true");
}

const std::string kLog =
    "host:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
    "host:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0\n"
    "host:1:1 [0] NCCL INFO AllReduce: 1073741824 Bytes -> Algo TREE proto SIMPLE channel{Lo..Hi}={0..5}\n";

TEST_F(NcclOptions, TakeALogsChoicesAndItsVersion) {
  file("log.txt", kLog);
  EXPECT_EQ(choice(kSweep + "--nccl-log log.txt"), "tree/Simple/6");
  const JsonValue r = result(kSweep + "--nccl-log log.txt");
  EXPECT_EQ(setting(r, "nccl-version"), "2.21.5");
  EXPECT_EQ(setting(r, "nccl-log"), "log.txt");
  EXPECT_EQ(setting(r, "nccl-log-digest").size(), 16U);
  EXPECT_EQ(setting(result(kSweep + "--nccl-log log.txt --nccl-version 2.24.3"), "nccl-version"), "2.24.3");
  // On other ranks it has nothing to say.
  const JsonValue four = result(kSweep + "--ranks 0-3 --nccl-log log.txt");
  EXPECT_NE(warning(four, "nccl-log-unused").find("8 ranks"), std::string::npos);
}

// Before 2.18 NVLS was priced higher; the row of constants that holds is named by --explain.
TEST_F(NcclOptions, ChooseAsTheReleaseThatIsAskedFor) {
  const Outcome o = simulate(kSweep + "--explain --nccl-version 2.19.3");
  EXPECT_NE(o.out.find("NCCL 2.19.3 (constants since 2.19.0)"), std::string::npos) << o.out;
  EXPECT_EQ(setting(result(kSweep + "--nccl-version v2.19.3-1"), "nccl-version"), "2.19.3");
}

// One process that drives 8 GPUs pays 8 launches in turn, which shows at small sizes; a graph has none.
TEST_F(NcclOptions, PayForLaunchesInTurn) {
  const std::string small = "--topology dgx1x8.json --collective all_reduce --sizes 8 ";
  const double one = time(small);
  EXPECT_GT(time(small + "--gpus-per-process 8"), one);
  // Inside a CUDA graph a launch costs less, not nothing.
  EXPECT_GT(time(small + "--gpus-per-process 8 --cuda-graph"), one);
  EXPECT_LT(time(small + "--gpus-per-process 8 --cuda-graph"), time(small + "--gpus-per-process 8"));
  EXPECT_EQ(setting(result(small + "--cuda-graph"), "cuda-graph"), "true");
  EXPECT_EQ(setting(result(small + "--gpus-per-process 8"), "gpus-per-process"), "8");
}

// Alone on its stream an operation waits for its own launch: the time that a step's would take.
TEST_F(NcclOptions, TimeIsolatedOperationsAsAStepDoes) {
  const std::string small = "--topology dgx1x8.json --collective all_reduce --sizes 1M ";
  EXPECT_GT(time(small + "--isolated"), time(small));
  EXPECT_EQ(setting(result(small + "--isolated"), "calls"), "isolated");
  file("w.json", R"({"schema": "busbar.trace/1", "name": "t", "groups": {"all": "0-7"},
    "programs": {"p": {"ops": [{"id": "r", "op": "all_reduce",
                                "stream": "dp", "group": "all", "bytes": "1 MiB"}]}},
    "bindings": [{"ranks": "0-7", "program": "p", "groups": {"all": "all"}}]})");
  const JsonValue step = result("--topology dgx1x8.json --workload w.json");
  EXPECT_EQ(step.at("collectives").items().at(0).at("time_s").number(0, 1), time(small + "--isolated"));
}

TEST_F(NcclOptions, HoldForStepsToo) {
  file("nccl.conf", "NCCL_ALGO=Ring\nNCCL_DEBUG=INFO\n");
  const JsonValue r =
      result("--topology dgx2x8.json --workload fsdp7b.json --env nccl.conf --nccl-version 2.24.3");
  for (const JsonValue& c : r.at("collectives").items()) EXPECT_EQ(c.at("algorithm").string(), "ring");
  EXPECT_NE(warning(r, "env-no-effect"), "");
  EXPECT_EQ(setting(r, "nccl-version"), "2.24.3");
  EXPECT_EQ(setting(r, "env"), "nccl.conf");
}

TEST_F(NcclOptions, AreSaidToBeIdleUnderTheIdealProfile) {
  const JsonValue r = result(kSweep + "--calibration ideal --nccl-version 2.24.3");
  EXPECT_NE(warning(r, "ideal-without-nccl"), "");
  EXPECT_EQ(setting(r, "nccl-version"), "");
}

TEST_F(NcclOptions, RefuseWhatCannotBeRead) {
  for (const char* option : {"--env", "--tuner", "--nccl-log", "--measured"}) {
    expect_refused(kSweep + option + " nothere.txt", {"nothere.txt", "cannot be opened"});
    expect_refused(kSweep + option + " .", {"cannot be read"});
  }
  file("bad.conf", "NCCL_ALGO=rign\n");
  expect_refused(kSweep + "--env bad.conf", {"bad.conf:1", "rign"});
  file("unknown.conf", "\nNCCL_ALGOS=ring\n");
  expect_refused(kSweep + "--env unknown.conf", {"unknown.conf:2", "did you mean 'NCCL_ALGO'?"});
  file("bad.csv", "allreduce,0,10,treee,ll,4,-1,-1\n");
  expect_refused(kSweep + "--tuner bad.csv", {"bad.csv:1", "'treee'", "did you mean 'tree'?"});
  file("empty.log", "nothing\n");
  expect_refused(kSweep + "--nccl-log empty.log", {"empty.log", "NCCL_DEBUG=INFO"});
  expect_refused(kSweep + "--measured empty.log", {"empty.log", "measured collectives"});
}

TEST_F(NcclOptions, RefuseWhatMakesNoSense) {
  expect_refused(kSweep + "--nccl-version 3", {"--nccl-version", "2.21.5", "'3'"});
  expect_refused(kSweep + "--nccl-version 1.3.4", {"--nccl-version", "'1.3.4'"});
  expect_refused(kSweep + "--gpus-per-process 0", {"--gpus-per-process"});
  expect_refused(kSweep + "--ranks 0-3 --gpus-per-process 8",
                 {"--gpus-per-process", "at most the 4 ranks", "8"});
  const std::string step = "--topology dgx2x8.json --workload fsdp7b.json ";
  for (const char* option : {"--measured x", "--isolated", "--cuda-graph", "--gpus-per-process 2"})
    expect_refused(step + option, {"belong to --collective"});
  file("none.conf", "NCCL_ALGO=^ring\nNCCL_PROTO=LL128\n");
  expect_refused("--topology dgx1x8.json --collective broadcast --sizes 1M --env none.conf",
                 {"NCCL_ALGO and NCCL_PROTO leave no algorithm for broadcast"});
}

}  // namespace
}  // namespace busbar
