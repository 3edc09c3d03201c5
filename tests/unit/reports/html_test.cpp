#include "reports/html.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/page_columns.h"
#include "reports/web_bundle.h"
#include "sim/base/error.h"

namespace busbar {
namespace {

// Names that would end a script element, begin a comment in it, break a line of JavaScript, or be markup.
const std::string kHostile =
    "</script><!--<script>alert(1)</script>\u2028\u2029 & \"quoted\" 'single' \\ \n \x07";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(ForScript, KeepsTheValueAndNothingThatEndsAScript) {
  const nlohmann::ordered_json record{
      {"name", kHostile}, {"list", {1, 2.5, nullptr, true}}, {"<key>", "a\n  b"}};
  for (const int indent : {-1, 1, 4}) {
    const std::string embedded = for_script(record.dump(indent));
    EXPECT_EQ(nlohmann::ordered_json::parse(embedded), record);
    for (const char* part : {"<", ">", "&", "\u2028", "\u2029", "\n"})
      EXPECT_EQ(count(embedded, part), 0U) << part;
  }
  EXPECT_EQ(for_script("{\n  \"a\": 1,\n  \"b\": \"x  y\"\n}\n"), R"({"a": 1,"b": "x  y"})");
}

TEST(ForHtml, LeavesNoMarkup) {
  EXPECT_EQ(for_html("<b a=\"x\" c='y'>&amp;</b>"),
            "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;&lt;/b&gt;");
}

TEST(HtmlPage, IsThereWhereNodeIs) {
#ifdef BUSBAR_HAS_NODE
  EXPECT_EQ(web_bundle().missing, "");
  EXPECT_GT(web_bundle().script.size(), 100000U);
#else
  EXPECT_NE(web_bundle().missing, "");
#endif
}

TEST(HtmlPage, SaysWhatIsMissingWhereItIs) {
  if (web_bundle().missing.empty()) GTEST_SKIP() << "built with its pages";
  try {
    require_html();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    EXPECT_NE(std::string(e.what()).find(web_bundle().missing), std::string::npos);
  }
}

TEST(HtmlPage, HostileNamesAddNoElement) {
  if (!web_bundle().missing.empty()) GTEST_SKIP() << web_bundle().missing;
  RunResult harmless{.step_name = "step", .cluster_name = "cluster"};
  RunResult hostile{.step_name = kHostile, .cluster_name = kHostile};
  hostile.timeline = {
      {.rank = 0, .program = kHostile, .entries = {{.stream = kHostile, .operation = kHostile}}}};
  const std::string plain = step_html(harmless), page = step_html(hostile);
  for (const char* part : {"<script", "</script", "<!--", "<title", "</title"})
    EXPECT_EQ(count(page, part), count(plain, part)) << part;
}

TEST(HtmlPage, CarriesTheColumnsOfTheTables) {
  const auto columns = nlohmann::json::parse(page_columns());
  const auto has = [&](const char* table, const nlohmann::json& column) {
    const auto& list = columns.at(table);
    return std::find(list.begin(), list.end(), column) != list.end();
  };
  EXPECT_TRUE(has("links", {{"name", "sustains"}, {"unit", "B/s"}, {"right", true}}));
  EXPECT_TRUE(has("sweep", {{"name", "busbw[1]"}, {"unit", "GB/s"}, {"right", true}}));
  EXPECT_TRUE(has("exclusions", {{"name", "reason"}, {"unit", ""}, {"right", false}}));
  EXPECT_TRUE(has("errors", {{"name", "90th"}, {"unit", "share"}, {"right", true}}));
  for (const auto& [table, list] : columns.items()) EXPECT_FALSE(list.empty()) << table;
}

TEST(HtmlPage, IsOnePageThatLoadsNothing) {
  if (!web_bundle().missing.empty()) GTEST_SKIP() << web_bundle().missing;
  const std::string page = html_page("a & b", R"({"schema": "busbar.sweep/1"})");
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  EXPECT_NE(page.find("<title>a &amp; b</title>"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(count(page, " src="), 0U);
  EXPECT_EQ(count(page, "<link"), 0U);
  EXPECT_LT(page.size(), 1000000U);
}

}  // namespace
}  // namespace busbar
