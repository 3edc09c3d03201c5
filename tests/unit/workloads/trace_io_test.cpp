#include "workloads/trace_io.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "workload_helpers.h"
#include "workloads/rank_set.h"

namespace busbar {
namespace {

using test::all_fields;
using test::BadInput;
using test::error_of;
using test::op_called;
using test::trace_of;

/// Two stages of two ranks with every kind of operation and every key.
constexpr const char* kStages = R"({
  "schema": "busbar.trace/1", "name": "two stages", "tokens": 8192, "model_flops": 3.2e14, "repeat": 3,
  "groups": {"dp0": [0, 1], "dp1": "2-3"},
  "programs": {
    "first": {"memory": {"total": "31 GB"}, "ops": [
      {"id": "f", "op": "compute", "stream": "main", "duration": "2 ms", "phase": "forward", "layer": 0},
      {"id": "w", "op": "compute", "stream": "main", "flops": 1.5e12, "bytes": "3 MB", "type": "fp16"},
      {"id": "m", "op": "compute", "stream": "main", "type": "bf16", "matmul": [4096, 4096, 11008]},
      {"id": "a", "op": "compute", "stream": "main", "phase": "backward", "microbatch": 1,
       "attention": {"batch": 1, "sequence": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "causal": false,
                     "pass": "backward"}},
      {"id": "s", "op": "send", "stream": "pp", "to": "next", "bytes": "32 MiB", "after": ["f"], "kind": "pp"},
      {"id": "g", "op": "all_reduce", "stream": "dp", "group": "dp", "bytes": "100 MB", "type": "fp32",
       "reduction": "avg", "after": ["f", "m"], "kind": "dp"},
      {"id": "c", "op": "broadcast", "stream": "dp", "group": "dp", "bytes": "1 MiB", "root": 1},
      {"id": "y", "op": "barrier", "stream": "dp", "group": "dp"}]},
    "last": {"memory": {"parameters": "1 GB", "buffers": "2 GiB"}, "ops": [
      {"id": "r", "op": "recv", "stream": "pp", "from": "previous", "bytes": "32 MiB"},
      {"id": "x", "op": "all_to_all", "stream": "ep", "group": "dp", "bytes": "1 MiB"},
      {"id": "b", "op": "batch", "stream": "pp", "phase": "optimizer",
       "ops": [{"op": "send", "to": "previous", "bytes": "1 MiB"},
               {"op": "recv", "from": 0, "bytes": "1 MiB"}]}]}},
  "bindings": [
    {"ranks": "0-1", "program": "first", "groups": {"dp": "dp0"}, "peers": {"next": "+2"}},
    {"ranks": [2, 3], "program": "last", "groups": {"dp": "dp1"}, "peers": {"previous": "-2"}}]})";

TEST(ReadTrace, ReadsProgramsAndBindings) {
  const StepTrace trace = trace_of(kStages);
  EXPECT_EQ(trace.name, "two stages");
  EXPECT_EQ(trace.ranks, 4U);
  EXPECT_EQ(trace.repeat, 3);
  EXPECT_EQ(trace.tokens, 8192);
  EXPECT_EQ(trace.model_flops, 3.2e14);
  ASSERT_EQ(trace.programs.size(), 2U);
  EXPECT_EQ(trace.programs[0].streams, (std::vector<std::string>{"main", "pp", "dp"}));
  ASSERT_EQ(trace.bindings.size(), 2U);
  EXPECT_EQ(expand(trace.bindings[1].ranks), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(trace.bindings[1].groups.at(0), GroupId(1));
}

TEST(ReadTrace, ReadsTheWorkOfKernels) {
  const Program first = trace_of(kStages).programs[0];
  EXPECT_EQ(op_called(first, "f").work->duration, Time::picoseconds(2'000'000'000));
  EXPECT_EQ(op_called(first, "w").work->flops, 1.5e12);
  EXPECT_EQ(op_called(first, "w").work->bytes, 3e6);
  EXPECT_EQ(op_called(first, "w").work->type, DataType::kFp16);
  EXPECT_EQ(op_called(first, "m").work->flops, 2.0 * 4096 * 4096 * 11008);
  // Not causal: 4 b s^2 heads head_dim forward, 2.5 times that backward.
  EXPECT_EQ(op_called(first, "a").work->flops, 2.5 * 4.0 * 4096 * 4096 * 32 * 128);
}

TEST(ReadTrace, ReadsCollectives) {
  const Program first = trace_of(kStages).programs[0];
  const Op& reduce = op_called(first, "g");
  EXPECT_EQ(reduce.collective, CollectiveKind::kAllReduce);
  EXPECT_EQ(reduce.bytes, 100_MB);
  EXPECT_EQ(reduce.type, DataType::kFp32);
  EXPECT_EQ(reduce.reduction, Reduction::kAvg);
  EXPECT_EQ(reduce.after, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(op_called(first, "c").root, 1U);
  EXPECT_EQ(op_called(first, "y").bytes, 0_B);
}

TEST(ReadTrace, ReadsPeersByNameAndByRank) {
  const StepTrace trace = trace_of(kStages);
  EXPECT_EQ(trace.programs[1].peer_slots, (std::vector<std::string>{"previous", "0"}));
  const std::vector<Peer>& peers = trace.bindings[1].peers;
  EXPECT_TRUE(peers[0].relative);
  EXPECT_EQ(peers[0].value, -2);
  EXPECT_FALSE(peers[1].relative);
  EXPECT_EQ(peers[1].value, 0);
}

TEST(ReadTrace, KeepsALoneTotalOfMemoryWhole) {
  const StepTrace trace = trace_of(kStages);
  EXPECT_EQ(trace.programs[0].memory->total(), 31_GB);
  EXPECT_EQ(trace.programs[0].memory->buffers, 0_B);
  EXPECT_EQ(trace.programs[1].memory->total(), Bytes(1'000'000'000 + (std::int64_t{2} << 30)));
}

TEST(ReadTrace, RootsDefaultToTheFirstMember) {
  const StepTrace trace =
      trace_of(R"({"schema": "busbar.trace/1", "groups": {"g": "0-1"}, "programs": {"p": {"ops": [
    {"id": "b", "op": "broadcast", "stream": "s", "group": "g", "bytes": "2 B"},
    {"id": "a", "op": "all_gather", "stream": "s", "group": "g", "bytes": "4 B"}]}},
    "bindings": [{"ranks": "0-1", "program": "p", "groups": {"g": "g"}}]})");
  EXPECT_EQ(op_called(trace.programs[0], "b").root, 0U);
  EXPECT_EQ(op_called(trace.programs[0], "a").root, std::nullopt);
}

TEST(WriteTrace, RoundTripsEveryField) {
  StepTrace trace = trace_of(kStages);
  trace.assumptions = {"one", "with \"quotes\""};
  trace.warnings = {{"few-microbatches", "two"}};
  trace.slowdowns = {{{{.first = 0, .count = 1, .stride = 1}}, 1.25}};
  trace.staggered = true;
  const std::string text = write_trace(trace);
  EXPECT_EQ(all_fields(trace_of(text)), all_fields(trace));
  EXPECT_EQ(write_trace(trace_of(text)), text);
}

TEST(WriteTrace, RoundTripsTheOtherWidthsOfAttention) {
  const StepTrace trace = trace_of(R"({"schema": "busbar.trace/1", "programs": {"p": {"ops": [
    {"id": "a", "op": "compute", "stream": "main", "attention": {"batch": 1, "sequence": 8, "heads": 4,
     "head_dim": 24, "keys": 32, "value_dim": 16, "window": 5}}]}},
    "bindings": [{"ranks": "0-1", "program": "p"}]})");
  const KernelWork& work = *trace.programs[0].ops[0].work;
  EXPECT_EQ(work.attention->keys, 32);
  EXPECT_EQ(work.attention->value_dim, 16);
  EXPECT_EQ(work.attention->window, 5);
  const std::string text = write_trace(trace);
  EXPECT_EQ(trace_of(text).programs[0].ops[0].work->flops, work.flops);
  EXPECT_EQ(trace_of(text).programs[0].ops[0].work->bytes, work.bytes);
  EXPECT_EQ(write_trace(trace_of(text)), text);
}

TEST(WriteTrace, WritesRankListsAsRanges) {
  const std::string text = write_trace(trace_of(kStages));
  EXPECT_NE(text.find(R"("dp0": "0-1")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"({"ranks":"2-3")"), std::string::npos) << text;
}

TEST(ReadTrace, BindsTheLargestJobInLinearTime) {
  const StepTrace trace = trace_of(R"({"schema": "busbar.trace/1", "groups": {"all": "0-16777215"},
    "programs": {"p": {"ops": [{"id": "y", "op": "barrier", "stream": "s", "group": "g"}]}},
    "bindings": [{"ranks": "0-16777215", "program": "p", "groups": {"g": "all"}}]})");
  EXPECT_EQ(trace.ranks, kMaxRanks);
}

/// Changes to kStages, by place.
const std::vector<BadInput>& bad_traces() {
  static const std::vector<BadInput> kCases = {
      {"schema", "busbar.trace/2", "t.json#/schema: expected \"busbar.trace/1\""},
      {"nmae", "x", "did you mean 'name'?"},
      {"repeat", "0", "#/repeat"},
      {"repeat", "1000001", "#/repeat"},
      {"tokens", "-1", "#/tokens"},
      {"matrices", R"({"m": [["0 B"], ["1 B"]]})", "expected 2 sizes, one per member"},
      {"matrices", R"({"m": []})", "rows, one per member"},
      {"groups.dp0", "[0, 0]", "#/groups/dp0: rank 0 is a member twice"},
      {"groups.dp0", "[0, 9]", "#/groups/dp0: rank 9 is not bound; the ranks are 0 to 3"},
      {"groups.dp0", "[0]", "#/bindings/0/groups/dp: rank 1 is not a member of group 'dp0'"},
      {"bindings.0.ranks", "0-0", "#/bindings: rank 1 is not bound"},
      {"bindings.0.ranks", "0-2", "#/bindings/1/ranks: rank 2 is bound twice"},
      {"slowdowns", R"([{"ranks": "2-4", "factor": 1.1}])", "#/slowdowns/0: rank 4 is not bound"},
      {"slowdowns", R"([{"ranks": [1], "factor": 1.1}, {"ranks": "0-1", "factor": 2}])",
       "#/slowdowns/1: rank 1 is slowed twice"},
      {"slowdowns", R"([{"ranks": [1], "factor": 0}])", "#/slowdowns/0/factor"},
      {"staggered", "1", "#/staggered"},
      {"warnings", R"([{"text": "no code"}])", "'code'"},
      {"bindings.0.ranks", "1-0", "#/bindings/0/ranks: expected ranks as"},
      {"bindings.0.ranks", "[]", "at least one rank"},
      {"bindings.0.program", "frist", "did you mean 'first'?"},
      {"bindings.0.groups.dp", "dp2", "#/bindings/0/groups/dp: expected the name of a group"},
      {"bindings.0.groups.tp", "dp0", "unknown key 'tp'"},
      {"bindings.0.groups", "{}", "program 'first' uses a group 'dp' that is not bound"},
      {"bindings.0.peers", "{}", "program 'first' uses a peer 'next' that is not bound"},
      {"bindings.0.peers.next", "+3",
       "#/bindings/0/peers/next: the peer of rank 1 is 4; the ranks are 0 to 3"},
      {"bindings.0.peers.next", "\"-1\"", "the peer of rank 0 is -1"},
      {"bindings.0.peers.next", "-1", "a peer as \"+1\", \"-1\" or a rank"},
      {"bindings.0.peers.next", "+0", "a rank is its own peer"},
      {"bindings.0.peers.next", "1", "a rank is its own peer"},
      {"bindings.0.peers.next", "\"2\"", "a peer as \"+1\""},
      {"bindings.0.peers.next", "+-1", "a peer as \"+1\""},
      {"bindings", "[]", "no rank is bound"},
      {"programs.first.memory.buffers", "1 GB", "'total' excludes the parts"},
      {"programs.first.ops.0.duration", "2", "#/programs/first/ops/0/duration"},
      {"programs.first.ops.0.duration", "2 MB", "#/programs/first/ops/0/duration"},
      {"programs.first.ops.0.op", "compte", "did you mean 'compute'?"},
      {"programs.first.ops.0.phase", "forwards", "did you mean 'forward'?"},
      {"programs.first.ops.0.after", "[\"m\"]", "expected the id of an earlier operation"},
      {"programs.first.ops.0.after", "[\"f\"]", "expected the id of an earlier operation"},
      {"programs.first.ops.1.id", "f", "'f' is the id of an earlier operation too"},
      {"programs.first.ops.1.type", "bf61", "did you mean 'bf16'?"},
      {"programs.first.ops.1.flops", "-1", "#/programs/first/ops/1/flops"},
      {"programs.first.ops.1.matmul", "[1, 1, 1]", "excludes 'flops' and 'bytes'"},
      {"programs.first.ops.2.matmul", "[1, 1]", "a matmul shape as [m, n, k]"},
      {"programs.first.ops.2.matmul", "[1, 1, 0]", "#/programs/first/ops/2/matmul/2"},
      {"programs.first.ops.3.attention.kv_heads", "5", "a divisor of heads = 32"},
      {"programs.first.ops.3.attention.window", "5", "a window needs causal attention"},
      {"programs.first.ops.3.attention.pass", "both", "\"forward\" or \"backward\""},
      {"programs.first.ops.3.matmul", "[1, 1, 1]", "exclude each other"},
      {"programs.first.ops.4.from", "next", "unknown key 'from'"},
      {"programs.first.ops.5.bytes", "100000002 B", "a multiple of 4 B (4 B per fp32 element)"},
      {"programs.first.ops.5.bytes", "100", "#/programs/first/ops/5/bytes"},
      {"programs.first.ops.5.bytes", "1e30 GB", "#/programs/first/ops/5/bytes"},
      {"programs.first.ops.5.reduction", "mean", "sum, avg, min, max or prod"},
      {"programs.first.ops.5.root", "0", "unknown key 'root'"},
      {"programs.first.ops.6.root", "2", "root 2 of a group of 2 members"},
      {"programs.first.ops.7.bytes", "1 B", "unknown key 'bytes'"},
      {"programs.last.ops.1.bytes", "1048578 B", "a multiple of 4 B (2 ranks x 2 B per bf16 element)"},
      {"programs.last.ops.1.splits", "route", "unknown key 'bytes'"},
      {"programs.last.ops.2.ops", "[]", "at least one send or recv"},
      {"programs.last.ops.2.ops.0.op", "batch", "\"send\" or \"recv\" inside a batch"},
      {"programs.last.ops.2.ops.0.id", "z", "unknown key 'id'"},
  };
  return kCases;
}

TEST(ReadTrace, RefusesBadInputWithItsPlace) {
  for (const BadInput& bad : bad_traces()) {
    const std::string line = error_of([&] {
      static_cast<void>(read_trace(JsonDocument::parse(kStages, "t.json").with(bad.path, bad.value)));
    });
    EXPECT_NE(line.find(bad.message), std::string::npos) << bad.path << " = " << bad.value << "\n" << line;
  }
}

TEST(ReadTrace, RefusesGroupsThatWouldTakeHoursToCheck) {
  std::string groups;
  for (int g = 0; g < 17; ++g) groups += fmt::format(R"({}"g{}": "0-16777215")", g == 0 ? "" : ", ", g);
  const std::string text =
      R"({"schema": "busbar.trace/1", "groups": {)" + groups + R"(}, "programs": {"p": {"ops": []}},
    "bindings": [{"ranks": "0-1", "program": "p"}]})";
  EXPECT_NE(
      error_of([&] { static_cast<void>(trace_of(text)); }).find("#/groups: 285212672 members in all groups"),
      std::string::npos);
}

TEST(ReadTrace, NamesMissingAndDuplicateKeys) {
  EXPECT_NE(
      error_of([] { static_cast<void>(trace_of(R"({"schema": "busbar.trace/1"})")); }).find("'programs'"),
      std::string::npos);
  EXPECT_NE(error_of([] { static_cast<void>(trace_of(R"({"schema": "a", "schema": "b"})")); }).find("schema"),
            std::string::npos);
  const std::string no_work = R"({"schema": "busbar.trace/1", "programs": {"p": {"ops": [
    {"id": "c", "op": "compute", "stream": "s"}]}}, "bindings": []})";
  EXPECT_NE(error_of([&] { static_cast<void>(trace_of(no_work)); }).find("expected the work"),
            std::string::npos);
}

}  // namespace
}  // namespace busbar
