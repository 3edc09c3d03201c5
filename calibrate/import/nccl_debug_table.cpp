#include "calibrate/import/nccl_debug_table.h"

#include <algorithm>

#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

constexpr std::string_view kMark = "NCCL INFO";

std::optional<NcclAlgorithm> algorithm_of(std::string_view word) {
  NcclAlgorithm algorithm{};
  if (parse_nccl_algorithm(word, algorithm)) return algorithm;
  const auto number = parse_whole(word);
  if (!number || *number < 0 || *number >= static_cast<std::int64_t>(kNcclAlgorithms)) return std::nullopt;
  return static_cast<NcclAlgorithm>(*number);
}

std::optional<Protocol> protocol_of(std::string_view word) {
  Protocol protocol{};
  if (parse_protocol(word, protocol)) return protocol;
  const auto number = parse_whole(word);
  if (!number || *number < 0 || *number >= static_cast<std::int64_t>(kNcclProtocols)) return std::nullopt;
  return static_cast<Protocol>(*number);
}

// The parts before each '|'.
std::vector<std::string_view> cells_of(std::string_view text) {
  std::vector<std::string_view> parts = split(text, '|');
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

std::optional<NcclCell> cell_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto latency = parse_decimal(trimmed(text.substr(0, slash)));
  const auto bandwidth = parse_decimal(trimmed(text.substr(slash + 1)));
  if (!latency || !bandwidth || *latency < 0 || *bandwidth < 0) return std::nullopt;
  return NcclCell{*latency, *bandwidth};
}

// "channel{Lo..Hi}={0..23}" -> 24.
std::optional<std::int64_t> channels_of(std::string_view text) {
  const std::size_t at = text.find("}={");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view range = text.substr(at + 3, text.find('}', at + 3) - at - 3);
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto low = parse_whole(range.substr(0, dots)), high = parse_whole(range.substr(dots + 2));
  if (!low || !high || *low < 0 || *high < *low || *high > 1023) return std::nullopt;
  return *high - *low + 1;
}

}  // namespace

std::optional<DebugLine> parse_debug_line(std::string_view line) {
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  DebugLine parsed;
  parsed.text = trimmed(line.substr(at + kMark.size()));
  parsed.torn = parsed.text.find(kMark) != std::string_view::npos;
  const std::vector<std::string_view> words = words_of(line.substr(0, at));
  for (const std::string_view word : words)
    if (std::count(word.begin(), word.end(), ':') >= 2 && !word.ends_with(':')) parsed.thread = word;
  const std::size_t last = parsed.thread.rfind(':');
  parsed.process = parsed.thread.substr(0, last == std::string_view::npos ? 0 : last);
  return parsed;
}

std::vector<TableColumn> parse_columns(std::string_view text) {
  std::vector<TableColumn> columns;
  const std::vector<std::string_view> cells = cells_of(text);
  if (cells.size() < 2) return columns;
  const bool blocks = cells[0] == "Algorithm";
  if (!blocks && cells[0] != "Latency/AlgBw") return columns;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::size_t slash = cells[i].find('/');
    const auto algorithm = algorithm_of(trimmed(cells[i].substr(0, slash)));
    if (blocks) {
      for (std::size_t p = 0; p < kNcclProtocols; ++p)
        columns.push_back({algorithm, static_cast<Protocol>(p)});
    } else {
      const auto protocol =
          slash == std::string_view::npos ? std::nullopt : protocol_of(trimmed(cells[i].substr(slash + 1)));
      columns.push_back({protocol ? algorithm : std::nullopt, protocol.value_or(Protocol::kLl)});
    }
  }
  return columns;
}

bool parse_table_row(std::string_view text, std::optional<TableRow>& out) {
  out = std::nullopt;
  const std::vector<std::string_view> parts = cells_of(text);
  const auto kind = parse_collective(parts.empty() ? "" : parts[0]);
  if (!kind || parts.size() < 2 || parts[1].find('/') == std::string_view::npos) return false;
  TableRow row{.kind = *kind, .cells = {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto cell = cell_of(parts[i]);
    if (!cell) return true;
    row.cells.push_back(*cell);
  }
  out = std::move(row);
  return true;
}

bool parse_call(std::string_view text, std::optional<DebugCall>& out) {
  out = std::nullopt;
  if (text.find("Bytes -> Algo") == std::string_view::npos) return false;
  const std::vector<std::string_view> words = words_of(text);
  const auto unit = std::find(words.begin(), words.end(), "Bytes");
  const auto algorithm = word_after(words, "Algo"), protocol = word_after(words, "proto");
  if (unit == words.begin() || unit == words.end() || !algorithm || !protocol) return true;
  const auto bytes = parse_whole(*(unit - 1));
  const auto a = algorithm_of(*algorithm);
  const auto p = protocol_of(*protocol);
  if (!bytes || *bytes < 0 || !a || !p) return true;
  DebugCall call{.kind = std::nullopt,
                 .call = {.bytes = Bytes(*bytes), .algorithm = *a, .protocol = *p, .channels = std::nullopt}};
  const bool named = unit - words.begin() >= 2 && (unit - 2)->ends_with(':');
  if (named) call.kind = parse_collective((unit - 2)->substr(0, (unit - 2)->size() - 1));
  if (named && !call.kind) return true;
  call.call.channels = channels_of(text);
  const bool by_time = word_after(words, "time").has_value();
  if (call.call.channels || by_time) out = call;
  return true;
}

std::optional<ChannelCounts> parse_channel_counts(std::string_view text) {
  if (text.find(" coll channels") == std::string_view::npos) return std::nullopt;
  ChannelCounts counts;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t blank = part.find(' ');
    const auto number = parse_whole(part.substr(0, blank));
    const std::string_view what = blank == std::string_view::npos ? "" : trimmed(part.substr(blank));
    if (!number || *number < 0 || *number > 4096) continue;
    if (what == "coll channels") counts.channels = number;
    if (what == "nvls channels") counts.nvls = number;
    if (what == "p2p channels") counts.p2p = number;
    if (what == "p2p channels per peer") counts.p2p_per_peer = number;
  }
  return counts.channels ? std::optional(counts) : std::nullopt;
}

}  // namespace busbar
