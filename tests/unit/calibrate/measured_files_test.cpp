// The JSON of nccl-tests, CSV, busbar.measured/1, and telling them apart.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "calibrate/import/measured_csv.h"
#include "calibrate/import/measured_json.h"
#include "calibrate/import/nccl_tests_json.h"
#include "calibrate/import/read_measured.h"
#include "calibrate/import/text_scan.h"
#include "tests/support/errors.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

const std::string kNcclJson =
    R"({"version": 3, "start_time": "x", "args": ["\/opt\/all_gather_perf", "-b", "8"],
  "env": ["NCCL_DEBUG=WARN"], "nccl_version": 22809,
  "config": {"nthreads": 1, "ngpus": 4, "graph": "false", "devices": [
    {"rank": 0, "group": 0, "pid": 7, "hostname": "a", "device": 0,
     "device_hex": "0x1b", "device_info": "GPU X"},
    {"rank": 1, "group": 0, "pid": 7, "hostname": "a", "device": 1,
     "device_hex": "0x1c", "device_info": "GPU X"}]},
  "results": [
    {"size": 0, "count": 0, "type": "   float", "redop": "  none", "root": "    -1",
     "out_of_place": {"time": 1.0, "alg_bw": 0.0, "bus_bw": 0.0, "nwrong": 0}, "in_place": null},
    {"size": 1048576, "count": 131072, "type": "   float", "redop": "  none", "root": "    -1",
     "out_of_place": {"time": 104.8, "alg_bw": 10.005496, "bus_bw": 5.002748, "nwrong": 0},
     "in_place": {"time": 100.0, "alg_bw": 10.48576, "bus_bw": 5.24288, "nwrong": 0}},
    {"size": 2097152, "count": 262144, "type": "   float", "redop": "  none", "root": "    -1",
     "out_of_place": {"time": "nan", "alg_bw": "nan", "bus_bw": "nan", "nwrong": null}, "in_place": null}],
  "out_of_bounds": {"count": 0, "okay": "true"}, "errors": [], "end_time": "y"})";

MeasuredTable only(const Measurement& m) {
  EXPECT_EQ(m.tables.size(), 1U);
  return m.tables.at(0);
}

TEST(NcclTestsJson, ReadsConfigurationAndResults) {
  const MeasuredTable t = only(read_nccl_tests_json(kNcclJson, "r.json"));
  EXPECT_EQ(t.operation, CollectiveKind::kAllGather);
  EXPECT_EQ(t.ranks, 2);
  EXPECT_EQ(t.hosts, 1);
  EXPECT_EQ(t.gpus_per_process, 2);  // by the processes of the devices
  EXPECT_EQ(t.nccl_version, "2.28.9");
  EXPECT_EQ(t.cuda_graph, false);
  EXPECT_EQ(t.gpu, "GPU X");
  ASSERT_EQ(t.rows.size(), 1U);
  EXPECT_EQ(t.rows[0].time, Time::from_microseconds(104.8));
  EXPECT_EQ(t.rows[0].time_in_place, Time::from_microseconds(100.0));
  EXPECT_EQ(t.notes,
            (std::vector<std::string>{"1 result without a time left out", "1 row of size 0 left out"}));
}

TEST(NcclTestsJson, TakesWhatAFileThatEndsEarlyHas) {
  const std::size_t cut = kNcclJson.find("\"size\": 2097152");
  const MeasuredTable t = only(read_nccl_tests_json(kNcclJson.substr(0, cut), "r.json"));
  EXPECT_EQ(t.rows.size(), 1U);
  EXPECT_EQ(t.notes.front(), "the file ends early; what it has is taken");
  // Wherever it is cut, it is read or refused.
  for (std::size_t end = 0; end < kNcclJson.size(); ++end)
    (void)error_of([&] { (void)read_nccl_tests_json(kNcclJson.substr(0, end), "r.json"); });
}

TEST(NcclTestsJson, ClosesOnlyWhatIsOpen) {
  EXPECT_EQ(closed_json(R"({"a": [1, {"b": 2}, {"c)"), R"({"a": [1, {"b": 2}]})");
  EXPECT_EQ(closed_json(R"({"a": "}]"})"), R"({"a": "}]"})");
  EXPECT_EQ(closed_json(R"({"a": 1)"), R"({"a": 1)");
  EXPECT_EQ(closed_json("]"), "]");
}

TEST(NcclTestsJson, ReadsHostTimesWithANote) {
  const MeasuredTable t = only(read_nccl_tests_json(
      R"({"results": [{"size": 8, "type": "float", "redop": "sum", "root": "0",
          "out_of_place": {"cpu_time": 3.5}}]})",
      "reduce.json"));
  EXPECT_EQ(t.operation, CollectiveKind::kReduce);
  EXPECT_EQ(t.root, 0);
  EXPECT_EQ(t.notes.front(), "the times are the host's (cpu_time)");
}

TEST(NcclTestsJson, SaysWhatIsWrong) {
  EXPECT_EQ(error_of([] { (void)read_nccl_tests_json("{}", "r.json"); }),
            "r.json: expected the JSON of nccl-tests with \"results\", got none");
  EXPECT_EQ(error_of([] { (void)read_nccl_tests_json(R"({"results": []})", "r.json"); }),
            "r.json: holds no measured row that can be used");
}

const std::string kColumns =
    "size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw_GBps,oop_busbw_GBps,ip_time_us,ip_algbw_GBps,"
    "ip_busbw_GBps\n";

TEST(MeasuredCsv, ReadsOneTableWithNcclTestsColumns) {
  const std::string text =
      "# made up\n" + kColumns + "1048576,262144,float,sum,-1,104.8,10.01,17.51,100.0,10.49,18.35\n" +
      "2097152,524288,float,sum,-1,209.7,10.00,17.50,,,\n" + "4194304,1048576,float,sum,-1,,,,,,\n";
  const MeasuredTable t = only(read_measured_csv(text, "x_all_reduce.csv"));
  EXPECT_EQ(t.operation, CollectiveKind::kAllReduce);
  EXPECT_EQ(t.ranks, 8);
  EXPECT_EQ(t.reduction, Reduction::kSum);
  EXPECT_EQ(t.source, "x_all_reduce.csv:3");
  ASSERT_EQ(t.rows.size(), 2U);
  EXPECT_EQ(t.rows[0].time_in_place, Time::from_microseconds(100));
  EXPECT_FALSE(t.rows[1].time_in_place);
}

TEST(MeasuredCsv, SplitsOperationsAndRanks) {
  const Measurement m = read_measured_csv(
      "op,dtype,n_gpus,size_bytes,time_us\nall_gather,half,2,512,9.0\nall_gather,half,4,512,9.5\n"
      "all_gather,half,2,1024,9.1\nalltoall,half,2,512,8.0\n",
      "t.csv");
  ASSERT_EQ(m.tables.size(), 3U);
  EXPECT_EQ(m.tables[0].ranks, 2);
  EXPECT_EQ(m.tables[0].rows.size(), 2U);
  EXPECT_EQ(m.tables[1].ranks, 4);
  EXPECT_EQ(m.tables[2].operation, CollectiveKind::kAllToAll);
}

TEST(MeasuredCsv, TakesWhatIsMissingFromTheHints) {
  const MeasuredTable t = only(read_measured_csv("size,time\n1024,10\n", "t.csv",
                                                 {.operation = CollectiveKind::kBroadcast, .ranks = 16}));
  EXPECT_EQ(t.operation, CollectiveKind::kBroadcast);
  EXPECT_EQ(t.ranks, 16);
  EXPECT_EQ(only(read_measured_csv("size,time\n1024,10\n", "broadcast.csv")).ranks, 0);
}

TEST(MeasuredCsv, ReadsTheExportOfRcclTests) {
  const MeasuredTable t = only(read_measured_csv(
      "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,wrong\n"
      "0,\"AllReduce\",8,1048576,\"float\",\"sum\",0,104.857600,10.000000,17.500000,\"0\"\n"
      "0,\"AllReduce\",8,1048576,\"float\",\"sum\",1,100.000000,10.485760,18.350080,\"0\"\n",
      "t.csv"));
  ASSERT_EQ(t.rows.size(), 1U);
  EXPECT_EQ(t.ranks, 8);
  EXPECT_EQ(t.rows[0].time_in_place, Time::from_microseconds(100));
}

TEST(MeasuredCsv, TakesARowInPlaceAloneForBoth) {
  const MeasuredTable t = only(read_measured_csv("op,size,time,inplace\nreduce,8,3,1\n", "t.csv"));
  EXPECT_EQ(t.rows.at(0).time, Time::from_microseconds(3));
  EXPECT_EQ(t.rows.at(0).time_in_place, Time::from_microseconds(3));
  EXPECT_EQ(t.notes.size(), 1U);
}

TEST(MeasuredCsv, SplitsQuotedFields) {
  EXPECT_EQ(csv_fields(R"(a, "b,c" ,"d""e",)"), (std::vector<std::string>{"a", "b,c", "d\"e", ""}));
}

std::string csv_error(const std::string& text) {
  return error_of([&] { (void)read_measured_csv(text, "t.csv"); });
}

TEST(MeasuredCsv, SaysWhatIsWrong) {
  const std::string header =
      "expected a header line with the columns size_bytes and oop_time_us or time_us, got ";
  EXPECT_EQ(csv_error("a,b\n"), "t.csv:1: " + header + "'a,b'");
  EXPECT_EQ(csv_error(""), "t.csv:0: " + header + "nothing");
  EXPECT_EQ(csv_error("size,time\n8\n"), "t.csv:2: expected as many fields as the header has, 2, got 1");
  EXPECT_EQ(csv_error("size,time\n1,048,576\n"),
            "t.csv:2: expected as many fields as the header has, 2, got 3");
  EXPECT_EQ(csv_error("size,time\nx,1\n"), "t.csv:2: expected a whole number of at least 0, got 'x'");
  EXPECT_EQ(csv_error("size,time\n,1\n"), "t.csv:2: expected a size in bytes, got ''");
  EXPECT_EQ(csv_error("size,time\n8,y\n"), "t.csv:2: expected a number, got 'y'");
  EXPECT_EQ(csv_error("size,time\n8,-1\n"), "t.csv:2: expected a number, got '-1'");
  EXPECT_EQ(csv_error("size,time,ranks\n8,1,0\n"), "t.csv:2: expected a whole number of at least 1, got '0'");
  EXPECT_EQ(csv_error("op,size,time\nall_gathr,8,1\n"),
            "t.csv:2: expected an operation, got 'all_gathr'; did you mean 'all_gather'?");
  EXPECT_EQ(csv_error("size,time\n8," + std::string(70000, '1') + "\n"),
            "t.csv:2: expected at most 64 KiB in a line, got more");
  EXPECT_NE(csv_error("size,time\n8,1\n").find("--collective"), std::string::npos);
  EXPECT_EQ(csv_error("op,size,time\nreduce,8,\n"), "t.csv: holds no measured row that can be used");
}

Measurement measured_json(const std::string& rows, const std::string& more = "", ImportHints hints = {}) {
  const std::string text = R"({"schema": "busbar.measured/1")" + more + R"(, "collectives": [)" + rows + "]}";
  return read_measured_json(JsonDocument::parse(text, "m.json"), hints);
}

TEST(MeasuredJson, ReadsRowsByOperationAndRanks) {
  const Measurement m = measured_json(
      R"({"operation": "all_reduce", "size_bytes": 1024, "ranks": 8, "time_s": 2e-5, "algorithm": "ring",
          "protocol": "LL", "channels": 4},
         {"operation": "all_reduce", "size_bytes": 1024, "ranks": 8, "time_s": 1.9e-5, "in_place": true,
          "algorithm": "ring", "protocol": "LL"},
         {"operation": "reduce", "size_bytes": 8, "time_s": 1e-5, "in_place": true})",
      R"(, "source": "here", "origin": "measured-here", "topology": "dgx.json", "steps": [])", {.ranks = 4});
  ASSERT_EQ(m.tables.size(), 2U);
  EXPECT_EQ(m.tables[0].source, "m.json: here");
  ASSERT_EQ(m.tables[0].rows.size(), 1U);
  const MeasuredRow& row = m.tables[0].rows[0];
  EXPECT_EQ(row.algorithm, "ring");
  EXPECT_EQ(row.protocol, "LL");
  EXPECT_EQ(row.channels, 4);
  EXPECT_EQ(row.time, Time::from_microseconds(20));
  EXPECT_EQ(row.time_in_place, Time::from_microseconds(19));
  EXPECT_EQ(m.tables[1].ranks, 4);
  EXPECT_EQ(m.tables[1].notes.size(), 1U);
}

TEST(MeasuredJson, SaysWhatIsWrong) {
  const auto error = [](const std::string& rows, const std::string& more = "") {
    return error_of([&] { (void)measured_json(rows, more); });
  };
  EXPECT_EQ(error(""), "m.json: holds no measured collective or kernel");
  EXPECT_NE(error(R"({"operation": "all_reduse", "size_bytes": 8, "time_s": 1})")
                .find("did you mean 'all_reduce'?"),
            std::string::npos);
  EXPECT_NE(error(R"({"operation": "reduce", "size_bytes": 8, "time_s": 0})").find("expected a time above 0"),
            std::string::npos);
  EXPECT_NE(error("", R"(, "origin": "publishd")").find("did you mean 'published'?"), std::string::npos);
  EXPECT_NE(error("", R"(, "colectives": 1)").find("did you mean 'collectives'?"), std::string::npos);
  EXPECT_NE(error_of([] {
              (void)read_measured_json(JsonDocument::parse(R"({"schema": "x"})", "m"));
            }).find("busbar.measured/1"),
            std::string::npos);
}

TEST(ReadMeasured, TellsTheKindsApart) {
  const std::string log =
      "# size count type redop root time algbw busbw #wrong\n"
      "1048576 262144 float sum -1 104.8 10.01 17.51 0\n";
  EXPECT_EQ(only(read_measured_text(log, "a.log")).ranks, 8);
  EXPECT_EQ(only(read_measured_text("{'CUDA_HOME': '/usr'}\n" + log, "a.log")).ranks, 8);
  EXPECT_EQ(only(read_measured_text("[1,0]<stdout>:hello\n" + log, "a.log")).ranks, 8);
  EXPECT_EQ(only(read_measured_text("op,n_gpus,size_bytes,time_us\nreduce,2,8,1\n", "a")).ranks, 2);
  EXPECT_EQ(only(read_measured_text(kNcclJson, "a")).ranks, 2);
  EXPECT_EQ(only(read_measured_text(
                     "// ours\n/* too */ {\"schema\": \"busbar.measured/1\", \"collectives\": "
                     "[{\"operation\": \"reduce\", \"size_bytes\": 8, \"ranks\": 3, \"time_s\": 1}]}",
                     "a"))
                .ranks,
            3);
}

TEST(ReadMeasured, NamesTheKindsItKnows) {
  const std::string kinds =
      "expected measured collectives: the text or JSON (-J) of nccl-tests or rccl-tests, output of the OSU "
      "benchmarks, lines of NCCL's inspector, CSV with size_bytes and oop_time_us or time_us, or "
      "busbar.measured/1, got ";
  const auto error = [](const std::string& text) {
    return error_of([&] { (void)read_measured_text(text, "a"); });
  };
  EXPECT_EQ(error(""), "a: " + kinds + "an empty file");
  EXPECT_EQ(error("hello\n"), "a: " + kinds + "something else");
  EXPECT_EQ(error("{}"), "a: " + kinds + "other JSON");
  EXPECT_EQ(error(R"({"schema": "busbar.topology/1"})"), "a: " + kinds + "'busbar.topology/1'");
}

TEST(ReadMeasured, ReadsFilesAndRefusesMissingOnes) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.file("all_reduce.csv");
  std::ofstream(path) << "\xef\xbb\xbfsize,time,ranks\r\n1024,10,4\r\n";
  EXPECT_EQ(only(read_measured(path.string())).ranks, 4);
  std::ofstream wide(path, std::ios::binary);
  wide << "\xff\xfe";
  for (const char c : std::string("size,time,ranks\r\n1024,10,6\r\n")) wide << c << '\0';
  wide.close();
  EXPECT_EQ(only(read_measured(path.string())).ranks, 6);
  EXPECT_EQ(error_of([&] { (void)read_measured("/nowhere/x.csv"); }),
            "/nowhere/x.csv: cannot be opened: No such file or directory");
}

TEST(TextScan, KnowsNcclsNumbersOfVersions) {
  EXPECT_EQ(version_of_code(22602), "2.26.2");
  EXPECT_EQ(version_of_code(2708), "2.7.8");
  EXPECT_EQ(version_of_code(0), "");
  EXPECT_EQ(version_prefix("2.26.2+cuda."), "2.26.2");
  EXPECT_EQ(version_prefix("unknown"), "");
}

}  // namespace
}  // namespace busbar
