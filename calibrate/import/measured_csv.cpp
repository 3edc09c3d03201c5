#include "calibrate/import/measured_csv.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

enum class Field {
  kSize,
  kTime,
  kInPlaceTime,
  kCount,
  kType,
  kRedop,
  kRoot,
  kAlgbw,
  kBusbw,
  kOperation,
  kRanks,
  kInPlace
};
constexpr std::size_t kFields = 12;

struct FieldName {
  std::string_view name;
  Field field;
};
constexpr FieldName kNames[] = {{"size_bytes", Field::kSize},     {"size", Field::kSize},
                                {"oop_time_us", Field::kTime},    {"time_us", Field::kTime},
                                {"time", Field::kTime},           {"ip_time_us", Field::kInPlaceTime},
                                {"count", Field::kCount},         {"dtype", Field::kType},
                                {"type", Field::kType},           {"redop", Field::kRedop},
                                {"root", Field::kRoot},           {"oop_algbw_gbps", Field::kAlgbw},
                                {"algbw", Field::kAlgbw},         {"oop_busbw_gbps", Field::kBusbw},
                                {"busbw", Field::kBusbw},         {"op", Field::kOperation},
                                {"operation", Field::kOperation}, {"collective", Field::kOperation},
                                {"n_gpus", Field::kRanks},        {"ranks", Field::kRanks},
                                {"gpus", Field::kRanks},          {"inplace", Field::kInPlace},
                                {"in_place", Field::kInPlace}};

using Positions = std::array<std::optional<std::size_t>, kFields>;

struct Header {
  Positions positions;
  std::size_t fields = 0;
};

Positions positions_of(const std::vector<std::string>& header) {
  Positions positions;
  for (std::size_t i = 0; i < header.size(); ++i)
    for (const FieldName& known : kNames) {
      auto& position = positions[static_cast<std::size_t>(known.field)];
      if (lower(header[i]) == known.name && !position) position = i;
    }
  return positions;
}

bool is_header(const Positions& positions) {
  return positions[static_cast<std::size_t>(Field::kSize)] &&
         positions[static_cast<std::size_t>(Field::kTime)];
}

bool is_skipped(std::string_view line) { return trimmed(line).empty() || trimmed(line).starts_with('#'); }

// One line under its header.
class Line {
 public:
  Line(std::string where, std::vector<std::string> fields, const Header& header)
      : where_(std::move(where)), fields_(std::move(fields)), positions_(header.positions) {
    const auto is_missing = [&](const auto& position) { return position && *position >= fields_.size(); };
    // A comma too many splits a number; at the end of a line it does no harm.
    const bool has_more = fields_.size() > header.fields &&
                          std::any_of(fields_.begin() + static_cast<std::ptrdiff_t>(header.fields),
                                      fields_.end(), [](const std::string& field) { return !field.empty(); });
    if (has_more || std::any_of(positions_.begin(), positions_.end(), is_missing))
      throw Error({.where = where_,
                   .expected = "as many fields as the header has, " + std::to_string(header.fields),
                   .given = std::to_string(fields_.size())});
  }

  [[nodiscard]] std::string text(Field field) const {
    const auto& position = positions_[static_cast<std::size_t>(field)];
    return position ? fields_[*position] : "";
  }
  [[nodiscard]] std::optional<std::int64_t> whole(Field field, std::int64_t low) const {
    const std::string given = text(field);
    if (given.empty()) return std::nullopt;
    const auto value = parse_whole(given);
    if (!value || *value < low) fail("a whole number of at least " + std::to_string(low), given);
    return value;
  }
  [[nodiscard]] std::optional<Printed> figure(Field field) const {
    const std::string given = text(field);
    if (given.empty() || given == "N/A") return std::nullopt;
    const auto value = parse_printed(given);
    if (!value || value->value < 0) fail("a number", given);
    return value;
  }
  [[noreturn]] void fail(std::string expected, const std::string& given) const {
    throw Error({.where = where_, .expected = std::move(expected), .given = quoted(given)});
  }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::vector<std::string> fields_;
  const Positions& positions_;
};

using Key = std::tuple<std::string, std::int64_t, std::string, std::string, std::int64_t>;

class CsvReader {
 public:
  CsvReader(std::string name, const Header& header) : name_(std::move(name)), header_(header) {}

  void add(std::string_view text, std::int64_t number) {
    if (++rows_ > kMaxRows)
      throw Error({.where = at_line(name_, number), .expected = "at most 1000000 rows", .given = "more"});
    const Line line(at_line(name_, number), csv_fields(text), header_);
    const auto size = line.whole(Field::kSize, 0);
    if (!size) line.fail("a size in bytes", "");
    const auto time = line.figure(Field::kTime);
    if (!time) return;
    RawTable& table = table_of(line);
    if (line.whole(Field::kInPlace, 0).value_or(0) > 0) return add_in_place(table, *size, *time);
    RawRow row{.size = *size, .count = line.whole(Field::kCount, 0).value_or(0), .time_us = *time};
    row.algbw = line.figure(Field::kAlgbw);
    row.busbw = line.figure(Field::kBusbw);
    if (const auto in_place = line.figure(Field::kInPlaceTime)) row.in_place_us = in_place->value;
    table.rows.push_back(row);
  }

  std::vector<RawTable> take() { return std::move(tables_); }

 private:
  // The line of the same size before it holds the out-of-place time.
  static void add_in_place(RawTable& table, std::int64_t size, Printed time) {
    static constexpr std::string_view kNote = "sizes measured in place only count as out of place too";
    if (!table.rows.empty() && table.rows.back().size == size) {
      table.rows.back().in_place_us = time.value;
      return;
    }
    if (table.notes.empty()) table.notes.emplace_back(kNote);
    table.rows.push_back({.size = size, .time_us = time, .in_place_us = time.value});
  }

  RawTable& table_of(const Line& line) {
    const std::string operation = line.text(Field::kOperation);
    if (!operation.empty() && !parse_collective(operation))
      throw Error({.where = line.where(),
                   .expected = "an operation",
                   .given = quoted(operation),
                   .suggestion = did_you_mean(operation, collective_names())});
    const std::int64_t ranks = line.whole(Field::kRanks, 1).value_or(0);
    const auto root = line.whole(Field::kRoot, -1);
    const Key key{operation, ranks, line.text(Field::kType), line.text(Field::kRedop), root.value_or(-1)};
    const auto [found, added] = index_.try_emplace(key, tables_.size());
    if (added) {
      RawTable table{
          .where = line.where(), .type = line.text(Field::kType), .redop = line.text(Field::kRedop)};
      if (!operation.empty()) table.names = {operation};
      table.guesses = {operation_in_name(name_)};
      table.root = root;
      table.told_ranks = ranks;
      tables_.push_back(std::move(table));
    }
    return tables_[found->second];
  }

  std::string name_;
  const Header& header_;
  std::map<Key, std::size_t> index_;
  std::vector<RawTable> tables_;
  std::size_t rows_ = 0;
};

[[noreturn]] void fail_header(const std::string& where, std::string_view given) {
  throw Error({.where = where,
               .expected = "a header line with the columns size_bytes and oop_time_us or time_us",
               .given = given.empty() ? "nothing" : quoted(given)});
}

}  // namespace

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool doubled = line[i] == '"' && in_quotes && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      in_quotes = !in_quotes;
    } else if (line[i] == ',' && !in_quotes) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

Measurement read_measured_csv(std::string_view text, const std::string& name, const ImportHints& hints) {
  LineScanner lines(text);
  while (lines.next() && is_skipped(lines.line())) {
  }
  const std::string where = at_line(name, lines.number());
  if (lines.line().size() > kMaxLineBytes) fail_header(where, lines.line());
  const std::vector<std::string> names = csv_fields(lines.line());
  const Header header{positions_of(names), names.size()};
  if (!is_header(header.positions)) fail_header(where, lines.line());
  CsvReader reader(name, header);
  while (lines.next()) {
    if (is_skipped(lines.line())) continue;
    if (lines.line().size() > kMaxLineBytes)
      throw Error(
          {.where = at_line(name, lines.number()), .expected = "at most 64 KiB in a line", .given = "more"});
    reader.add(lines.line(), lines.number());
  }
  return finish_tables(reader.take(), hints, name);
}

bool looks_like_measured_csv(std::string_view text) {
  LineScanner lines(text);
  while (lines.next() && is_skipped(lines.line())) {
  }
  return lines.line().size() <= kMaxLineBytes && is_header(positions_of(csv_fields(lines.line())));
}

}  // namespace busbar
