// Which reader a file gets, by what it holds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/temporary_folder.h"
#include "validate/import/measured_input.h"

namespace busbar {
namespace {

class InputKinds : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  static MeasuredInput read(const std::string& path) { return read_measured_inputs(std::vector{path}); }
  TemporaryFolder folder_;
};

TEST_F(InputKinds, StepsOfOurOwnFormatAreRead) {
  const MeasuredInput input = read(write("m.json",
                                         R"({"schema": "busbar.measured/1", "origin": "synthetic",
          "steps": [{"step_time_s": 0.5, "p10_s": 0.49, "p90_s": 0.52, "settings": {"gpus": 16, "batch.global": 32}},
                    {"step_time_s": 1.0, "compute_s": 0.6, "communication_s": 0.5, "exposed_communication_s": 0.2,
                     "straggler_wait_s": 0.1, "bubble_s": 0, "idle_s": 0.1}]})"));
  ASSERT_EQ(input.steps.size(), 2U);
  EXPECT_TRUE(input.collectives.tables.empty());
  EXPECT_EQ(input.steps[0].time, Time::from_seconds(0.5));
  EXPECT_EQ(input.steps[0].settings.size(), 2U);
  EXPECT_FALSE(input.steps[0].split);
  EXPECT_EQ(input.steps[1].split->exposed, Time::from_seconds(0.2));
}

TEST_F(InputKinds, AnUnknownKeyOrHalfASplitOfAStepIsAnError) {
  const auto error = [&](const std::string& step) {
    const std::string path = write("m.json", R"({"schema": "busbar.measured/1", "steps": [)" + step + "]}");
    return error_of([&] { static_cast<void>(read(path)); });
  };
  EXPECT_NE(error(R"({"step_time_s": 1, "setings": {}})").find("did you mean 'settings'"), std::string::npos);
  EXPECT_NE(error(R"({"step_time_s": 1, "settings": {"gpu": 8}})").find("'gpus'"), std::string::npos);
  EXPECT_NE(error(R"({"step_time_s": 1, "compute_s": 0.5})").find("communication_s"), std::string::npos);
  EXPECT_NE(error(R"({"step_time_s": 0})").find("a time above 0"), std::string::npos);
}

TEST_F(InputKinds, TablesOfCollectivesAreReadPackedOrNot) {
  const std::string path =
      write("all_reduce.csv", "operation,size_bytes,ranks,time_us\nall_reduce,1048576,8,50\n");
  EXPECT_EQ(read(path).collectives.tables.size(), 1U);
  ASSERT_EQ(std::system(("gzip '" + path + "'").c_str()), 0);
  EXPECT_EQ(read(path + ".gz").collectives.tables.size(), 1U);
}

TEST_F(InputKinds, ACutPackedFileIsAnError) {
  const std::string path = write("log", std::string(200000, 'x') + " elapsed time per iteration (ms): 1 ");
  ASSERT_EQ(std::system(("gzip '" + path + "' && truncate -s -20 '" + path + ".gz'").c_str()), 0);
  EXPECT_NE(error_of([&] { static_cast<void>(read(path + ".gz")); }).find("damaged or cut"),
            std::string::npos);
}

TEST_F(InputKinds, AnythingElseIsRefusedWithWhatIsKnown) {
  const std::string path = write("x.txt", "hello\n");
  const std::string error = error_of([&] { static_cast<void>(read(path)); });
  EXPECT_NE(error.find("x.txt: expected what was measured"), std::string::npos) << error;
  EXPECT_NE(error.find("torchtitan"), std::string::npos);
  EXPECT_NE(error_of([&] { static_cast<void>(read(folder_.file("none"))); }).find("cannot be opened"),
            std::string::npos);
}

}  // namespace
}  // namespace busbar
