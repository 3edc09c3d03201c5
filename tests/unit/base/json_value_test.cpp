// One value of a document: see json_reader_test.cpp for the document itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "tests/support/errors.h"

namespace busbar {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

JsonDocument document(std::string text) { return JsonDocument::parse(std::move(text), "t.json"); }
JsonValue value(std::string text) { return document(std::move(text)).root(); }

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

TEST(JsonValue, KnowsItsType) {
  EXPECT_TRUE(value("{}").is_object());
  EXPECT_TRUE(value("[]").is_array());
  EXPECT_TRUE(value("\"\"").is_string());
  EXPECT_TRUE(value("1").is_number());
  EXPECT_TRUE(value("1.5").is_number());
  EXPECT_TRUE(value("false").is_boolean());
  EXPECT_TRUE(value("null").is_null());
  EXPECT_FALSE(value("null").is_object());
}

TEST(JsonValue, NamesItsPlaceAsAJsonPointer) {
  const JsonValue root = value(R"({"links": [{"a/b~c": 1}]})");
  EXPECT_EQ(root.where(), "t.json");
  EXPECT_EQ(root.at("links").items()[0].where(), "t.json#/links/0");
  EXPECT_EQ(root.at("links").items()[0].at("a/b~c").where(), "t.json#/links/0/a~1b~0c");
  EXPECT_EQ(value("{\"" + std::string(1000, 'x') + "\": 1}").at(std::string(1000, 'x')).where(),
            "t.json#/" + std::string(60, 'x') + "...");
}

TEST(JsonValue, KeepsTheOrderOfTheFile) {
  std::string text = "{";
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    names.push_back(fmt::format("k{}", i * 7919 % 1000));  // 7919 is prime: all 1000 numbers, mixed
    text += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", names.back(), i);
  }
  const JsonValue root = value(text + "}");
  EXPECT_EQ(root.keys(), names);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(root.at(names[static_cast<std::size_t>(i)]).integer(0, 999), i);
}

TEST(JsonValue, OutlivesItsDocument) {
  std::vector<JsonValue> items = value("[1, [2]]").items();
  EXPECT_EQ(items[1].items()[0].integer(0, 9), 2);
}

TEST(JsonValue, FindsOrMissesAKey) {
  const JsonValue root = value(R"({"links": [{"to": 1}]})");
  EXPECT_FALSE(root.find("nodes"));
  EXPECT_TRUE(root.find("links"));
  EXPECT_EQ(error_of([&] { (void)root.at("links").items()[0].at("from"); }),
            "t.json#/links/0: missing key 'from'");
}

TEST(JsonValue, SuggestsTheKeyThatWasMeant) {
  const JsonValue link = value(R"({"links": [{"bandwith": "1 GB/s"}]})").at("links").items()[0];
  EXPECT_EQ(error_of([&] {
              link.only_keys({"from", "to", "bandwidth"});
            }),
            "t.json#/links/0: unknown key 'bandwith'; did you mean 'bandwidth'?");
  EXPECT_EQ(error_of([&] {
              link.only_keys({"a", "b", "c"});
            }),
            "t.json#/links/0: unknown key 'bandwith'; allowed: a, b, c");
  EXPECT_EQ(error_of([&] { link.only_keys({"bandwith", "to"}); }), "no error");
  EXPECT_EQ(error_of([&] { value("[]").only_keys({"a"}); }), "t.json: expected an object, got '[]'");
}

TEST(JsonValue, SaysWhatItExpectedOfATypeAndWhatItGot) {
  const JsonValue one = value("1");
  EXPECT_EQ(error_of([&] { (void)one.at("a"); }), "t.json: expected an object, got 1");
  EXPECT_EQ(error_of([&] { (void)one.find("a"); }), "t.json: expected an object, got 1");
  EXPECT_EQ(error_of([&] { (void)one.keys(); }), "t.json: expected an object, got 1");
  EXPECT_EQ(error_of([&] { (void)one.items(); }), "t.json: expected an array, got 1");
  EXPECT_EQ(error_of([&] { (void)one.string(); }), "t.json: expected a string, got 1");
  EXPECT_EQ(error_of([&] { (void)one.boolean(); }), "t.json: expected true or false, got 1");
  EXPECT_EQ(error_of([&] { (void)value("\"true\"").boolean(); }),
            "t.json: expected true or false, got 'true'; a boolean takes no quotes");
  EXPECT_TRUE(value("true").boolean());
}

TEST(JsonValue, TakesWholeNumbersInEitherForm) {
  EXPECT_EQ(value("2").integer(1, 64), 2);
  EXPECT_EQ(value("2.0").integer(1, 64), 2);
  EXPECT_EQ(value("1e3").integer(kMin, kMax), 1000);
  EXPECT_EQ(value("-0").integer(0, 0), 0);
  EXPECT_EQ(value("9223372036854775807").integer(kMin, kMax), kMax);
  EXPECT_EQ(value("-9223372036854775808").integer(kMin, kMax), kMin);
}

TEST(JsonValue, SaysWhichWholeNumbersItTakes) {
  const auto error = [](const char* text, std::int64_t low, std::int64_t high) {
    return error_of([&] { (void)value(text).integer(low, high); });
  };
  EXPECT_EQ(error("2.5", 1, 64), "t.json: expected a whole number from 1 to 64, got 2.5");
  EXPECT_EQ(error("0", 1, kMax), "t.json: expected a whole number of at least 1, got 0");
  EXPECT_EQ(error("9", kMin, 8), "t.json: expected a whole number of at most 8, got 9");
  EXPECT_EQ(error("null", kMin, kMax), "t.json: expected a whole number, got null");
  EXPECT_EQ(error("\"4\"", 1, 8),
            "t.json: expected a whole number from 1 to 8, got '4'; a number takes no quotes");
  EXPECT_EQ(error("9223372036854775808", kMin, kMax),
            "t.json: expected a whole number, got 9.223372036854776e+18");
  EXPECT_EQ(error("1e300", kMin, kMax), "t.json: expected a whole number, got 1e+300");
  EXPECT_EQ(error("true", 0, 1), "t.json: expected a whole number from 0 to 1, got true");
}

TEST(JsonValue, TakesNumbersWithinBounds) {
  EXPECT_EQ(value("0.5").number(0, 1), 0.5);
  EXPECT_EQ(value("1").number(0, 1), 1);
  EXPECT_EQ(error_of([] { (void)value("1.5").number(0, 1); }),
            "t.json: expected a number from 0 to 1, got 1.5");
  EXPECT_EQ(error_of([] { (void)value("-1").number(0, kInfinity); }),
            "t.json: expected a number of at least 0, got -1");
  EXPECT_EQ(error_of([] { (void)value("[]").number(-kInfinity, kInfinity); }),
            "t.json: expected a number, got '[]'");
}

TEST(JsonValue, ReadsQuantities) {
  EXPECT_EQ(value("\"1.5 us\"").time(), Time::picoseconds(1'500'000));
  EXPECT_EQ(value("\"25 MiB\"").bytes(), 25_MiB);
  EXPECT_EQ(value("\"400 Gb/s\"").bandwidth(), Bandwidth::gigabytes_per_second(50));
  EXPECT_EQ(value("\"989 TFLOP/s\"").flop_rate(), FlopRate::teraflops_per_second(989));
  EXPECT_EQ(value("\"50%\"").percent(), 0.5);
}

TEST(JsonValue, SaysWhichUnitABareNumberWants) {
  const JsonValue fabric =
      JsonDocument::parse(R"({"fabric": {"nic": 400}})", "file.json").root().at("fabric");
  EXPECT_EQ(error_of([&] { (void)fabric.at("nic").bandwidth(); }),
            "file.json#/fabric/nic: expected a bandwidth such as \"400 Gb/s\" or \"50 GB/s\", got 400; "
            "a bare number has no unit");
  EXPECT_EQ(error_of([] { (void)value("2.5").time(); }),
            "t.json: expected a time such as \"1.5 us\" or \"2 ms\", got 2.5; a bare number has no unit");
  EXPECT_EQ(error_of([] { (void)value("null").bytes(); }),
            "t.json: expected a size such as \"25 MiB\" or \"14 GB\", got null");
  EXPECT_EQ(error_of([] { (void)value("{}").percent(); }),
            "t.json: expected a percentage such as \"50%\", got '{}'");
}

TEST(JsonValue, PassesTheSuggestionForAWrongUnitOn) {
  EXPECT_EQ(error_of([] { (void)value("\"450 GB\"").bandwidth(); }),
            "t.json: expected a bandwidth such as \"400 Gb/s\" or \"50 GB/s\", got '450 GB'; "
            "'GB' is a size; a bandwidth is 'GB/s'");
}

TEST(JsonValue, AbbreviatesWhatItGot) {
  EXPECT_EQ(value("\"a\\nb\"").abbreviated(), "'a\\x0ab'");
  EXPECT_EQ(value(R"({"a": [1, 2.5, "x"]})").abbreviated(), R"('{"a":[1,2.5,"x"]}')");
  EXPECT_EQ(value("\"" + std::string(100, 'x') + "\"").abbreviated(),
            fmt::format("'{}...'", std::string(60, 'x')));
  const std::string many = fmt::format("[{}1]", repeated("1,", 100'000));
  EXPECT_EQ(value(many).abbreviated(), fmt::format("'[{}1...'", repeated("1,", 29)));  // 60 characters
}

TEST(JsonValue, FailsInFreeWords) {
  EXPECT_EQ(error_of([] { value("[7]").items()[0].fail_because("device 7 does not exist"); }),
            "t.json#/0: device 7 does not exist");
  EXPECT_EQ(error_of([] { value("[7]").items()[0].fail("an even number", "try 8"); }),
            "t.json#/0: expected an even number, got 7; try 8");
}

}  // namespace
}  // namespace busbar
