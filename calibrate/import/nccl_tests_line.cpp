#include "calibrate/import/nccl_tests_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 2> kTags = {"<stdout>:", "<stderr>:"};
constexpr std::array<std::string_view, 7> kReductions = {"sum", "prod",   "max", "min",
                                                         "avg", "mulsum", "none"};

// Length of what begins at `i` and is noise: an escape sequence, a tag, a literal's "\n"; 0 if it is none.
std::size_t noise_at(std::string_view line, std::size_t i) {
  const char c = line[i];
  if (c == '\x1b') {
    std::size_t end = i + 1;
    if (end < line.size() && line[end] == '[') ++end;
    while (end < line.size() && (is_digit(line[end]) || line[end] == ';')) ++end;
    return std::min(end + 1, line.size()) - i;
  }
  if (c == '\\' && i + 1 < line.size() && (line[i + 1] == 'n' || line[i + 1] == 't' || line[i + 1] == 'r'))
    return 2;
  for (const std::string_view tag : kTags)
    if (line.substr(i).starts_with(tag)) return tag.size();
  return c == '"' || c == '\'' || c == '`' || c == '|' || is_blank(c) ? 1 : 0;
}

std::optional<Column> column_of(std::string_view name) {
  if (name == "size" || name == "bytes" || name == "size_bytes") return Column::kSize;
  if (name == "count" || name == "n" || name == "elements") return Column::kCount;
  if (name == "type") return Column::kType;
  if (name == "redop" || name == "op") return Column::kRedop;
  if (name == "root") return Column::kRoot;
  if (name == "time" || name == "cputime") return Column::kTime;
  if (name == "algbw") return Column::kAlgbw;
  if (name == "busbw") return Column::kBusbw;
  if (name == "error" || name == "#wrong" || name == "wrong" || name == "res") return Column::kCheck;
  if (name == "i_min" || name == "i_max" || name == "i_p99" || name == "i_cv%") return Column::kOther;
  return std::nullopt;
}

// "1_073_741_824" and "1,073,741,824" too; with a unit of powers of two ("32KiB", "32KB") if `units`.
std::optional<std::int64_t> parse_size(std::string_view word, bool units) {
  std::string digits;
  std::size_t i = 0;
  for (; i < word.size() && (is_digit(word[i]) || word[i] == '_' || word[i] == ','); ++i)
    if (is_digit(word[i])) digits += word[i];
  const auto value = parse_whole(digits);
  if (!value || i == word.size()) return value;
  const std::size_t power = std::string_view("BKMGT").find(word[i]);
  const std::string_view rest = word.substr(i + 1);
  if (!units || power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB"))
    return std::nullopt;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(*value, std::int64_t{1} << (10 * power), &bytes)) return std::nullopt;
  return bytes;
}

// A launcher's label may be glued to a figure: "-1[0]".
std::string_view without_label(std::string_view word) {
  const std::size_t open = word.find('[');
  if (open == std::string_view::npos || !word.ends_with(']')) return word;
  for (const char c : word.substr(open + 1, word.size() - open - 2))
    if (!is_digit(c) && c != ',') return word;
  return word.substr(0, open);
}

bool is_absent(std::string_view word) { return word == "N/A" || word == "n/a"; }

bool is_figure(std::string_view word) {
  if (word.size() > 1 && word.ends_with('%')) word.remove_suffix(1);
  return is_absent(word) || parse_decimal(word).has_value();
}

// The figures after the type and the reduction, up to the first word that is none.
Words figures_from(const Words& words, std::size_t begin) {
  Words figures;
  for (std::size_t i = begin; i < words.size(); ++i) {
    const std::string_view word = without_label(words[i]);
    if (word.empty()) continue;
    if (!is_figure(word)) break;
    figures.push_back(word);
  }
  return figures;
}

// Is the first figure the root? The header knows; without one the number of figures does, and the sign.
bool begins_with_root(const Words& figures, const std::optional<TableHeader>& header) {
  if (figures.empty() || !parse_whole(figures[0])) return false;
  if (figures[0].starts_with('-')) return true;
  const std::size_t n = figures.size();
  if (header) return header->has(Column::kRoot) && n != 3 && n != 6 && n != 8;
  return n == 5 || n == 7 || n == 9 || n == 17;
}

// Figures from one time to the next, of `n` in all.
std::size_t group_size(std::size_t n, const std::optional<TableHeader>& header) {
  if (n == 16) return 8;
  if (n == 8 && header && header->group() == 8) return 8;
  return n == 3 || n == 6 ? 3 : 4;
}

bool read_figures(const Words& figures, const std::optional<TableHeader>& header, RawRow& row) {
  if (figures.size() < 3) return false;
  const std::size_t group = group_size(figures.size(), header);
  const double scale = header && header->milliseconds ? 1000 : 1;
  const auto time = parse_printed(figures[0]);
  if (!time) return false;
  row.time_us = {time->value * scale, time->half * scale};
  row.algbw = parse_printed(figures[1]);
  row.busbw = parse_printed(figures[2]);
  row.checked = group > 3 && figures.size() > 3 && !is_absent(figures[3]);
  if (row.checked && header && header->counts_wrong) row.wrong = parse_whole(figures[3]).value_or(0);
  if (figures.size() < group + 3) return true;
  const auto in_place = parse_decimal(figures[group]);
  if (in_place) row.in_place_us = *in_place * scale;
  row.checked_in_place = figures.size() > group + 3 && !is_absent(figures[group + 3]);
  return true;
}

std::size_t type_position(const Words& words) {
  for (std::size_t i = 2; i < words.size(); ++i)
    if (element_bytes(words[i]) > 0 && parse_size(words[i - 1], false) && parse_size(words[i - 2], false))
      return i;
  return words.size();
}

RowKind parse_typed_row(const Words& words, const std::optional<TableHeader>& header, ParsedRow& out) {
  const std::size_t type = type_position(words);
  if (type == words.size()) return RowKind::kNone;
  out.type = words[type];
  out.row.size = parse_size(words[type - 2], false).value_or(0);
  out.row.count = parse_size(words[type - 1], false).value_or(0);
  std::size_t begin = type + 1;
  if (begin < words.size() &&
      std::find(kReductions.begin(), kReductions.end(), words[begin]) != kReductions.end())
    out.redop = words[begin++];
  Words figures = figures_from(words, begin);
  if (begins_with_root(figures, header)) {
    out.root = parse_whole(figures.front());
    figures.erase(figures.begin());
  }
  return read_figures(figures, header, out.row) ? RowKind::kRow : RowKind::kTorn;
}

// "1.20GBps": the figure before its unit.
std::optional<Printed> leading_figure(std::string_view word) {
  std::size_t end = 0;
  while (end < word.size() && (is_digit(word[end]) || word[end] == '.')) ++end;
  const std::string_view unit = word.substr(end);
  if (!(unit.empty() || unit == "GBps" || unit == "GB/s" || unit == "us")) return std::nullopt;
  return parse_printed(word.substr(0, end));
}

// Trimmed copies without a type column: as many words as columns, each of its kind.
RowKind parse_trimmed_row(const Words& words, const TableHeader& header, ParsedRow& out) {
  if (words.size() != header.columns.size()) return RowKind::kNone;
  std::optional<Printed> time;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Column column = header.columns[i];
    if (column == Column::kSize) {
      const auto size = parse_size(words[i], true);
      if (!size) return RowKind::kNone;
      out.row.size = *size;
      continue;
    }
    const auto figure = leading_figure(words[i]);
    if (!figure) return RowKind::kNone;
    if (column == Column::kTime && time) out.row.in_place_us = figure->value;
    if (column == Column::kTime && !time) time = figure;
    if (column == Column::kAlgbw && !out.row.algbw) out.row.algbw = figure;
    if (column == Column::kBusbw && !out.row.busbw) out.row.busbw = figure;
  }
  const double per_GBps = static_cast<double>(out.row.size) * 1e-3;  // us at 1 GB/s
  if (!time && out.row.algbw && out.row.algbw->value > 0)
    time = Printed{per_GBps / out.row.algbw->value, per_GBps / out.row.algbw->value * 0.5};
  if (!time) return RowKind::kNone;
  out.row.time_us = *time;
  return RowKind::kRow;
}

bool is_fragment(const Words& words) {
  return words.size() >= 6 && std::all_of(words.begin(), words.end(), [](std::string_view word) {
           return is_figure(without_label(word));
         });
}

}  // namespace

std::string cleaned(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t noise = noise_at(line, i);
    if (noise == 0) {
      out += line[i++];
    } else {
      if (line[i] != '\x1b') out += ' ';
      i += noise;
    }
  }
  return out;
}

Words table_words(std::string_view cleaned_line) {
  Words words;
  for (std::string_view word : words_of(cleaned_line)) {
    while (!word.empty() && (word.front() == '>' || (word.front() == '#' && word != "#wrong")))
      word.remove_prefix(1);
    while (!word.empty() && word.back() == ',') word.remove_suffix(1);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool TableHeader::has(Column column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::size_t TableHeader::group() const {
  const auto first = std::find(columns.begin(), columns.end(), Column::kTime);
  if (first == columns.end()) return 0;
  return static_cast<std::size_t>(std::find(first + 1, columns.end(), Column::kTime) - first);
}

std::optional<TableHeader> parse_header(const Words& words) {
  TableHeader header;
  for (const std::string_view word : words) {
    const std::string name = lower(word.substr(0, word.find('(')));
    if (name.empty()) continue;  // "(us)"
    const auto column = column_of(name);
    if (!column && header.columns.empty()) continue;  // a launcher's label
    if (header.columns.empty() && column != Column::kSize) continue;
    if (!column) return std::nullopt;
    if (header.columns.empty()) header.milliseconds = name == "bytes";
    header.host_time = header.host_time || name == "cputime";
    header.counts_wrong = header.counts_wrong || name == "#wrong" || name == "wrong";
    header.columns.push_back(*column);
  }
  const bool measures = header.has(Column::kTime) || header.has(Column::kAlgbw);
  if (header.columns.size() < 3 || !measures || !header.has(Column::kBusbw)) return std::nullopt;
  return header;
}

RowKind parse_row(const Words& words, const std::optional<TableHeader>& header, ParsedRow& out) {
  const RowKind typed = parse_typed_row(words, header, out);
  if (typed != RowKind::kNone) return typed;
  if (header && !header->has(Column::kType)) return parse_trimmed_row(words, *header, out);
  return is_fragment(words) ? RowKind::kTorn : RowKind::kNone;
}

bool parse_rank_line(std::string_view line, const Words& words, RankList& list) {
  const auto rank = word_after(words, "Rank"), pid = word_after(words, "Pid");
  if (!rank || !pid || !word_after(words, "device")) return false;
  const auto number = parse_whole(*rank), process = parse_whole(*pid);
  if (!number || !process) return false;
  const auto host = word_after(words, "on");
  const std::size_t device = line.find(" device ");
  const std::size_t bracket = device == std::string_view::npos ? device : line.find(']', device);
  const std::string_view gpu = bracket == std::string_view::npos ? "" : trimmed(line.substr(bracket + 1));
  list.add(*number, host && *host != "device" ? *host : "", *process, gpu);
  return true;
}

std::string program_in(std::string_view line) {
  for (std::size_t at = line.find("_perf"); at != std::string_view::npos; at = line.find("_perf", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && ((line[begin - 1] >= 'a' && line[begin - 1] <= 'z') || line[begin - 1] == '_'))
      --begin;
    std::string name(line.substr(begin, at - begin));
    if (parse_collective(name) || name == "hypercube" || name == "alltoallv") return name;
  }
  return "";
}

}  // namespace busbar
