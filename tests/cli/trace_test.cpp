// `simulate --trace` and `--explain` as a user calls them.
#include <map>
#include <set>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

class Trace : public ProgramTest {
 protected:
  JsonValue json(const std::string& name) { return JsonDocument::load(path(name).string()).root(); }
};

double number(const JsonValue& v, std::string_view key) { return v.at(key).number(0, 1e18); }

// Two stages whose names need escaping; rank 1 waits 2 ms for rank 0's message.
const char* const kStages = R"({"schema": "busbar.trace/1", "name": "t", "groups": {},
  "programs": {
    "first \"a\\b\"": {"ops": [{"id": "f", "op": "compute", "stream": "m\u0007\u00e4\"in", "duration": "2 ms", "phase": "forward", "layer": 3, "microbatch": 1},
                      {"id": "s\"", "op": "send", "stream": "pp", "to": "next", "bytes": "90 MB", "after": ["f"]}]},
    "last": {"ops": [{"id": "r", "op": "recv", "stream": "pp", "from": "previous", "bytes": "90 MB"},
                     {"id": "b", "op": "compute", "stream": "main", "duration": "2 ms", "after": ["r"]}]}},
  "bindings": [{"ranks": [0], "program": "first \"a\\b\"", "peers": {"next": "+1"}},
               {"ranks": [1], "program": "last", "peers": {"previous": "-1"}}]})";

TEST_F(Trace, IsJsonWhoseEventsNestAndAddUp) {
  ASSERT_EQ(simulate("--topology dgx2x8.json --workload fsdp7b.json --trace t.json --json r.json --quiet")
                .exit_code,
            0);
  std::map<std::pair<double, double>, double> busy_until;
  double compute_us = 0;
  std::set<double> named;
  std::size_t counters = 0;
  for (const JsonValue& e : json("t.json").at("traceEvents").items()) {
    const std::string phase = e.at("ph").string();
    if (phase == "M" && e.at("name").string() == "thread_name") named.insert(number(e, "tid"));
    if (phase == "C") {
      ++counters;
      EXPECT_LE(number(e.at("args"), "percent"), 100.01);
    }
    if (phase != "X") continue;
    const std::pair track{number(e, "pid"), number(e, "tid")};
    EXPECT_TRUE(named.contains(track.second));
    EXPECT_GE(number(e, "ts"), busy_until[track] - 1e-6);
    busy_until[track] = number(e, "ts") + number(e, "dur");
    if (e.at("cat").string() == "compute") compute_us += number(e, "dur");
  }
  EXPECT_NEAR(compute_us * 1e-6, number(json("r.json"), "compute_s"), 1e-9);
  EXPECT_GT(counters, 100U);
}

TEST_F(Trace, CarriesWaitsFlowsArgumentsAndEscapedNames) {
  file("w.json", kStages);
  ASSERT_EQ(simulate("--topology dgx1x8.json --workload w.json --calibration ideal --trace t.json --quiet")
                .exit_code,
            0);
  std::set<std::string> names;
  int flows = 0;
  for (const JsonValue& e : json("t.json").at("traceEvents").items()) {
    const std::string phase = e.at("ph").string();
    const std::string name = e.at("name").string();
    if (phase == "M" && e.at("args").find("name")) names.insert(e.at("args").at("name").string());
    if (phase == "s" || phase == "f") ++flows;
    if (phase == "X" && name == "wait") {
      EXPECT_EQ(number(e, "pid"), 2);
      EXPECT_EQ(number(e, "dur"), 2000);
      EXPECT_EQ(number(e.at("args"), "waited_for_rank"), 0);
    }
    if (phase == "X" && name == "f") {
      EXPECT_EQ(number(e.at("args"), "layer"), 3);
      EXPECT_EQ(number(e.at("args"), "microbatch"), 1);
      EXPECT_EQ(e.at("args").at("started_by").string(), "the start");
    }
    if (phase == "X" && name == "s\"") {
      EXPECT_EQ(number(e, "dur"), 200);  // 90 MB at 450 GB/s
      EXPECT_EQ(number(e.at("args"), "bytes"), 90e6);
      EXPECT_EQ(e.at("args").at("started_by").string(), "f");
    }
  }
  EXPECT_EQ(flows, 2);
  EXPECT_TRUE(names.contains("rank 0 (first \"a\\b\")"));
  EXPECT_TRUE(names.contains("m\a\xc3\xa4\"in"));
}

TEST_F(Trace, ShowsTheRanksThatWereNamedAndRefusesOthers) {
  const std::string step = "--topology dgx2x8.json --workload fsdp7b.json --quiet ";
  ASSERT_EQ(simulate(step + "--trace t.json --trace-ranks 3,8-9").exit_code, 0);
  std::set<double> pids;
  for (const JsonValue& e : json("t.json").at("traceEvents").items())
    if (e.at("ph").string() == "X") pids.insert(number(e, "pid"));
  EXPECT_EQ(pids, (std::set<double>{4, 9, 10}));
  EXPECT_EQ(simulate(step + "--trace u.json --trace-ranks 16").exit_code, 2);
  EXPECT_EQ(simulate(step + "--trace-ranks 1").exit_code, 2);
  EXPECT_EQ(simulate("--topology dgx1x8.json --collective all_gather --trace u.json").exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("u.json")));
}

TEST_F(Trace, ChangesNoPrediction) {
  const std::string step = "--topology dgx2x8.json --workload fsdp7b.json --quiet ";
  ASSERT_EQ(simulate(step + "--json a.json").exit_code, 0);
  ASSERT_EQ(simulate(step + "--json b.json --trace t.json --explain").exit_code, 0);
  EXPECT_EQ(number(json("a.json"), "step_time_s"), number(json("b.json"), "step_time_s"));
  EXPECT_FALSE(json("a.json").find("explanations"));
  EXPECT_EQ(json("b.json").at("explanations").items().size(),
            json("b.json").at("collectives").items().size());
}

TEST_F(Trace, ExplainTeachesACollectiveStepByStep) {
  const Outcome o =
      simulate("--topology dgx1x8.json --collective all_gather --ranks 0-3 --sizes 16:16:2 --explain");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part :
       {"n-1 steps of S/n", "chunks of 4 B", "round 3 of 3", "rank 0 -> rank 1: chunk 0 (copy)", "latency"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
}

TEST_F(Trace, ExplainSaysWhatBoundsAStep) {
  const Outcome o = simulate("--topology dgx2x8.json --workload fsdp7b.json --explain");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part :
       {"T = latency + V / r", "bound by", "without that limit", "started by", "nic->leaf"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
}

}  // namespace
}  // namespace busbar
