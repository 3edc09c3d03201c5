// Simulated jobs that fail: what is said, and that it is said at once.
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

std::string failure(const std::string& trace, int gpus = 2) {
  try {
    static_cast<void>(simulate_ideal(star(gpus, "100 GB/s"), trace_from(trace)));
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kJob) << e.what();
    return e.what();
  }
  return "no failure";
}

std::string two_programs(const std::string& first, const std::string& second,
                         const std::string& groups = R"("dp": "0-1")") {
  const auto uses = [](const std::string& ops, const std::string& slot) {
    return ops.find("\"" + slot + "\"") != std::string::npos;
  };
  // A binding names just the slots that its program uses.
  const auto binding = [&](int rank, const std::string& program, const std::string& ops) {
    std::string slots;
    for (const std::string slot : {"dp", "other"})
      if (uses(ops, "group\": \"" + slot))
        slots += fmt::format(R"({}"{}": "{}")", slots.empty() ? "" : ", ", slot, slot);
    const std::string peers = uses(ops, "peer") ? fmt::format(R"(, "peers": {{"peer": {}}})", 1 - rank) : "";
    return fmt::format(R"({{"ranks": [{}], "program": "{}", "groups": {{{}}}{}}})", rank, program, slots,
                       peers);
  };
  return fmt::format(R"({{"schema": "busbar.trace/1", "name": "t", "groups": {{{}}},
    "programs": {{"a": {{"ops": [{}]}}, "b": {{"ops": [{}]}}}}, "bindings": [{}, {}]}})",
                     groups, first, second, binding(0, "a", first), binding(1, "b", second));
}

const std::string kReduce =
    R"({"id": "g0", "op": "all_reduce", "stream": "dp", "group": "dp", "bytes": "8 MB"})";
const std::string kReduceAgain =
    R"({"id": "g1", "op": "all_reduce", "stream": "dp", "group": "dp", "bytes": "8 MB"})";

TEST(Deadlock, NamesGroupPositionAndMissingRank) {
  const std::string text = failure(two_programs(kReduce + ", " + kReduceAgain, kReduce));
  EXPECT_EQ(text,
            "group 'dp', operation 1: deadlock after 80 us: rank 0 waits at 'g1' (all_reduce, group 'dp', "
            "operation 1) for "
            "rank 1, and rank 1 has finished without calling it");
}

TEST(Deadlock, ShowsTheCycleOfTwoGroupsCalledInOppositeOrder) {
  const std::string dp = R"({"id": "x", "op": "all_reduce", "stream": "s", "group": "dp", "bytes": "8 MB"})";
  const std::string other =
      R"({"id": "y", "op": "all_reduce", "stream": "s", "group": "other", "bytes": "8 MB"})";
  const std::string text =
      failure(two_programs(dp + ", " + other, other + ", " + dp, R"("dp": "0-1", "other": "0-1")"));
  EXPECT_NE(
      text.find("rank 0 waits at 'x' (all_reduce, group 'dp', operation 0) for rank 1; rank 1 waits at 'y' "
                "(all_reduce, group 'other', operation 0) for rank 0: a cycle"),
      std::string::npos)
      << text;
}

TEST(Deadlock, FindsTwoRanksThatBothSendFirst) {
  const std::string send = R"({"id": "s", "op": "send", "stream": "pp", "to": "peer", "bytes": "1 MB"})";
  const std::string recv = R"({"id": "r", "op": "recv", "stream": "pp", "from": "peer", "bytes": "1 MB"})";
  const std::string text = failure(two_programs(send + ", " + recv, send + ", " + recv));
  EXPECT_NE(text.find("rank 0 waits at 's' (messages from rank 0 to rank 1, number 0) for rank 1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("a cycle"), std::string::npos) << text;
}

TEST(Deadlock, NamesASendThatNobodyReceives) {
  const std::string send = R"({"id": "s", "op": "send", "stream": "pp", "to": "peer", "bytes": "1 MB"})";
  const std::string text =
      failure(two_programs(send, R"({"id": "c", "op": "compute", "stream": "m", "duration": "1 ms"})"));
  EXPECT_NE(text.find("rank 0 waits at 's'"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 1 has finished without calling it"), std::string::npos) << text;
}

// Rank 0's batch sends to 1, which takes it, and receives from 1, which never sends.
TEST(Deadlock, NamesTheHalfOfABatchThatWaits) {
  const std::string batch = R"({"id": "b", "op": "batch", "stream": "pp", "ops": [
    {"op": "send", "to": "peer", "bytes": "1 MB"}, {"op": "recv", "from": "peer", "bytes": "2 MB"}]})";
  const std::string text = failure(
      two_programs(batch, R"({"id": "r", "op": "recv", "stream": "pp", "from": "peer", "bytes": "1 MB"})"));
  EXPECT_NE(text.find("rank 0 waits at 'b' (messages from rank 1 to rank 0, number 0) for rank 1"),
            std::string::npos)
      << text;
}

TEST(Mismatch, NamesBothRanksAndThePosition) {
  const std::string gather =
      R"({"id": "w", "op": "all_gather", "stream": "dp", "group": "dp", "bytes": "8 MB"})";
  const std::string text = failure(two_programs(kReduce + ", " + kReduceAgain, kReduce + ", " + gather));
  EXPECT_EQ(text,
            "group 'dp', operation 1: mismatched collective: rank 0 calls all_reduce of 8 MB bf16 sum "
            "('g1'), rank 1 calls "
            "all_gather of 8 MB bf16 ('w')");
}

TEST(Mismatch, SeesSizesTypesAndReductions) {
  const auto op = [](const std::string& rest) {
    return R"({"id": "g0", "op": "all_reduce", "stream": "dp", "group": "dp", )" + rest + "}";
  };
  const std::string base = op(R"("bytes": "8 MB")");
  EXPECT_NE(failure(two_programs(base, op(R"("bytes": "4 MB")"))).find("mismatched"), std::string::npos);
  EXPECT_NE(failure(two_programs(base, op(R"("bytes": "8 MB", "type": "fp32")"))).find("mismatched"),
            std::string::npos);
  EXPECT_NE(failure(two_programs(base, op(R"("bytes": "8 MB", "reduction": "max")"))).find("mismatched"),
            std::string::npos);
  EXPECT_EQ(failure(two_programs(base, op(R"("bytes": "8 MB", "reduction": "sum", "type": "bf16")"))),
            "no failure");
}

TEST(Mismatch, SeesDifferentSplits) {
  const auto op = [](const std::string& matrix) {
    return R"({"id": "x", "op": "all_to_all", "stream": "ep", "group": "dp", "splits": ")" + matrix + R"("})";
  };
  std::string trace = two_programs(op("a"), op("b"));
  trace.insert(
      trace.find(R"("groups")"),
      R"("matrices": {"a": [["0 B", "1 MB"], ["2 MB", "0 B"]], "b": [["0 B", "2 MB"], ["1 MB", "0 B"]]}, )");
  EXPECT_NE(failure(trace).find("mismatched collective: rank 0 calls all_to_all"), std::string::npos);
}

TEST(Mismatch, SeesASendAndAReceiveOfDifferentSizes) {
  const std::string send = R"({"id": "s", "op": "send", "stream": "pp", "to": "peer", "bytes": "1 MB"})";
  const std::string recv = R"({"id": "r", "op": "recv", "stream": "pp", "from": "peer", "bytes": "2 MB"})";
  EXPECT_NE(failure(two_programs(send, recv))
                .find("messages from rank 0 to rank 1, number 0: mismatched sizes: rank 0 sends 1 MB ('s'), "
                      "rank 1 receives 2 MB ('r')"),
            std::string::npos);
}

TEST(Replay, RefusesMoreRanksThanGpus) {
  try {
    static_cast<void>(simulate_ideal(
        star(2, "100 GB/s"),
        trace_from(one_program(3, R"({"id": "b", "op": "barrier", "stream": "s", "group": "all"})"))));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(e.what()).find("expected at most the 2 GPUs of 'star', got 3 ranks"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace busbar
