#include "calibrate/import/osu.h"

#include <fmt/format.h>

#include <array>

#include "calibrate/import/text_scan.h"

namespace busbar {

namespace {

enum class OsuColumn { kLatency, kBandwidth, kBidirectional };

struct Test {
  std::string_view title;  // as after "OSU MPI", without what stands for devices
  CollectiveKind kind;
  bool per_rank = false;  // the size is one rank's part
  bool pair = false;
  OsuColumn column = OsuColumn::kLatency;
};

// Titles: OSU micro-benchmarks 5.0 to 7.5, the tables of their user guide.
constexpr std::array<Test, 12> kTests = {{
    {"allreduce latency test", CollectiveKind::kAllReduce},
    {"allgather latency test", CollectiveKind::kAllGather, true},
    {"reduce_scatter latency test", CollectiveKind::kReduceScatter},
    {"all-to-all personalized exchange latency test", CollectiveKind::kAllToAll, true},
    {"broadcast latency test", CollectiveKind::kBroadcast},
    {"bcast latency test", CollectiveKind::kBroadcast},
    {"reduce latency test", CollectiveKind::kReduce},
    {"gather latency test", CollectiveKind::kGather, true},
    {"scatter latency test", CollectiveKind::kScatter, true},
    {"latency test", CollectiveKind::kSendRecv, false, true},
    {"bandwidth test", CollectiveKind::kSendRecv, false, true, OsuColumn::kBandwidth},
    {"bi-directional bandwidth test", CollectiveKind::kSendRecv, false, true, OsuColumn::kBidirectional},
}};

// "# OSU MPI-CUDA Allreduce Latency Test v7.3" -> "allreduce latency test"; "" for other lines.
std::string title_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("# OSU MPI")) return "";
  const std::size_t blank = line.find(' ', 6);
  if (blank == std::string_view::npos) return "";
  std::string title = lower(trimmed(line.substr(blank)));
  const std::size_t end = title.find(" test");
  return end == std::string::npos ? "" : title.substr(0, end + 5);
}

const Test* find_test(std::string_view title) {
  for (const Test& test : kTests)
    if (test.title == title) return &test;
  return nullptr;
}

std::int64_t ranks_of(const Test& test, const std::string& where, const ImportHints& hints) {
  if (test.pair) return 2;
  if (!hints.ranks)
    throw Error({.where = where,
                 .message = "OSU output does not say how many ranks took part",
                 .suggestion = "give --ranks"});
  return *hints.ranks;
}

MeasuredTable start_table(const Test& test, const std::string& where, const ImportHints& hints) {
  MeasuredTable table{
      .source = where, .operation = test.kind, .ranks = ranks_of(test, where, hints), .isolated = !test.pair};
  if (test.column == OsuColumn::kLatency && test.pair)
    table.notes.emplace_back("half of a ping-pong, taken for an exchange of two ranks");
  if (test.column == OsuColumn::kBandwidth)
    table.notes.emplace_back(
        "one direction with many messages under way, taken for an exchange of two ranks");
  return table;
}

// Time of one message: of MB/s (10^6) its size over the rate.
double seconds_of(const Test& test, double size, double figure) {
  switch (test.column) {
    case OsuColumn::kLatency:
      return figure * 1e-6;
    case OsuColumn::kBandwidth:
      return size / (figure * 1e6);
    case OsuColumn::kBidirectional:
      return 2 * size / (figure * 1e6);
  }
  BUSBAR_CHECK(false);
}

void add_row(MeasuredTable& table, const Test& test, std::string_view line, const std::string& where) {
  const std::vector<std::string_view> words = words_of(line);
  const auto size = words.size() < 2 ? std::nullopt : parse_whole(words[0]);
  const auto figure = words.size() < 2 ? std::nullopt : parse_decimal(words[1]);
  constexpr std::int64_t kLargestMessage = std::int64_t{1} << 40;
  if (!size || !figure || *size < 0 || *size > kLargestMessage || !(*figure > 0))
    throw Error({.where = where, .expected = "a size and a figure above 0", .given = quoted(line)});
  if (*size == 0) return;
  MeasuredRow row{.operation = test.kind, .ranks = table.ranks};
  row.size = Bytes(*size * (test.per_rank ? table.ranks : 1));
  row.time = Time::from_seconds(seconds_of(test, static_cast<double>(*size), *figure));
  table.rows.push_back(std::move(row));
}

}  // namespace

bool looks_like_osu(std::string_view text) {
  LineScanner lines(text);
  while (lines.next())
    if (!title_of(lines.line()).empty()) return true;
  return false;
}

Measurement read_osu(std::string_view text, const std::string& name, const ImportHints& hints) {
  Measurement measurement;
  const Test* test = nullptr;
  LineScanner lines(text);
  while (lines.next()) {
    const std::string_view line = trimmed(lines.line());
    const std::string where = at_line(name, lines.number());
    if (const std::string title = title_of(line); !title.empty()) {
      test = find_test(title);
      if (test != nullptr) measurement.tables.push_back(start_table(*test, where, hints));
    } else if (test != nullptr && !line.empty() && is_digit(line.front())) {
      add_row(measurement.tables.back(), *test, line, where);
    }
  }
  std::erase_if(measurement.tables, [](const MeasuredTable& t) { return t.rows.empty(); });
  if (measurement.tables.empty())
    throw Error({.where = name, .message = "no test of the OSU benchmarks that is modelled has a row"});
  return measurement;
}

}  // namespace busbar
