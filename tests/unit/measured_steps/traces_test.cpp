// Traces given inline: what is compute, transfer and waiting, and whose.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/temporary_folder.h"
#include "validate/import/trace_events.h"
#include "validate/import/trace_steps.h"

namespace busbar {
namespace {

std::string event(const std::string& category, const std::string& name, double begin_us, double length_us,
                  const std::string& arguments = "") {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 1, "ts": {:.3f}, "dur": {:.3f}, "args": {{{}}}}})",
      category, name, begin_us, length_us, arguments);
}

std::string metadata(const std::string& collective, std::int64_t elements, const std::string& group) {
  return fmt::format(
      R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Group size": 2, "dtype": "BFloat16", )"
      R"("Process Group Name": "1", "Process Group Description": "{}", "Process Group Ranks": "[0, 1]")",
      collective, elements, elements, group);
}

class Traces : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  RankTrace trace(int rank, const std::vector<std::string>& events) {
    return read_rank_trace(
        write(fmt::format("rank{}.json", rank),
              fmt::format(R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [{}]}})",
                          rank, fmt::join(events, ",\n"))));
  }
  TemporaryFolder folder_;
};

const std::string kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Rank 1 arrives 30 us late; its call of 20 us is the transfer. Rank 0 computes for 40 of the 100 us; its
// call begins as the kernel ends and waits 30 us. Clocks differ by 5 s.
TEST_F(Traces, TheShorterCallIsTheTransferAndTheRestOfTheOtherIsWaiting) {
  std::vector<RankTrace> traces;
  traces.push_back(
      trace(0, {event("user_annotation", "ProfilerStep#3", 0, 100), event("kernel", "gemm", 0, 40),
                event("kernel", kAllReduce, 40, 50, metadata("allreduce", 1000, "default_pg"))}));
  const double later = 5e6;
  traces.push_back(
      trace(1, {event("user_annotation", "ProfilerStep#3", later, 100), event("kernel", "gemm", later, 70),
                event("kernel", kAllReduce, later + 70, 20, metadata("allreduce", 1000, "default_pg"))}));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_TRUE(step.waiting_separated);
  EXPECT_EQ(step.time, Time::from_microseconds(100));
  ASSERT_EQ(step.ranks.size(), 2U);
  const MeasuredSplit& early = step.ranks[0].split;
  EXPECT_EQ(early.compute, Time::from_microseconds(40));
  EXPECT_EQ(early.waiting, Time::from_microseconds(30));
  EXPECT_EQ(early.exposed, Time::from_microseconds(20));
  EXPECT_EQ(early.idle, Time::from_microseconds(10));
  EXPECT_EQ(step.ranks[1].split.waiting, Time::zero());
  EXPECT_EQ(step.split->compute, Time::from_microseconds(55));  // mean of 40 and 70
  ASSERT_EQ(step.collectives.size(), 1U);
  EXPECT_EQ(step.collectives[0].time, Time::from_microseconds(20));
  EXPECT_EQ(step.collectives[0].bytes, Bytes(2000));
  EXPECT_EQ(step.groups.at(0).name, "default_pg");
  EXPECT_EQ(step.groups.at(0).exposed, Time::from_microseconds(20));
}

TEST_F(Traces, OneRankAloneCannotTellWaitingAndSaysSo) {
  std::vector<RankTrace> traces;
  traces.push_back(
      trace(0, {event("user_annotation", "ProfilerStep#3", 0, 100), event("kernel", "gemm", 0, 40),
                event("kernel", kAllReduce, 40, 50, metadata("allreduce", 1000, "default_pg"))}));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_FALSE(step.waiting_separated);
  EXPECT_EQ(step.split->exposed, Time::from_microseconds(50));
  bool said = false;
  for (const std::string& note : step.notes)
    said = said || note.find("1 rank read: waiting") != std::string::npos;
  EXPECT_TRUE(said);
}

// The profiler of rank 1 stopped before its second call was written.
TEST_F(Traces, AStepInWhichTheRanksCallsDifferIsLeftOut) {
  const auto events = [](bool last_call) {
    std::vector<std::string> list;
    for (const double begin : {0.0, 100.0}) {
      list.push_back(event("user_annotation", begin == 0 ? "ProfilerStep#1" : "ProfilerStep#2", begin, 100));
      list.push_back(event("kernel", "gemm", begin, 40));
      if (begin == 0 || last_call)
        list.push_back(
            event("kernel", kAllReduce, begin + 40, 50, metadata("allreduce", 1000, "default_pg")));
    }
    return list;
  };
  std::vector<RankTrace> traces;
  traces.push_back(trace(0, events(true)));
  traces.push_back(trace(1, events(false)));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_EQ(step.steps, 1U);
  EXPECT_TRUE(step.waiting_separated);
  EXPECT_DOUBLE_EQ(step.collectives.at(0).count, 1);
}

TEST_F(Traces, StepsLastFromMarkerToMarkerAndHaveMedians) {
  std::vector<RankTrace> traces;
  traces.push_back(trace(
      0,
      {event("user_annotation", "ProfilerStep#1", 0, 90), event("user_annotation", "ProfilerStep#2", 100, 95),
       event("user_annotation", "ProfilerStep#3", 220, 80), event("kernel", "gemm", 10, 30),
       event("kernel", "gemm", 110, 50), event("kernel", "gemm", 230, 40),
       event("gpu_user_annotation", "ProfilerStep#1", 5, 90)}));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_EQ(step.steps, 3U);  // 100, 120 and 80 us
  EXPECT_EQ(step.time, Time::from_microseconds(100));
  EXPECT_EQ(step.p10, Time::from_microseconds(80));
  EXPECT_EQ(step.p90, Time::from_microseconds(120));
  EXPECT_EQ(step.split->compute, Time::from_microseconds(40));  // of 30, 50 and 40
}

// The kernel's launch lies in nccl:_all_gather_base, whose input is one rank's part.
TEST_F(Traces, AGatherOnTheHostIsOfOneRanksPart) {
  std::vector<RankTrace> traces;
  traces.push_back(trace(0, {event("user_annotation", "ProfilerStep#1", 0, 90),
                             event("user_annotation", "nccl:_all_gather_base", 10, 20,
                                   R"("Input Dims": [[8, 16]], "Input type": ["c10::BFloat16"])"),
                             event("cuda_runtime", "cudaLaunchKernel", 15, 2, R"("correlation": 77)"),
                             event("kernel", "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", 30, 20,
                                   R"("correlation": 77)")}));
  const MeasuredStep step = step_of(std::move(traces));
  ASSERT_EQ(step.collectives.size(), 1U);
  EXPECT_EQ(step.collectives[0].operation, CollectiveKind::kAllGather);
  EXPECT_EQ(step.collectives[0].bytes, Bytes(8 * 16 * 2 * 2));
}

// PyTorch names the other end alone.
TEST_F(Traces, WaitingForAPeerOfASendIsBubble) {
  const auto message = [](const char* name) {
    return fmt::format(
        R"("Collective name": "{}", "In msg nelems": 10, "Out msg nelems": 10, "Group size": 2, "dtype": "Float", {})",
        name, name == std::string("send") ? R"("Dst Rank": 1)" : R"("Src Rank": 0)");
  };
  std::vector<RankTrace> traces;
  const std::string kernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
  traces.push_back(
      trace(0, {event("user_annotation", "ProfilerStep#1", 0, 100), event("kernel", "gemm", 0, 60),
                event("kernel", kernel, 60, 10, message("send"))}));
  traces.push_back(
      trace(1, {event("user_annotation", "ProfilerStep#1", 0, 100), event("kernel", "gemm", 70, 30),
                event("kernel", kernel, 0, 70, message("recv"))}));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_EQ(step.ranks.at(1).split.bubble, Time::from_microseconds(60));
  EXPECT_EQ(step.ranks.at(1).split.exposed, Time::from_microseconds(10));
  EXPECT_EQ(step.ranks.at(0).split.bubble, Time::zero());
}

TEST_F(Traces, StepsAndRanksThatDoNotBelongTogetherAreSaid) {
  const auto one = [&](int rank, std::vector<int> steps, double scale) {
    std::vector<std::string> events;
    for (const int s : steps) {
      events.push_back(
          event("user_annotation", fmt::format("ProfilerStep#{}", s), 100 * scale * s, 90 * scale));
      events.push_back(event("kernel", "gemm", 100 * scale * s, 100 * scale));
    }
    return trace(rank, events);
  };
  std::vector<RankTrace> traces;
  traces.push_back(one(0, {1, 2, 3}, 1));
  traces.push_back(one(1, {1, 2}, 1000));  // nanoseconds taken for microseconds
  const MeasuredStep step = step_of(std::move(traces));
  const auto noted = [&](const std::string& part) {
    return std::any_of(step.notes.begin(), step.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(noted("ProfilerStep#3 left out: not in every trace"));
  EXPECT_TRUE(noted("100 us on rank 0 and 95 ms on rank 1"));
  std::vector<RankTrace> beyond;
  beyond.push_back(one(2, {1}, 1));
  EXPECT_NE(error_of([&] { static_cast<void>(step_of(std::move(beyond))); }).find("a rank below 2"),
            std::string::npos);
}

// NCCL's calls return before anything is sent.
TEST_F(Traces, CallsOfNcclWithoutKernelsAreNoTransfers) {
  std::vector<RankTrace> traces;
  traces.push_back(
      trace(0, {event("user_annotation", "ProfilerStep#1", 0, 100), event("cpu_op", "aten::mm", 0, 50),
                event("user_annotation", "nccl:all_reduce", 60, 5)}));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_TRUE(step.collectives.empty());
  EXPECT_TRUE(std::any_of(step.notes.begin(), step.notes.end(), [](const std::string& note) {
    return note.find("transfers are not in this trace") != std::string::npos;
  }));
}

// What PyTorch writes without Kineto: a list, operators by name alone, times relative to the start.
TEST_F(Traces, APlainListOfOperatorsIsRead) {
  const std::string path = write(
      "trace-1.json",
      R"([{"name": "ProfilerStep#0", "ph": "X", "ts": 0, "dur": 100, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "aten::linear", "ph": "X", "ts": 10, "dur": 40, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "aten::addmm", "ph": "X", "ts": 15, "dur": 30, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "c10d::allreduce_", "ph": "X", "ts": 50, "dur": 1, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "gloo:all_reduce", "ph": "X", "ts": 50, "dur": 30, "tid": 2, "pid": "CPU functions", "args": {}},
          {"name": "gloo:all_reduce", "ph": "X", "ts": 80, "dur": 10, "tid": 3, "pid": "CPU functions", "args": {}}])");
  std::vector<RankTrace> traces;
  traces.push_back(read_rank_trace(path));
  const MeasuredStep step = step_of(std::move(traces));
  EXPECT_EQ(step.split->compute, Time::from_microseconds(40));
  EXPECT_EQ(step.split->exposed, Time::from_microseconds(40));
  EXPECT_EQ(step.split->idle, Time::from_microseconds(20));
  ASSERT_EQ(step.collectives.size(), 2U);  // their sizes are not there: each stands for itself
  EXPECT_EQ(step.collectives[0].position, 0U);
  EXPECT_EQ(step.collectives[1].position, 1U);
  EXPECT_FALSE(step.collectives[0].bytes);
}

TEST_F(Traces, WholeMicrosecondsOfTheEpochKeepTheirFractions) {
  const std::string path = write(
      "rank0.json",
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1694128201426674.125, "dur": 3.25, "args": {}}]})");
  const RankTrace trace = read_rank_trace(path);
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.kernels[0].begin, 1694128201426674125);
  EXPECT_EQ(trace.kernels[0].end - trace.kernels[0].begin, 3250);
}

TEST_F(Traces, ACutFileIsAnErrorWithItsLine) {
  const std::string path = write("cut.json", "{\"traceEvents\": [\n{\"ph\": \"X\",\n \"ts\": 12");
  const std::string error = error_of([&] { static_cast<void>(read_rank_trace(path)); });
  EXPECT_NE(error.find(path + ":3: not JSON"), std::string::npos) << error;
  EXPECT_NE(error.find("the file may be cut"), std::string::npos) << error;
}

TEST_F(Traces, TwoFilesOfOneRankAreAnError) {
  std::vector<RankTrace> traces;
  for (int i = 0; i < 2; ++i)
    traces.push_back(
        trace(1, {event("user_annotation", "ProfilerStep#3", 0, 100), event("kernel", "gemm", 0, 40)}));
  EXPECT_NE(error_of([&] { static_cast<void>(step_of(std::move(traces))); }).find("a second one of rank 1"),
            std::string::npos);
}

TEST(TraceNames, OperationsAreFoundUnderTheirManyNames) {
  EXPECT_EQ(operation_called("_allgather_base"), CollectiveKind::kAllGather);
  EXPECT_EQ(operation_called("nccl:_reduce_scatter_base"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(operation_called("reduce_scatter_tensor_coalesced"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(operation_called("all_to_allv"), CollectiveKind::kAllToAll);
  EXPECT_EQ(operation_called("allgather_into_tensor_coalesced"), CollectiveKind::kAllGather);
  EXPECT_EQ(operation_called("recv 0<-1"), CollectiveKind::kSendRecv);
  EXPECT_EQ(operation_called("wait"), std::nullopt);
  EXPECT_EQ(operation_in_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"),
            CollectiveKind::kReduceScatter);
  EXPECT_TRUE(is_communication_kernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"));
  EXPECT_FALSE(is_communication_kernel("ampere_bf16_s16816gemm"));
}

TEST(TraceNames, RanksComeFromFileNames) {
  EXPECT_EQ(rank_in_name("a/b.rank-34.Jul_15.pt.trace.json.gz"), 34);
  EXPECT_EQ(rank_in_name("worker3.json"), 3);
  EXPECT_EQ(rank_in_name("rank_0/trace.json"), std::nullopt);
}

}  // namespace
}  // namespace busbar
