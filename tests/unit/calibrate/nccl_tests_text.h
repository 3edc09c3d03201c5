// Made-up output of nccl-tests, and reading it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "calibrate/import/nccl_tests_log.h"

namespace busbar {

// Figures of all tables here are made up; on n = 8 the factor of all_reduce is 1.75, that of gathers 0.875.
inline const std::string kHeaderE =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)\n";
inline const std::string kRowE =
    "     1048576        262144     float     sum      -1    104.8   10.01   17.51      0    100.0   10.49   "
    "18.35      0\n";
inline const std::string kRowE2 =
    "     2097152        524288     float     sum      -1    209.7   10.00   17.50      0    200.0   10.49   "
    "18.35      0\n";

inline std::string ranks(int n, const std::string& on = "hostA") {
  std::string text = "# Using devices\n";
  for (int r = 0; r < n; ++r)
    text += "#  Rank  " + std::to_string(r) + " Group  0 Pid  " + std::to_string(100 + r) + " on " + on +
            " device  " + std::to_string(r) + " [0000:1b:00] NVIDIA H100 80GB\n";
  return text;
}

inline Measurement read(const std::string& text, const std::string& name = "log.txt",
                        ImportHints hints = {}) {
  return read_nccl_tests_log(text, name, hints);
}

inline MeasuredTable one(const std::string& text, const std::string& name = "log.txt",
                         ImportHints hints = {}) {
  const Measurement m = read(text, name, hints);
  EXPECT_EQ(m.tables.size(), 1U);
  return m.tables.at(0);
}

inline const ImportHints kAllReduce{.operation = CollectiveKind::kAllReduce};

inline bool has_note(const MeasuredTable& table, const std::string& part) {
  for (const std::string& note : table.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

inline void expect_times(const MeasuredTable& table, std::size_t row, double us, double in_place_us) {
  ASSERT_LT(row, table.rows.size());
  EXPECT_EQ(table.rows[row].time, Time::from_microseconds(us));
  ASSERT_TRUE(table.rows[row].time_in_place);
  EXPECT_EQ(*table.rows[row].time_in_place, Time::from_microseconds(in_place_us));
}

}  // namespace busbar
