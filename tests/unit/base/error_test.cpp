#include "sim/base/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <iomanip>  // brings std::quoted, which must not win over ours
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/named_table.h"

namespace busbar {
namespace {

std::string line_of(const ErrorParts& parts) { return Error(parts).what(); }

std::string nearest(std::string_view given, std::vector<std::string_view> candidates) {
  return did_you_mean(given, candidates);
}

TEST(Error, JoinsItsPartsIntoOneLine) {
  EXPECT_EQ(
      line_of(
          {.where = "t.json#/nic", .expected = "a bandwidth", .given = "400", .suggestion = "add a unit"}),
      "t.json#/nic: expected a bandwidth, got 400; add a unit");
  EXPECT_EQ(line_of({.where = "t.json", .message = "unknown key 'y'", .suggestion = "did you mean 'x'?"}),
            "t.json: unknown key 'y'; did you mean 'x'?");
}

TEST(Error, LeavesAbsentPartsOut) {
  EXPECT_EQ(line_of({.expected = "a file"}), "expected a file");
  EXPECT_EQ(line_of({.given = "a folder"}), "got a folder");
  EXPECT_EQ(line_of({.where = "--seed", .given = "x"}), "--seed: got x");
  EXPECT_EQ(line_of({.message = "deadlock"}), "deadlock");
  EXPECT_EQ(line_of({.where = "x", .suggestion = "try y"}), "x; try y");
}

TEST(Error, PrefersTheMessageToExpectedAndGiven) {
  EXPECT_EQ(line_of({.expected = "a", .given = "b", .message = "c"}), "c");
}

TEST(Error, StaysOnOneLineWhateverTheInput) {
  EXPECT_EQ(line_of({.where = "a\nb.json", .given = "\x1b[31m\r\t"}),
            "a\\x0ab.json: got \\x1b[31m\\x0d\\x09");
  EXPECT_EQ(line_of({.message = "\xE2\x80\xA8 line separator"}), "\\xe2\\x80\\xa8 line separator");
  EXPECT_EQ(line_of({.message = "\xC2\x9B csi"}), "\\xc2\\x9b csi");  // U+009B starts a terminal command
  EXPECT_EQ(line_of({.message = "\xE2\x80\xAE"
                                "abc"}),
            "\\xe2\\x80\\xae"
            "abc");  // U+202E reverses what follows
}

TEST(Error, EscapesInvalidUtf8AndKeepsValid) {
  EXPECT_EQ(line_of({.message = "5 \u00b5s \u4e2d \U0001F600"}), "5 \u00b5s \u4e2d \U0001F600");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xFF", "\\xff"},                             // no lead byte
      {"\xC0\xAF", "\\xc0\\xaf"},                    // overlong '/'
      {"\xE0\x80\xAF", "\\xe0\\x80\\xaf"},           // overlong '/' in three
      {"\xED\xA0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
      {"a\xE4\xB8", "a\\xe4\\xb8"},                  // cut short
  };
  for (const auto& [given, shown] : cases) EXPECT_EQ(line_of({.message = given}), shown);
}

TEST(Error, CarriesTheExitCodeOfItsKind) {
  EXPECT_EQ(Error({.kind = ErrorKind::kTolerance}).exit_code(), 1);
  EXPECT_EQ(Error({.kind = ErrorKind::kInput}).exit_code(), 2);
  EXPECT_EQ(Error({.kind = ErrorKind::kSystem}).exit_code(), 3);
  EXPECT_EQ(Error({.kind = ErrorKind::kJob}).exit_code(), 4);
}

TEST(Quoted, CutsLongTextAtSixtyCharacters) {
  EXPECT_EQ(quoted("abc"), "'abc'");
  EXPECT_EQ(quoted(std::string(60, 'x')), fmt::format("'{}'", std::string(60, 'x')));
  EXPECT_EQ(quoted(std::string(61, 'x')), fmt::format("'{}...'", std::string(60, 'x')));
}

TEST(Quoted, CountsCharactersNotBytes) {
  std::string sixty;
  for (int i = 0; i < 60; ++i) sixty += "\u4e2d";
  EXPECT_EQ(quoted(sixty + "\u4e2d"), fmt::format("'{}...'", sixty));
}

TEST(Quoted, EscapesControlBytes) { EXPECT_EQ(quoted(std::string_view("a\0b\x7f", 4)), "'a\\x00b\\x7f'"); }

TEST(DidYouMean, FindsOneMistakeOfEachKind) {
  const std::vector<std::string_view> keys = {"latency", "bandwidth", "type"};
  EXPECT_EQ(nearest("bandwith", keys), "did you mean 'bandwidth'?");    // a letter missing
  EXPECT_EQ(nearest("bandwiidth", keys), "did you mean 'bandwidth'?");  // one too many
  EXPECT_EQ(nearest("bandwodth", keys), "did you mean 'bandwidth'?");   // a wrong one
  EXPECT_EQ(nearest("badnwidth", keys), "did you mean 'bandwidth'?");   // two swapped
  EXPECT_EQ(nearest("BandWidth", keys), "did you mean 'bandwidth'?");   // case
}

TEST(DidYouMean, CountsASwapAsOneMistake) {
  // Limit for two letters: 2 / 2 = 1. Without swaps the distance would be 2.
  EXPECT_EQ(nearest("pt", {"tp"}), "did you mean 'tp'?");
}

TEST(DidYouMean, TakesTheNearestAndTheFirstOfEquals) {
  EXPECT_EQ(nearest("stage", {"stages", "state"}), "did you mean 'stages'?");
  EXPECT_EQ(nearest("statges", {"states", "stages"}), "did you mean 'states'?");
  EXPECT_EQ(nearest("hosts", {"host_type", "hosts"}), "did you mean 'hosts'?");
}

TEST(DidYouMean, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("latency", {"bandwidth", "type"}), "");
  EXPECT_EQ(nearest("xy", {"dp", "tp"}), "");  // both letters differ
  EXPECT_EQ(nearest("", {"a"}), "");
  EXPECT_EQ(nearest("a", {}), "");
  EXPECT_EQ(nearest(std::string(65536, 'a'), {"bandwidth"}), "");
}

TEST(DidYouMean, AllowsAThirdOfALongName) {
  // 24 letters: limit 8. Here 8 letters are missing, then 9.
  EXPECT_EQ(nearest("abcdefghijklmnop", {"abcdefghijklmnopqrstuvwx"}),
            "did you mean 'abcdefghijklmnopqrstuvwx'?");
  EXPECT_EQ(nearest("abcdefghijklmno", {"abcdefghijklmnopqrstuvwx"}), "");
}

TEST(OneOf, ReadsAsAList) {
  const std::vector<std::string_view> names = {"ring", "tree", "nvls"};
  const std::span<const std::string_view> all(names);
  EXPECT_EQ(one_of(all), "ring, tree or nvls");
  EXPECT_EQ(one_of(all.first(2)), "ring or tree");
  EXPECT_EQ(one_of(all.first(1)), "ring");
  EXPECT_EQ(one_of({}), "");
}

struct Row {
  std::string_view name;
  std::string_view help;
};
constexpr std::array<Row, 2> kRows = {{{"ring", "a ring"}, {"tree", "a tree"}}};

TEST(FindRow, FindsByExactName) {
  const std::span<const Row> table(kRows);
  ASSERT_NE(find_row(table, "tree"), nullptr);
  EXPECT_EQ(find_row(table, "tree")->help, "a tree");
  EXPECT_EQ(find_row(table, "Tree"), nullptr);
  EXPECT_EQ(names_of(table), (std::vector<std::string_view>{"ring", "tree"}));
}

TEST(DidYouMean, DoesNotCompareTextsThatAreNoWords) {
  const std::string_view candidates[] = {"bandwidth"};
  EXPECT_EQ(did_you_mean("bandwith", candidates), "did you mean 'bandwidth'?");
  const std::string text(60'000, 'x');
  const std::string_view same[] = {text};
  EXPECT_EQ(did_you_mean(text, same), "");
}

TEST(BusbarCheck, AbortsWithThePlaceAndIsAlwaysOn) {
  BUSBAR_CHECK(1 + 1 == 2);
  EXPECT_DEATH(BUSBAR_CHECK(1 + 1 == 3), "error_test.cpp:[0-9]+: internal error: 1 \\+ 1 == 3 does not hold");
}

TEST(Printable, EscapesWhatMovesACursorOrTurnsTheText) {
  EXPECT_EQ(printable("plain \u00e9"), "plain \u00e9");
  EXPECT_EQ(printable("a\x1b[2J"), "a\\x1b[2J");
  EXPECT_EQ(printable("a\u009b"), "a\\xc2\\x9b");       // C1 control sequence introducer
  EXPECT_EQ(printable("a\u202e"), "a\\xe2\\x80\\xae");  // right-to-left override
}

}  // namespace
}  // namespace busbar
