#include "calibrate/import/nccl_debug_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "calibrate/import/nccl_debug_table.h"
#include "calibrate/import/nccl_tests_line.h"
#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

// What one thread said of the communicator that it was setting up.
struct Communicator {
  std::uint32_t ranks = 0, hosts = 0;
  ChannelCounts counts;
  std::vector<LoggedTable> tables;
  std::vector<TableColumn> columns;  // of the block that is being printed
};

// A log may hold millions of calls, of few kinds.
using CallKey =
    std::tuple<CollectiveKind, std::int64_t, NcclAlgorithm, Protocol, std::optional<std::int64_t>>;

std::uint32_t count_after(const std::vector<std::string_view>& words, std::string_view key) {
  const auto value = parse_whole(word_after(words, key).value_or(""));
  return value && *value > 0 && *value < (1 << 24) ? static_cast<std::uint32_t>(*value) : 0;
}

class DebugLogReader {
 public:
  void read(std::string_view text) {
    for (LineScanner lines(text); lines.next();) {
      if (lines.line().size() > kMaxLineBytes) continue;
      read_version(lines.line());
      if (const auto line = parse_debug_line(lines.line())) {
        read_line(*line);
      } else if (const std::string program = program_in(lines.line()); !program.empty()) {
        program_ = parse_collective(program);
      }
    }
  }

  NcclDebugLog take() {
    NcclDebugLog result{.log = std::move(log_), .skipped = skipped_};
    std::vector<Communicator> all = std::move(finished_);
    for (auto& [thread, communicator] : current_) all.push_back(std::move(communicator));
    // The first of equals: rank 0 prints the table, the others the shape alone.
    const auto order = [](const Communicator& a, const Communicator& b) {
      return std::tuple(!a.tables.empty(), a.ranks, a.counts.channels.has_value()) <
             std::tuple(!b.tables.empty(), b.ranks, b.counts.channels.has_value());
    };
    const auto best = std::max_element(all.begin(), all.end(), order);
    if (best == all.end()) return result;
    fill(result.log, *best);
    for (const Communicator& other : all)
      if (other.ranks == best->ranks) result.log.hosts = std::max(result.log.hosts, other.hosts);
    return result;
  }

 private:
  static void fill(NcclLog& log, Communicator& from) {
    log.ranks = from.ranks;
    log.channels = from.counts.channels;
    log.nvls_channels = from.counts.nvls;
    log.p2p_channels = from.counts.p2p;
    log.p2p_channels_per_peer = from.counts.p2p_per_peer;
    log.tables = std::move(from.tables);
  }

  void read_version(std::string_view line) {
    const std::size_t at = line.find("CCL version ");  // NCCL and RCCL
    if (at == std::string_view::npos || log_.version) return;
    std::string_view rest = trimmed(line.substr(at + 12));
    if (rest.starts_with(':')) rest = trimmed(rest.substr(1));
    log_.version = parse_nccl_version(version_prefix(rest));
  }

  void read_line(const DebugLine& line) {
    if (line.text.find("opCount") != std::string_view::npos) return read_operation(line);
    const std::string thread(line.thread);
    if (read_shape(line, thread) || read_call(line) || read_table(line, current_[thread])) return;
    if (const auto counts = parse_channel_counts(line.text); counts && !line.torn)
      current_[thread].counts = *counts;
  }

  // "AllReduce: opCount 1f sendbuff ...".
  void read_operation(const DebugLine& line) {
    const std::size_t colon = line.text.find(':');
    if (const auto kind = parse_collective(line.text.substr(0, colon)); kind && !line.torn)
      operations_[std::string(line.process)] = *kind;
  }

  // "comm 0x1 rank 0 nRanks 8 nNodes 2 ...", and with "nranks" where set-up begins and ends.
  bool read_shape(const DebugLine& line, const std::string& thread) {
    if (line.text.find("comm ") == std::string_view::npos) return false;
    const std::vector<std::string_view> words = words_of(line.text);
    const std::uint32_t ranks = std::max(count_after(words, "nRanks"), count_after(words, "nranks"));
    if (ranks == 0 || line.torn) return false;
    Communicator& communicator = current_[thread];
    const bool another = communicator.ranks != 0 && communicator.ranks != ranks;
    if (another) finished_.push_back(std::exchange(communicator, {}));
    communicator.ranks = ranks;
    if (const std::uint32_t hosts = count_after(words, "nNodes"); hosts > 0) communicator.hosts = hosts;
    return true;
  }

  // The operation that a call without a function belongs to.
  [[nodiscard]] std::optional<CollectiveKind> running(const DebugLine& line) const {
    const auto last = operations_.find(std::string(line.process));
    return last != operations_.end() ? std::optional(last->second) : program_;
  }

  bool read_call(const DebugLine& line) {
    std::optional<DebugCall> call;
    if (!parse_call(line.text, call)) return false;
    if (call && !call->kind) call->kind = running(line);
    if (!call || !call->kind || line.torn) return ++skipped_, true;
    LoggedCall& c = call->call;
    c.kind = call->kind.value();
    const CallKey key{c.kind, c.bytes.count(), c.algorithm, c.protocol, c.channels};
    if (seen_.size() < kMaxRows && seen_.insert(key).second) log_.calls.push_back(c);
    return true;
  }

  bool read_table(const DebugLine& line, Communicator& communicator) {
    if (auto columns = parse_columns(line.text); !columns.empty()) {
      if (line.torn) return ++skipped_, true;
      communicator.columns = std::move(columns);
      return true;
    }
    std::optional<TableRow> row;
    if (!parse_table_row(line.text, row)) return false;
    const std::vector<TableColumn>& columns = communicator.columns;
    if (!row || line.torn || row->cells.size() != columns.size()) return ++skipped_, true;
    LoggedTable& table = table_of(communicator, row->kind);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].algorithm)
        table.cells[static_cast<std::size_t>(*columns[i].algorithm)]
                   [static_cast<std::size_t>(columns[i].protocol)] = row->cells[i];
    return true;
  }

  static LoggedTable& table_of(Communicator& communicator, CollectiveKind kind) {
    for (LoggedTable& table : communicator.tables)
      if (table.kind == kind) return table;
    return communicator.tables.emplace_back(LoggedTable{.kind = kind, .cells = {}});
  }

  NcclLog log_;
  std::map<std::string, Communicator> current_;  // by thread
  std::vector<Communicator> finished_;
  std::map<std::string, CollectiveKind> operations_;  // the last one, by process
  std::optional<CollectiveKind> program_;
  std::set<CallKey> seen_;
  std::int64_t skipped_ = 0;
};

}  // namespace

NcclDebugLog read_nccl_debug_log(std::string_view text, const std::string& name) {
  DebugLogReader reader;
  reader.read(text);
  NcclDebugLog result = reader.take();
  if (result.log.tables.empty() && result.log.calls.empty())
    throw Error({.where = name,
                 .expected = "NCCL's table of choices or its per-call lines",
                 .given = "neither",
                 .suggestion = "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,TUNING prints both"});
  return result;
}

NcclDebugLog load_nccl_debug_log(const std::string& path) {
  return read_nccl_debug_log(load_text(path), path);
}

}  // namespace busbar
