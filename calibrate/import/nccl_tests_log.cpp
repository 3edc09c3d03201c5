#include "calibrate/import/nccl_tests_log.h"

#include <fmt/format.h>

#include <utility>

#include "calibrate/import/nccl_tests_line.h"
#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

using Words = std::vector<std::string_view>;

class LogReader {
 public:
  explicit LogReader(std::string name) : name_(std::move(name)) {}

  void read(std::string_view text) {
    for (LineScanner lines(text); lines.next();) {
      number_ = lines.number();
      if (lines.line().size() <= kMaxLineBytes) read_line(lines.line());
    }
    table_.cut = !text.empty() && text.back() != '\n';
    close();
  }
  std::vector<RawTable> take() { return joined(std::move(tables_)); }

 private:
  // What stands before a table and is true of it.
  struct Banner {
    std::string starting, command;  // the operation, by nccl-tests itself and by the command line
    RankList devices;
    RankSummary listed;
    std::string nccl_version, headers_version;
    std::optional<std::int64_t> gpus_per_process;
    std::optional<bool> cuda_graph;
    std::vector<std::string> notes;
  };

  void read_line(std::string_view raw) {
    const std::string line = cleaned(raw);
    const Words words = table_words(line);
    if (words.empty() || read_banner(line, words)) return;
    if (auto header = parse_header(words)) {
      if (!open_ || !table_.rows.empty()) close();
      header_ = std::move(header);
      open();
      return;
    }
    ParsedRow row;
    switch (parse_row(words, header_, row)) {
      case RowKind::kNone:
        return;
      case RowKind::kTorn:
        ++torn_;
        return;
      case RowKind::kRow:
        add(std::move(row));
    }
  }

  bool read_banner(const std::string& line, const Words& words) {
    if (const auto threads = word_after(words, "nThread")) {
      begin_banner();
      read_settings(words, *threads);
      return true;
    }
    if (line.find("Using devices") != std::string::npos) {
      begin_banner();
      banner_.devices = {};
      listing_ = true;
      return true;
    }
    if (line.find("Avg bus bandwidth") != std::string::npos ||
        line.find("Collective test concluded") != std::string::npos) {
      close();
      return true;
    }
    if (parse_rank_line(line, words, banner_.devices)) return listing_ = true;
    return read_version(line, words) || read_program(line) || read_limit(line);
  }

  // "nThread 1 nGpus 8 ... graph: 0": keys with or without a colon, in any order.
  void read_settings(const Words& words, std::string_view threads) {
    const auto per_thread = parse_whole(word_after(words, "nGpus").value_or(""));
    const auto count = parse_whole(threads);
    std::int64_t product = 0;
    banner_.gpus_per_process = std::nullopt;
    if (count && per_thread && *count > 0 && *per_thread > 0 &&
        !__builtin_mul_overflow(*count, *per_thread, &product))
      banner_.gpus_per_process = product;
    const auto graph = parse_whole(word_after(words, "graph:").value_or(""));
    banner_.cuda_graph = graph ? std::optional(*graph > 0) : std::nullopt;
  }

  bool read_version(const std::string& line, const Words& words) {
    if (line.find("nccl-tests version") != std::string::npos) {
      begin_banner();
      for (const std::string_view word : words) {
        const std::string code = version_of_code(parse_whole(word.substr(word.find('=') + 1)).value_or(0));
        if (word.starts_with("nccl-library=")) banner_.nccl_version = code;
        if (word.starts_with("nccl-headers=")) banner_.headers_version = code;
      }
      return true;
    }
    const std::size_t at = line.find("CCL version ");  // NCCL and RCCL
    if (at == std::string::npos) return false;
    std::string_view rest = trimmed(std::string_view(line).substr(at + 12));
    if (rest.starts_with(':')) rest = trimmed(rest.substr(1));
    const std::string version = version_prefix(rest);
    if (!version.empty()) banner_.nccl_version = version;
    return true;
  }

  bool read_program(const std::string& line) {
    const std::string program = program_in(line);
    if (program.empty()) return false;
    begin_banner();
    const bool starting = line.find("Collective test starting") != std::string::npos;
    (starting ? banner_.starting : banner_.command) = program;
    return true;
  }

  bool read_limit(const std::string& line) {
    const std::size_t at = line.find("Reducing maxBytes");
    if (at == std::string::npos) return false;
    banner_.notes.push_back("the sweep ends early: " + printable(trimmed(line.substr(at))));
    return true;
  }

  // A line of a banner ends the table above it.
  void begin_banner() {
    if (open_ && !table_.rows.empty()) close();
  }

  void open() {
    open_ = true;
    table_ = {.where = at_line(name_, number_)};
    if (!banner_.starting.empty()) table_.names.push_back(banner_.starting);
    if (!banner_.command.empty()) table_.names.push_back(banner_.command);
    table_.guesses = {operation_in_name(name_), previous_};
    if (std::exchange(listing_, false)) banner_.listed = banner_.devices.summary();
    table_.devices = banner_.listed;
    table_.gpus_per_process = banner_.gpus_per_process;
    table_.nccl_version = banner_.nccl_version.empty() ? banner_.headers_version : banner_.nccl_version;
    table_.cuda_graph = banner_.cuda_graph;
    table_.notes = banner_.notes;
    if (header_ && header_->host_time) table_.notes.push_back("the times are the host's (cputime)");
    if (header_ && !header_->has(Column::kTime))
      table_.notes.push_back("times are derived from algbw, which has few digits");
  }

  void add(ParsedRow&& parsed) {
    if (++rows_ > kMaxRows)
      throw Error({.where = at_line(name_, number_), .expected = "at most 1000000 rows", .given = "more"});
    if (!open_) open();
    const bool first = table_.rows.empty();
    const bool other = !first && (parsed.type != table_.type || parsed.redop != table_.redop ||
                                  parsed.root != table_.root || parsed.row.size < table_.rows.back().size);
    if (other) reopen();
    if (table_.rows.empty()) {
      table_.type = std::move(parsed.type);
      table_.redop = std::move(parsed.redop);
      table_.root = parsed.root;
    }
    table_.rows.push_back(parsed.row);
  }

  // The next data type or reduction of the same run, or its next round.
  void reopen() {
    RawTable next = table_;
    next.rows.clear();
    next.where = at_line(name_, number_);
    push();
    table_ = std::move(next);
  }

  void push() {
    if (torn_ > 0)
      table_.notes.push_back(fmt::format("{} torn {} left out", torn_, torn_ == 1 ? "row" : "rows"));
    torn_ = 0;
    tables_.push_back(std::move(table_));
  }

  void close() {
    if (!open_) return;
    if (!table_.names.empty()) previous_ = table_.names.front();
    if (!table_.rows.empty()) {
      push();
      banner_.starting.clear();
      banner_.command.clear();
      banner_.notes.clear();
    }
    table_ = {};
    open_ = false;
  }

  std::string name_, previous_;
  Banner banner_;
  std::optional<TableHeader> header_;
  RawTable table_;
  std::vector<RawTable> tables_;
  std::int64_t number_ = 0, torn_ = 0;
  std::size_t rows_ = 0;
  bool open_ = false, listing_ = false;
};

}  // namespace

Measurement read_nccl_tests_log(std::string_view text, const std::string& name, const ImportHints& hints) {
  LogReader reader(name);
  reader.read(text);
  std::vector<RawTable> tables = reader.take();
  if (tables.empty())
    throw Error({.where = name, .expected = "the output of nccl-tests", .given = "no table of times"});
  return finish_tables(std::move(tables), hints, name);
}

bool looks_like_nccl_tests(std::string_view text) {
  for (LineScanner lines(text); lines.next();) {
    if (lines.line().size() > kMaxLineBytes) continue;
    const std::string line = cleaned(lines.line());
    const Words words = table_words(line);
    ParsedRow row;
    if (parse_header(words) || parse_row(words, std::nullopt, row) == RowKind::kRow) return true;
  }
  return false;
}

}  // namespace busbar
