// Single lines of nccl-tests' text: cleaning, the header, data rows, the list of ranks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/raw_table.h"

namespace busbar {

/// The line with what copying and launchers put around it blanked out: quotes, '|', colour codes, "\n" of
/// string literals, "<stdout>:" tags.
[[nodiscard]] std::string cleaned(std::string_view line);
/// The words of a cleaned line without leading '#' and '>' and trailing commas; empty ones are dropped.
[[nodiscard]] std::vector<std::string_view> table_words(std::string_view cleaned_line);

enum class Column { kSize, kCount, kType, kRedop, kRoot, kTime, kAlgbw, kBusbw, kCheck, kOther };

/// The line of column names.
struct TableHeader {
  std::vector<Column> columns;
  bool host_time = false;     // "cputime": the host's share alone
  bool counts_wrong = false;  // "#wrong", not "error" or "res"
  bool milliseconds = false;  // the form of 2019: "bytes N type op time algbw busbw res"
  [[nodiscard]] bool has(Column column) const;
  /// Columns from one time to the next (to the end, if there is one time).
  [[nodiscard]] std::size_t group() const;
};
[[nodiscard]] std::optional<TableHeader> parse_header(const std::vector<std::string_view>& words);

/// A data row with what it says of the whole table.
struct ParsedRow {
  std::string type, redop;
  std::optional<std::int64_t> root;
  RawRow row;
};
enum class RowKind { kNone, kRow, kTorn };
/// Any line: a row with a type word, or, where the header has no type, as many figures as the header has
/// columns. kTorn: part of a row.
[[nodiscard]] RowKind parse_row(const std::vector<std::string_view>& words,
                                const std::optional<TableHeader>& header, ParsedRow& out);

/// Adds the line's rank if it is "Rank r [Group g] Pid p on HOST device d [bus] GPU".
bool parse_rank_line(std::string_view cleaned_line, const std::vector<std::string_view>& words,
                     RankList& list);

/// The nccl-tests program that a line names ("all_reduce" of "./all_reduce_perf_mpi -b 8"), "" if none.
[[nodiscard]] std::string program_in(std::string_view line);

}  // namespace busbar
