#include "reports/record_table.h"

#include <gtest/gtest.h>

#include "reports/step_tables.h"
#include "reports/summary.h"

namespace busbar {
namespace {

const RecordTable kTable{
    .name = "t",
    .title = "Title",
    .columns = {{"name", "", Align::kLeft}, {"size", "bytes"}, {"time", "s"}},
    .rows = {{name_cell("=a|b,c"), bytes_cell(1.5e9), time_cell(0.0121)}, {name_cell("d"), {}, time_cell(2)}},
};

TEST(RecordTable, ShowsPeopleRoundedFiguresUnderTheirNames) {
  const Section section = section_of(kTable, 10);
  EXPECT_EQ(section.rows[0], (std::vector<std::string>{"name", "size", "time"}));
  EXPECT_EQ(section.rows[1], (std::vector<std::string>{"=a|b,c", "1.5 GB", "12.1 ms"}));
  EXPECT_NE(section_markdown(section).find("| =a\\|b,c | 1.5 GB | 12.1 ms |"), std::string::npos);
}

TEST(RecordTable, SaysHowManyRowsItLeavesOut) {
  const Section section = section_of(kTable, 1);
  ASSERT_EQ(section.rows.size(), 3U);
  EXPECT_EQ(section.rows[2][0], "... and 1 more");
}

TEST(RecordTable, GivesProgramsExactFiguresWithTheirUnits) {
  EXPECT_EQ(tidy_csv(std::span(&kTable, 1)),
            "table,row,figure,unit,value\n"
            "t,\"'=a|b,c\",size,bytes,1500000000\n"
            "t,\"'=a|b,c\",time,s,0.0121\n"
            "t,d,time,s,2\n");
}

RunResult step() {
  RunResult r{.step_name = "s", .cluster_name = "c", .ranks = 4, .step_time = Time::from_seconds(2)};
  r.split = {.step = r.step_time, .compute = Time::from_seconds(1.5), .exposed = Time::from_seconds(0.5)};
  r.split.exposed_by_group["dp"] = Time::from_seconds(0.5);
  r.memory = MemoryRecord{.total = Bytes(90), .capacity = Bytes(80), .fits = false};
  r.warnings = {{"w", "a warning"}};
  return r;
}

TEST(StepTables, HoldTheStepsPartsAndMemory) {
  const std::string csv = step_csv(step());
  for (const char* line :
       {"step,step_time_s,value,,2\n", "split,compute,time,s,1.5\n", "split,compute,of the step,share,0.75\n",
        "split,exposed dp,time,s,0.5\n", "memory,total,size,bytes,90\n"})
    EXPECT_NE(csv.find(line), std::string::npos) << line << csv;
  const std::string markdown = step_markdown(step());
  for (const char* part : {"## s on c: 4 GPUs", "| exposed dp | 500 ms | 25.0 % |", "- a warning"})
    EXPECT_NE(markdown.find(part), std::string::npos) << part << markdown;
}

TEST(Summary, HasColoursOnlyWhereAsked) {
  EXPECT_EQ(summary_text(step()).find('\x1b'), std::string::npos);
  const std::string coloured = summary_text(step(), true);
  EXPECT_NE(coloured.find("\x1b[34m"), std::string::npos);
  EXPECT_NE(coloured.find("\x1b[31mDOES NOT FIT\x1b[0m"), std::string::npos);
  std::string without;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      without += coloured[i];
  }
  EXPECT_EQ(without, summary_text(step()));
}

}  // namespace
}  // namespace busbar
