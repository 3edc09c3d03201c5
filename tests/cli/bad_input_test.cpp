// Bad input: one clear line on standard error, exit code 2, nothing written.
#include "tests/support/program.h"

namespace busbar {
namespace {

const std::string kTopology = R"({"schema": "busbar.topology/1", "name": "pair",
  "devices": [{"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"}],
  "links": [{"from": "g0", "to": "g1", "bandwidth": "100 GB/s", "type": "nvlink"}]})";
const std::string kTrace = R"({"schema": "busbar.trace/1", "name": "t", "groups": {"all": "0-1"},
  "programs": {"p": {"ops": [{"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "8 MB"}]}},
  "bindings": [{"ranks": "0-1", "program": "p", "groups": {"all": "all"}}]})";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

class BadInput : public ProgramTest {
 protected:
  // Runs a step and a sweep-free command that would write three files; checks the refusal.
  void expect_refused(const std::string& topology, const std::string& trace,
                      const std::vector<std::string>& parts) {
    file("t.json", topology);
    file("w.json", trace);
    const Outcome o = simulate(
        "--topology t.json --workload w.json --json r.json --dump-trace d.json --dump-topology e.json");
    expect_one_line(o, parts);
    EXPECT_EQ(files(), 2U) << "something was written";
  }
  static void expect_one_line(const Outcome& o, const std::vector<std::string>& parts) {
    EXPECT_EQ(o.exit_code, 2) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    for (const std::string& part : parts)
      EXPECT_NE(o.err.find(part), std::string::npos) << "no \"" << part << "\" in: " << o.err;
  }
};

TEST_F(BadInput, IsNotWhatTheGoodFilesAre) {
  file("t.json", kTopology);
  file("w.json", kTrace);
  const Outcome o = simulate("--topology t.json --workload w.json --json r.json");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(files(), 3U);
}

TEST_F(BadInput, UnknownKey) {
  expect_refused(with(kTopology, R"("bandwidth")", R"("bandwith")"), kTrace,
                 {"t.json#/links/0", "unknown key 'bandwith'", "did you mean 'bandwidth'?"});
}
TEST_F(BadInput, MissingKey) {
  expect_refused(with(kTopology, R"("from": "g0", )", ""), kTrace, {"t.json#/links/0", "missing key 'from'"});
}
TEST_F(BadInput, DuplicateKey) {
  expect_refused(with(kTopology, R"("from": "g0",)", R"("from": "g0", "from": "g0",)"), kTrace,
                 {"t.json:3", "duplicate key 'from'"});
}
TEST_F(BadInput, WrongUnit) {
  expect_refused(with(kTopology, "100 GB/s", "100 GB"), kTrace,
                 {"t.json#/links/0/bandwidth", "bandwidth", "100 GB"});
}
TEST_F(BadInput, BareNumber) {
  expect_refused(with(kTopology, R"("100 GB/s")", "100"), kTrace,
                 {"t.json#/links/0/bandwidth", "GB/s", "got 100"});
}
TEST_F(BadInput, NegativeBandwidth) {
  expect_refused(with(kTopology, "100 GB/s", "-100 GB/s"), kTrace,
                 {"t.json#/links/0/bandwidth", "-100 GB/s"});
}
TEST_F(BadInput, ZeroBandwidth) {
  expect_refused(with(kTopology, "100 GB/s", "0 GB/s"), kTrace, {"t.json#/links/0/bandwidth", "0 GB/s"});
}
TEST_F(BadInput, DisconnectedGpus) {
  const std::size_t links = kTopology.find(R"("links")");
  expect_refused(kTopology.substr(0, links) + R"("links": []})", kTrace, {"t.json", "g0", "g1"});
}
TEST_F(BadInput, LinkToNowhere) {
  expect_refused(with(kTopology, R"("to": "g1")", R"("to": "g9")"), kTrace, {"t.json#/links/0", "'g9'"});
}
TEST_F(BadInput, DuplicateIds) {
  expect_refused(with(kTopology, R"("id": "g1")", R"("id": "g0")"), kTrace, {"t.json#/devices/1", "'g0'"});
}
TEST_F(BadInput, ZeroHosts) {
  expect_refused(
      R"({"schema": "busbar.topology/1", "name": "n", "hosts": {"count": 0, "type": "dgx-h100"}, "fabric": {"family": "none"}})",
      kTrace, {"t.json#/hosts/count", "got 0"});
}
TEST_F(BadInput, ZeroRanks) {
  expect_refused(kTopology, with(kTrace, R"("ranks": "0-1")", R"("ranks": [])"),
                 {"w.json#/bindings/0/ranks"});
}
TEST_F(BadInput, SizesThatDoNotDivide) {
  expect_refused(kTopology, with(with(kTrace, "all_reduce", "all_gather"), "8 MB", "10 B"),
                 {"w.json#/programs/p/ops/0", "10 B"});
}
TEST_F(BadInput, TruncatedFile) { expect_refused(kTopology.substr(0, 150), kTrace, {"t.json:", "not JSON"}); }
TEST_F(BadInput, NotJson) { expect_refused("hello", kTrace, {"t.json:1:1", "not JSON"}); }
TEST_F(BadInput, EmptyFile) { expect_refused("", kTrace, {"t.json"}); }
TEST_F(BadInput, DepthOfAHundredThousand) {
  expect_refused(std::string(100000, '['), kTrace, {"t.json:1:65", "64"});
}
TEST_F(BadInput, TwoToTheSixtyThreeBytes) {
  expect_refused(kTopology, with(kTrace, "8 MB", "9223372036854775808 B"),
                 {"w.json#/programs/p/ops/0/bytes"});
}
TEST_F(BadInput, NaN) {
  expect_refused(kTopology, with(kTrace, R"("8 MB")", "NaN"), {"w.json:", "not JSON"});
  expect_refused(kTopology, with(kTrace, "8 MB", "nan MB"), {"w.json#/programs/p/ops/0/bytes", "nan MB"});
}
TEST_F(BadInput, OtherSchema) {
  expect_refused(with(kTopology, "busbar.topology/1", "busbar.topology/2"), kTrace,
                 {"t.json#/schema", "busbar.topology/1"});
  expect_refused(kTopology, kTopology, {"w.json#/schema", "busbar.workload/1", "busbar.trace/1"});
}
TEST_F(BadInput, MissingFile) {
  file("w.json", kTrace);
  expect_one_line(simulate("--topology dgx2x9.json --workload w.json"),
                  {"dgx2x9.json", "did you mean 'dgx2x8.json'?"});
}
TEST_F(BadInput, MoreRanksThanGpus) {
  expect_refused(
      kTopology,
      with(with(kTrace, R"("all": "0-1")", R"("all": "0-2")"), R"("ranks": "0-1")", R"("ranks": "0-2")"),
      {"at most the 2 GPUs", "3 ranks"});
}
TEST_F(BadInput, ControlBytesInNamesAreEscaped) {
  file("t.json", with(kTopology, R"("kind": "gpu")", R"("kind": "g\u001bpu")"));
  file("w.json", kTrace);
  const Outcome o = simulate("--topology t.json --workload w.json");
  expect_one_line(o, {"\\x1b"});
  EXPECT_EQ(o.err.find('\x1b'), std::string::npos);
}

TEST_F(BadInput, OptionsThatMakeNoSense) {
  file("t.json", kTopology);
  const std::string sweep = "--topology t.json --collective all_reduce ";
  expect_one_line(simulate(sweep + "--sizes 8:8G:1"), {"--sizes", "factor above 1", "'1'"});
  expect_one_line(simulate(sweep + "--sizes 8:8G"), {"--sizes", "8:8G:2"});
  expect_one_line(simulate(sweep + "--sizes 8G:8:2"), {"--sizes"});
  expect_one_line(simulate(sweep + "--sizes 8:8G:1.0000000001"), {"--sizes", "1000000"});
  expect_one_line(simulate(sweep + "--sizes 8X"), {"--sizes", "'8X'"});
  expect_one_line(simulate(sweep + "--sizes 9223372036854775808"), {"--sizes"});
  expect_one_line(simulate(sweep + "--ranks 0-2"), {"--ranks", "ranks below 2"});
  expect_one_line(simulate(sweep + "--ranks 0,0"), {"--ranks", "each rank once"});
  expect_one_line(simulate(sweep + "--protocol LL256"), {"--protocol", "LL128"});
  expect_one_line(simulate(sweep + "--algorithm rign"), {"--algorithm", "ring"});
  expect_one_line(simulate("--topology dgx1x8.json --collective all_reduce --algorithm nvls --protocol LL"),
                  {"--algorithm", "NCCL does not run all_reduce as nvls / LL"});
  expect_one_line(simulate(sweep + "--type bf61"), {"--type", "bf16"});
  for (const char* rooted : {"broadcast", "reduce", "gather", "scatter"})
    expect_one_line(simulate(std::string("--topology t.json --root 2 --explain --collective ") + rooted),
                    {"--root", "0 to 1", "2"});
  expect_one_line(simulate("--topology t.json --collective all_reduc"),
                  {"--collective", "did you mean 'all_reduce'?"});
  expect_one_line(simulate("--topology t.json"), {"--workload", "--collective"});
  expect_one_line(simulate("--workload t.json"), {"--topology"});
  expect_one_line(simulate("--topolgy t.json"), {"--topolgy"});
  expect_one_line(simulate("--topology t.json --collective all_reduce --calibration perfect"),
                  {"--calibration", "ideal"});
  expect_one_line(simulate(sweep + "--trace t"), {"--trace belongs to --workload"});
  expect_one_line(simulate("--topology t.json --workload w --trace-ranks 0"),
                  {"--trace-ranks belongs to --trace"});
  expect_one_line(simulate("--topology t.json --workload w --trace - --json -"), {"standard output"});
  expect_one_line(simulate("--list hoses"), {"--list", "did you mean 'hosts'?"});
}

TEST_F(BadInput, ComparisonsOfUnlikeThings) {
  file("t.json", kTopology);
  file("w.json", kTrace);
  const std::string sweep = "--topology t.json --collective all_reduce --sizes 1M:2M:2 ";
  ASSERT_EQ(simulate("--topology t.json --workload w.json --json step.json --quiet").exit_code, 0);
  ASSERT_EQ(simulate(sweep + "--json sweep.json --quiet").exit_code, 0);
  expect_one_line(simulate(sweep + "--compare step.json"), {"step.json", "expected a sweep"});
  expect_one_line(simulate("--topology t.json --workload w.json --compare sweep.json"),
                  {"sweep.json", "the result of a step"});
  expect_one_line(simulate("--topology t.json --collective all_gather --sizes 1M --compare sweep.json"),
                  {"sweep of all_gather"});
  expect_one_line(simulate("--topology t.json --collective all_reduce --sizes 8M --compare sweep.json"),
                  {"no size in common"});
}

TEST_F(BadInput, TimesBeyondTheRange) {
  file("t.json", kTopology);
  file(
      "w.json",
      with(
          kTrace, R"({"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "8 MB"})",
          R"({"id": "a", "op": "compute", "stream": "m", "duration": "100 d"}, {"id": "b", "op": "compute", "stream": "m", "duration": "100 d"},
                         {"id": "r", "op": "barrier", "stream": "m", "group": "all"})"));
  expect_one_line(simulate("--topology t.json --workload w.json"), {"step 't'", "106 days"});
}

TEST_F(BadInput, SetsThatLeadNowhere) {
  file("t.json", kTopology);
  file("w.json", kTrace);
  const std::string step = "--topology t.json --workload w.json ";
  expect_one_line(simulate(step + "--set links.0.bandwith=1"), {"unknown key 'bandwith'"});
  expect_one_line(simulate(step + "--set link.0.bandwidth=1"), {"--set", "'link'", "did you mean 'links'?"});
  expect_one_line(simulate(step + "--set name=x"), {"--set", "topology.name", "workload.name"});
  expect_one_line(simulate(step + "--set links.7.bandwidth='1 GB/s'"), {"7"});
  expect_one_line(simulate(step + "--set repeat"), {"--set", "key.path=value"});
}

TEST_F(BadInput, LeavesAnExistingFileAloneWhenTheSystemRefuses) {
  file("t.json", kTopology);
  const Outcome o = simulate("--topology t.json --collective all_reduce --json nowhere/r.json");
  EXPECT_EQ(o.exit_code, 3);
  EXPECT_NE(o.err.find("nowhere/r.json: cannot write"), std::string::npos) << o.err;
  const Outcome full = simulate("--topology t.json --collective all_reduce --json /dev/full");
  EXPECT_EQ(full.exit_code, 3) << full.err;
}

}  // namespace
}  // namespace busbar
