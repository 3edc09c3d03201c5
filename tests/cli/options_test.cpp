#include <gtest/gtest.h>

#include <functional>

#include "sim/base/error.h"
#include "sim/cli/simulate_options.h"
#include "tests/support/errors.h"

namespace busbar {
namespace {

std::vector<std::int64_t> counts(std::string_view text) {
  std::vector<std::int64_t> list;
  for (const Bytes b : parse_sizes(text)) list.push_back(b.count());
  return list;
}

TEST(Sizes, GrowByTheFactorUpToTheLast) {
  EXPECT_EQ(counts("8:64:2"), (std::vector<std::int64_t>{8, 16, 32, 64}));
  EXPECT_EQ(counts("1K:5K:2"), (std::vector<std::int64_t>{1024, 2048, 4096}));
  EXPECT_EQ(counts("8:8G:2").size(), 31U);
  EXPECT_EQ(counts("8:8G:2").back(), std::int64_t{8} << 30);
  EXPECT_EQ(counts("4:9:1.5"), (std::vector<std::int64_t>{4, 6, 9}));
  EXPECT_EQ(counts("16:16:2"), (std::vector<std::int64_t>{16}));
}

TEST(Sizes, MayBeAList) {
  EXPECT_EQ(counts("1K,4K:16K:2,1G"), (std::vector<std::int64_t>{1024, 4096, 8192, 16384, 1 << 30}));
}

TEST(Sizes, AreBoundedOverTheWholeList) {
  std::string text = "1G:8G:1.000003";  // about 700,000
  EXPECT_EQ(error_of([&] { static_cast<void>(parse_sizes(text)); }), "no error");
  text += "," + text;
  EXPECT_NE(error_of([&] { static_cast<void>(parse_sizes(text)); }).find("at most 1000000 sizes"),
            std::string::npos);
}

TEST(Ranks, KeepTheOrderOfTheList) {
  EXPECT_EQ(parse_ranks("4,0-2,8-12:2", 16), (std::vector<std::uint32_t>{4, 0, 1, 2, 8, 10, 12}));
}

TEST(Ranks, AreNamedOnceAndWithinTheCluster) {
  const auto error = [](const char* text) {
    return error_of([&] { static_cast<void>(parse_ranks(text, 16)); });
  };
  EXPECT_NE(error("0-7,4").find("each rank once"), std::string::npos);
  EXPECT_NE(error("0-16").find("ranks below 16"), std::string::npos);
  EXPECT_NE(error("0-").find("ranks such as"), std::string::npos);
  EXPECT_NE(error("").find("ranks such as"), std::string::npos);
  EXPECT_NE(
      error_of([] { static_cast<void>(parse_ranks("5-2", 16, "--trace-ranks")); }).find("--trace-ranks"),
      std::string::npos);
}

TEST(Options, ReadALineIntoPlainData) {
  const char* line[] = {"simulate", "--topology", "t.json",     "--collective", "AllReduce",
                        "--sizes",  "8:16:2",     "--protocol", "ll128",        "--channels",
                        "4",        "--type",     "bf16"};
  int exit_code = 0;
  const auto o = parse_simulate(13, line, exit_code);
  ASSERT_TRUE(o);
  EXPECT_EQ(o->collective, CollectiveKind::kAllReduce);
  EXPECT_EQ(o->sizes.size(), 2U);
  EXPECT_EQ(o->overrides.protocol, Protocol::kLl128);
  EXPECT_EQ(o->overrides.channels, 4);
  EXPECT_EQ(o->type, DataType::kBf16);
}

}  // namespace
}  // namespace busbar
