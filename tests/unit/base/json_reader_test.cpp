#include "sim/base/json_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

JsonDocument document(std::string text) { return JsonDocument::parse(std::move(text), "t.json"); }
JsonValue value(std::string text) { return document(std::move(text)).root(); }

std::string parse_error(const std::string& text) {
  return error_of([&] { (void)document(text); });
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}
std::string nested(std::size_t depth) { return repeated("[", depth) + repeated("]", depth); }

/// A file for one test, removed with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) : path_(folder_.file("t.json")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

// ---- Syntax and limits

TEST(JsonSyntax, AcceptsCommentsAndAByteOrderMark) {
  const JsonValue root = value("\xEF\xBB\xBF// one\n{ /* two */ \"a\": 1 // three\n}");
  EXPECT_EQ(root.at("a").integer(0, 9), 1);
}

TEST(JsonSyntax, NamesLineAndColumnOfAnError) {
  EXPECT_EQ(parse_error("{\n  \"a\": 1,\n  \"b\": oops\n}"), "t.json:3:8: not JSON: invalid literal");
  EXPECT_EQ(parse_error("{\"a\": \"x\" \"bc\": 1}"),
            "t.json:1:11: not JSON: unexpected string literal; expected '}'");
  EXPECT_EQ(parse_error("hello"), "t.json:1:1: not JSON: invalid literal");
  EXPECT_EQ(parse_error("[1] [2]"), "t.json:1:5: not JSON: unexpected '['; expected end of input");
}

TEST(JsonSyntax, CountsCharactersNotBytes) {
  EXPECT_EQ(parse_error("[\"\u4e2d\u4e2d\" x]"), "t.json:1:7: not JSON: invalid literal");
  EXPECT_EQ(parse_error("\xEF\xBB\xBFx"), "t.json:1:1: not JSON: invalid literal");
}

TEST(JsonSyntax, SaysThatATextIsTruncated) {
  EXPECT_EQ(parse_error("{\"a\": [1,\n2"), "t.json:2:2: not JSON: unexpected end of input; expected ']'");
  EXPECT_EQ(parse_error("{\"a\": \"x"), "t.json:1:9: not JSON: invalid string: missing closing quote");
  EXPECT_EQ(parse_error("/* x"), "t.json:1:5: not JSON: invalid comment; missing closing '*/'");
}

TEST(JsonSyntax, RefusesAnEmptyText) {
  EXPECT_EQ(parse_error(""), "t.json: expected JSON, got an empty text");
  EXPECT_EQ(parse_error(" \n\t"), "t.json: expected JSON, got an empty text");
}

TEST(JsonSyntax, RefusesANulByteInsteadOfStoppingThere) {
  EXPECT_EQ(parse_error(std::string("{}\0{", 4)), "t.json:1:3: expected JSON, got a NUL byte");
}

TEST(JsonSyntax, SuggestsWhatIsMostOftenMeant) {
  EXPECT_EQ(parse_error("[1, ]"),
            "t.json:1:5: not JSON: unexpected ']'; expected '[', '{', or a literal; "
            "remove the comma before it");
  EXPECT_EQ(parse_error("{\"a\":1,\n}"),
            "t.json:2:1: not JSON: unexpected '}'; expected string literal; remove the comma before it");
  EXPECT_EQ(parse_error("['a']"), "t.json:1:2: not JSON: invalid literal; strings take double quotes");
  for (const std::string_view text : {"NaN", "nan", "-NaN", "Infinity", "-Infinity", "inf"})
    EXPECT_NE(parse_error(fmt::format("[{}]", text)).find("; JSON has no NaN and no infinity"),
              std::string::npos)
        << text;
}

TEST(JsonSyntax, RefusesNumbersBeyondADouble) {
  EXPECT_EQ(parse_error("[1, 1e999]"), "t.json:1:5: expected a number within +-1.8e308, got '1e999'");
  EXPECT_EQ(parse_error("-1e999"), "t.json:1:1: expected a number within +-1.8e308, got '-1e999'");
}

TEST(JsonSyntax, RefusesInvalidUtf8InOneSafeLine) {
  EXPECT_EQ(parse_error("[\"a\xFF\"]"), "t.json:1:4: not JSON: invalid string: ill-formed UTF-8 byte");
  EXPECT_EQ(parse_error("[\"\xED\xA0\x80\"]").find('\n'), std::string::npos);
  EXPECT_EQ(parse_error("[\"a\nb\"]"),
            "t.json:1:4: not JSON: invalid string: control character U+000A (LF) must be escaped to \\u000A "
            "or \\n");
}

TEST(JsonSyntax, KeepsItsLineShortForLongGarbage) {
  EXPECT_LT(parse_error("\"" + std::string(1 << 20, 'x')).size(), 100U);
  EXPECT_LT(parse_error(std::string(1 << 20, '1') + "e999").size(), 160U);
  EXPECT_LT(parse_error("[1 \"" + std::string(1 << 20, 'x') + "\"]").size(), 100U);
}

TEST(JsonLimits, AllowSixtyFourLevels) {
  EXPECT_EQ(parse_error(nested(64)), "no error");
  EXPECT_EQ(parse_error(nested(65)),
            "t.json:1:65: expected at most 64 levels of arrays and objects, got one more");
  EXPECT_EQ(parse_error(repeated("{\"a\":", 65)),
            "t.json:1:321: expected at most 64 levels of arrays and objects, got one more");  // 64 x 5 + 1
}

TEST(JsonLimits, StopAtOnceInADeepText) {
  const std::string words = "t.json:1:65: expected at most 64 levels of arrays and objects, got one more";
  EXPECT_EQ(parse_error(std::string(100'000, '[')), words);
}

TEST(JsonLimits, RefuseDuplicateKeysAtTheSecond) {
  EXPECT_EQ(parse_error("{\"a\": 1,\n \"b\": 2, \"a\": 3}"), "t.json:2:10: duplicate key 'a'");
  EXPECT_EQ(parse_error("{\"b\":1,\"a\":2,\"b\":3,\"a\":4}"), "t.json:1:14: duplicate key 'b'");
  EXPECT_EQ(parse_error(R"({"a\"\\": 1, "a\"\\": 2})"), "t.json:1:14: duplicate key 'a\"\\'");
  EXPECT_EQ(parse_error(R"({"a": 1, "\u0061": 2})"), "t.json:1:10: duplicate key 'a'");
  EXPECT_EQ(parse_error(R"([{"a": 1}, {"a": 1, "b": {"a": 1}}])"), "no error");
}

TEST(JsonLimits, AllowStringsAndKeysOf64KiB) {
  const std::string longest(65536, 'x');
  EXPECT_EQ(value("\"" + longest + "\"").string(), longest);
  EXPECT_EQ(value("{\"" + longest + "\": 1}").keys().front(), longest);
  EXPECT_EQ(parse_error("[1, \"x" + longest + "\"]"),
            "t.json:1:5: expected a string of at most 65536 bytes, got 65537 bytes");
  EXPECT_EQ(parse_error("{\"x" + longest + "\": 1}"),
            "t.json:1:2: expected a string of at most 65536 bytes, got 65537 bytes");
}

// ---- Documents

TEST(JsonDocument, DumpsCompactJsonThatParsesBackToItself) {
  const std::string text = R"({"b":[1,-2.5,true,null,"\u0001\"\\é"],"a":{},"c":1e+300})";
  EXPECT_EQ(document(text).dump(), text);
  EXPECT_EQ(document(" " + text + "// c").dump(), text);
  EXPECT_EQ(document("[-0.0, -0, 2.0]").dump(), "[0,0,2]");
}

TEST(JsonDocument, DigestIsFnv1aOfTheText) {
  // The reference hash of "a" is af63dc4c8601ec8c; "1" follows from one step: (offset ^ 0x31) x prime mod
  // 2^64.
  const std::uint64_t expected = (0xcbf29ce484222325U ^ 0x31U) * 0x100000001b3U;
  EXPECT_EQ(document("1").digest(), fmt::format("{:016x}", expected));
  EXPECT_NE(document("1 ").digest(), document("1").digest());
}

TEST(JsonDocument, DigestDependsOnEveryOverride) {
  const JsonDocument plain = document(R"({"a": 1})");
  EXPECT_NE(plain.with("a", "1").digest(), plain.digest());
  EXPECT_NE(plain.with("a", "2").digest(), plain.with("a", "3").digest());
  EXPECT_EQ(plain.with("a", "2").digest(), document(R"({"a": 1})").with("a", "2").digest());
  EXPECT_NE(plain.with("a", "2").with("b", "3").digest(), plain.with("b", "3").with("a", "2").digest());
}

TEST(JsonOverride, ReplacesAndAddsValues) {
  const JsonDocument base = document(R"({"hosts": [{"count": 2}], "fabric": {"nic": "400 Gb/s"}})");
  EXPECT_EQ(base.with("hosts.0.count", "4").dump(), R"({"hosts":[{"count":4}],"fabric":{"nic":"400 Gb/s"}})");
  EXPECT_EQ(base.with("fabric.nic", "200 Gb/s").root().at("fabric").at("nic").string(), "200 Gb/s");
  EXPECT_EQ(document("{}").with("moe.imbalance.zipf", "0.5").dump(), R"({"moe":{"imbalance":{"zipf":0.5}}})");
  EXPECT_EQ(base.dump(), R"({"hosts":[{"count":2}],"fabric":{"nic":"400 Gb/s"}})");  // the original stays
}

TEST(JsonOverride, FindsAddedKeysAmongOthers) {
  const JsonDocument changed = document(R"({"b": 1, "d": 2})").with("c", "3").with("a", "4");
  EXPECT_EQ(changed.root().at("a").integer(0, 9), 4);
  EXPECT_EQ(changed.root().at("c").integer(0, 9), 3);
  EXPECT_EQ(changed.root().keys(), (std::vector<std::string>{"b", "d", "c", "a"}));
}

TEST(JsonOverride, TakesJsonAsJsonAndTheRestAsText) {
  const auto set = [](std::string_view text) { return document("{}").with("a", text).dump(); };
  EXPECT_EQ(set("1"), R"({"a":1})");
  EXPECT_EQ(set("true"), R"({"a":true})");
  EXPECT_EQ(set("null"), R"({"a":null})");
  EXPECT_EQ(set("[1, {\"b\": 2}]"), R"({"a":[1,{"b":2}]})");
  EXPECT_EQ(set("\"1\""), R"({"a":"1"})");
  EXPECT_EQ(set("fat-tree"), R"({"a":"fat-tree"})");
  EXPECT_EQ(set("say \"x\""), R"({"a":"say \"x\""})");
  EXPECT_EQ(set(""), R"({"a":""})");
}

TEST(JsonOverride, RefusesPathsThatLeadNowhere) {
  const auto error = [](std::string_view path) {
    return error_of([&] { (void)document(R"({"hosts": [1, 2], "name": "x"})").with(path, "1"); });
  };
  const std::string form = "expected keys and array indices joined by dots, such as \"fabric.nic\", got ";
  EXPECT_EQ(error(""), "--set : " + form + "''");
  EXPECT_EQ(error("a..b"), "--set a..b: " + form + "'a..b'");
  EXPECT_EQ(error("a."), "--set a.: " + form + "'a.'");
  EXPECT_EQ(error("name.x"), "--set name.x: expected an object or array around 'x', got \"x\"");
  EXPECT_EQ(error("hosts.2"), "--set hosts.2: expected an index into an array of 2, got '2'");
  EXPECT_EQ(error("hosts.-1"), "--set hosts.-1: expected an index into an array of 2, got '-1'");
  EXPECT_EQ(error("hosts.one"), "--set hosts.one: expected an index into an array of 2, got 'one'");
  EXPECT_EQ(
      error("hosts.99999999999999999999"),
      "--set hosts.99999999999999999999: expected an index into an array of 2, got '99999999999999999999'");
}

TEST(JsonOverride, KeepsTheLimitsOfTheReader) {
  const JsonDocument empty = document("{}");
  const std::string deep_path = repeated("a.", 63) + "a";  // 64 objects, the last holds the value
  EXPECT_EQ(error_of([&] { (void)document(empty.with(deep_path, "1").dump()); }), "no error");
  EXPECT_NE(error_of([&] { (void)empty.with(deep_path + ".a", "1"); }), "no error");
  EXPECT_EQ(error_of([&] { (void)document(empty.with(repeated("a.", 31) + "a", nested(40)).dump()); }),
            "no error");
  EXPECT_EQ(error_of([&] { (void)empty.with("a", std::string(65537, 'x')); }),
            "--set a:1:1: expected a string of at most 65536 bytes, got 65537 bytes");
  EXPECT_NE(error_of([&] { (void)empty.with("a", "\xFF"); }), "no error");
}

// ---- Files

TEST(JsonFile, IsReadWithItsNameFolderAndDigest) {
  const TemporaryFile file("{\"a\": 1}");
  const JsonDocument read = JsonDocument::load(file.path());
  EXPECT_EQ(read.name(), file.path());
  EXPECT_EQ(read.folder(), std::filesystem::path(file.path()).parent_path().string());
  EXPECT_EQ(read.digest(), document("{\"a\": 1}").digest());
  EXPECT_EQ(document("1").folder(), "");
}

TEST(JsonFile, ErrorsNameThePath) {
  EXPECT_EQ(error_of([] { (void)JsonDocument::load("no/such.json"); }),
            "no/such.json: cannot be opened: No such file or directory");
  const std::string folder = testing::TempDir();
  EXPECT_EQ(error_of([&] { (void)JsonDocument::load(folder); }),
            folder + ": expected a JSON file, got a folder");
  const TemporaryFile file("{");
  EXPECT_EQ(error_of([&] { (void)JsonDocument::load(file.path()); }),
            file.path() + ":1:2: not JSON: unexpected end of input; expected string literal");
}

TEST(JsonFile, RefusesMoreThanOneGibibyteUnread) {
  const TemporaryFile file("");
  std::filesystem::resize_file(file.path(), (std::uintmax_t{1} << 30) + 1);  // sparse: takes no space
  EXPECT_EQ(error_of([&] { (void)JsonDocument::load(file.path()); }),
            file.path() + ": expected a file of at most 1 GiB, got a larger one");
}

TEST(JsonFile, SaysThatTheSystemFailedToRead) {
  // Linux maps nothing at address 0, so reading a process's memory from there is an I/O error.
  if (!std::filesystem::exists("/proc/self/mem")) GTEST_SKIP() << "no /proc";
  try {
    (void)JsonDocument::load("/proc/self/mem");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kSystem);
    EXPECT_STREQ(error.what(), "/proc/self/mem: reading failed: Input/output error");
  }
}

}  // namespace
}  // namespace busbar
