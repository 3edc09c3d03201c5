#include "validate/csv_table.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/errors.h"

namespace busbar {
namespace {

constexpr std::array<std::string_view, 3> kColumns = {"name", "size", "on"};

std::string refusal(const std::string& text) {
  return error_of([&] { const CsvTable table(text, "t.csv", kColumns); });
}

TEST(CsvTable, ReadsColumnsByNameInAnyOrder) {
  const CsvTable table("# a note\nsize,on,name\n\n12,yes,\"a, b\"\n,,c\n", "t.csv", kColumns);
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(table.rows()[0].text("name"), "a, b");
  EXPECT_EQ(table.rows()[0].whole("size"), 12);
  EXPECT_EQ(table.rows()[0].yes_no("on"), true);
  EXPECT_EQ(table.rows()[0].where(), "t.csv:4");
  EXPECT_EQ(table.rows()[1].whole("size"), std::nullopt);
  EXPECT_EQ(table.rows()[1].yes_no("on"), std::nullopt);
}

TEST(CsvTable, RefusesOtherColumns) {
  EXPECT_EQ(refusal("name,sise,on\na,1,yes\n"), "t.csv:1: unknown column 'sise'; did you mean 'size'?");
  EXPECT_EQ(refusal("name,size\na,1\n"), "t.csv:1: missing column 'on'");
  EXPECT_EQ(refusal("name,size,name,on\na,1,a,no\n"), "t.csv:1: column 'name' stands here twice");
}

TEST(CsvTable, RefusesLinesOfAnotherLengthAndEmptyTables) {
  EXPECT_EQ(refusal("name,size,on\na,1\n"), "t.csv:2: expected 3 fields, as the header has, got 2");
  EXPECT_EQ(refusal("name,size,on\n"), "t.csv: expected a header line and a row, got no row");
  EXPECT_EQ(refusal(""), "t.csv: expected a header line and a row, got no row");
}

TEST(CsvTable, NamesLineAndColumnOfABadField) {
  const CsvTable table("name,size,on\n,1.5,maybe\n", "t.csv", kColumns);
  const CsvRow& row = table.rows().front();
  EXPECT_EQ(error_of([&] { (void)row.whole("size"); }),
            "t.csv:2, column size: expected a whole number, got '1.5'");
  EXPECT_EQ(error_of([&] { (void)row.yes_no("on"); }), "t.csv:2, column on: expected yes or no, got 'maybe'");
  EXPECT_EQ(error_of([&] { (void)row.needed_text("name"); }),
            "t.csv:2, column name: expected a name, got nothing");
}

}  // namespace
}  // namespace busbar
