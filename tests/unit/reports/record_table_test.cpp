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

// Names come from files of others.
TEST(MarkdownProse, HoldsNoLinkCodeOrHtml) {
  EXPECT_EQ(markdown_prose("[x](y) <b> `c`"), "\\[x](y) \\<b> \\`c\\`");
  RecordTable table = kTable;
  table.title = "of <i>";
  EXPECT_NE(section_markdown(table).find("### of \\<i>\n"), std::string::npos);
}

TEST(RecordTable, ShowsPeopleRoundedFiguresUnderTheirNames) {
  EXPECT_EQ(section_text(kTable),
            "\nTitle\n"
            "  name      size     time\n"
            "  =a|b,c  1.5 GB  12.1 ms\n"
            "  d                   2 s\n");
  const std::string markdown = section_markdown(kTable);
  EXPECT_NE(markdown.find("| name | size | time |\n|---|--:|--:|\n"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| =a\\|b,c | 1.5 GB | 12.1 ms |"), std::string::npos) << markdown;
}

TEST(RecordTable, SaysHowManyRowsItLeavesOut) {
  EXPECT_TRUE(section_text(kTable, 1).ends_with("12.1 ms\n  ... and 1 more\n")) << section_text(kTable, 1);
  EXPECT_TRUE(section_markdown(kTable, 1).ends_with("\n| ... and 1 more |  |  |\n"));
}

TEST(RecordTable, NamesUnitsAndCurrencyInTheHeadersOfACsv) {
  const RecordTable table{.name = "t",
                          .title = "",
                          .columns = {{"layout", "", Align::kLeft},
                                      {"time each", "us"},
                                      {"busbw(GB/s)", "GB/s", Align::kRight, "busbw"},
                                      {"cost", "EUR"},
                                      {"MFU", "share"},
                                      {"told", "", Align::kLeft, "", Reader::kPeople},
                                      {"id", "", Align::kLeft, "", Reader::kPrograms}},
                          .rows = {{name_cell("=x"),
                                    {"1.00", "1"},
                                    {"2.00", "-2"},
                                    {},
                                    share_cell(0.5),
                                    name_cell("people"),
                                    name_cell("-p")}}};
  EXPECT_EQ(table_csv(table),
            "layout,time_each_us,busbw_GBps,cost_EUR,MFU,id\n"
            "'=x,1,-2,,0.5,'-p\n");
  EXPECT_EQ(table_text(table, 0).find("id"), std::string::npos);
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

TEST(StepTables, LayAnEarlierStepAndTheSensitivitiesBesideIt) {
  RunResult r = step();
  r.compared = {{"old (o.json)", {{"step_time_s", 4}, {"compute_s", 1.5}}}};
  r.sensitivity = {{.parameter = "nic-bandwidth",
                    .words = "NIC bandwidth",
                    .value = "50 GB/s",
                    .elasticity = -0.25,
                    .up = -0.2,
                    .down = -0.3,
                    .better = -0.02}};
  const std::string csv = step_csv(r), markdown = step_markdown(r), text = compared_text(r);
  // 2 s after 4 s are half of it.
  for (const char* line :
       {"compared_1,step_time_s,before,s,4\n", "compared_1,step_time_s,after,s,2\n",
        "compared_1,step_time_s,change,share,-0.5\n", "compared_1,compute_s,change,share,0\n",
        "sensitivity,nic-bandwidth,elasticity,,-0.25\n", "sensitivity,nic-bandwidth,elasticity_up,,-0.2\n",
        "sensitivity,nic-bandwidth,10 % better,share,-0.02\n", "split,compute,time,s,1.5\n"})
    EXPECT_NE(csv.find(line), std::string::npos) << line << csv;
  for (const char* part :
       {"### Compared with old (o.json)", "| step time | 4 s | 2 s | -50.0 % |",
        "| NIC bandwidth | 50 GB/s | -0.250 | -2.0 % |", "| exposed dp | 500 ms | 25.0 % |"})
    EXPECT_NE(markdown.find(part), std::string::npos) << part << markdown;
  EXPECT_NE(text.find("step time     4 s    2 s  -50.0 %"), std::string::npos) << text;
}

TEST(StepTables, SayOneGpuOfOne) {
  RunResult r = step();
  r.ranks = 1;
  EXPECT_TRUE(step_markdown(r).starts_with("## s on c: 1 GPU\n"));
  EXPECT_TRUE(summary_text(r).starts_with("s on c: 1 GPU\n"));
}

TEST(SweepTables, HaveAColumnForEachThatIsCompared) {
  Sweep s{.cluster_name = "c", .ranks = 8, .hosts = 1};
  s.rows = {{.size = Bytes(1024),
             .count = 256,
             .time = Time::from_seconds(10e-6),
             .algbw_Bps = 1e9,
             .busbw_Bps = 2e9,
             .algorithm = "ring",
             .protocol = "LL",
             .channels = 1,
             .limit = "latency"},
            {.size = Bytes(2048),
             .count = 512,
             .time = Time::from_seconds(12e-6),
             .algbw_Bps = 1e9,
             .busbw_Bps = 2e9,
             .algorithm = "ring",
             .protocol = "LL",
             .channels = 1,
             .limit = "latency"}};
  s.compared = {{"other, \"x\"", {{Bytes(1024), 8e-6, 3e9, "tree", "LL"}}},
                {"third", {{Bytes(2048), 24e-6, 1e9, "", ""}}}};
  const std::string csv = sweep_csv(s), text = sweep_text(s), markdown = sweep_markdown(s);
  EXPECT_NE(csv.find(",limit,compared_1,time_1_us,busbw_1_GBps,change_1_percent,compared_2,time_2_us,"),
            std::string::npos)
      << csv;
  // 10 us after 8 us are 25 % more; 12 us after 24 us half.
  EXPECT_NE(csv.find(",latency,\"other, \"\"x\"\"\",8,3,25,third,,,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",latency,\"other, \"\"x\"\"\",,,,third,24,1,-50\n"), std::string::npos) << csv;
  EXPECT_NE(text.find("time[1](us)"), std::string::npos) << text;
  EXPECT_NE(text.find("# [2]: third"), std::string::npos) << text;
  EXPECT_NE(markdown.find("| 8.00 | 3.00 | +25.0 |"), std::string::npos) << markdown;
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
