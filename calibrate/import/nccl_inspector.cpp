#include "calibrate/import/nccl_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "calibrate/import/text_scan.h"
#include "sim/base/json_reader.h"
#include "sim/base/rank_range.h"
#include "sim/base/statistics.h"

namespace busbar {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 62;
constexpr double kLongest_us = 86400e6;

/// What all rows of a table share.
struct Key {
  std::string communicator;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t ranks = 0, hosts = 0;
  auto operator<=>(const Key&) const = default;
};
/// What repetitions of one row share.
using RowKey = std::tuple<std::int64_t, std::string, std::string>;  // size, algorithm, protocol

struct Group {
  std::int64_t line = 0;
  std::map<std::int64_t, std::string> hosts;                    // by rank of the communicator
  std::map<RowKey, std::map<std::int64_t, double>> slowest_us;  // by sequence number
};

std::string text_or(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && value->is_string() ? value->string() : "";
}

// One rank's part times the ranks where the plugin's own rate says so: it prints GB/s of the whole.
std::int64_t whole_size(const JsonValue& perf, std::int64_t size, double us, std::int64_t ranks) {
  const auto rate = perf.find("coll_algobw_gbs");
  if (!rate || ranks < 2) return size;
  const double moved = rate->number(0, 1e9) * 1e3 * us / static_cast<double>(size);
  return moved > std::sqrt(static_cast<double>(ranks)) ? size * ranks : size;
}

void take(std::map<Key, Group>& groups, const JsonValue& root, std::int64_t line,
          std::set<std::string>& left_out) {
  const auto perf = root.find("coll_perf");
  if (!perf) {
    left_out.insert("lines of other operations than collectives are left out");
    return;
  }
  const JsonValue header = root.at("header");
  const auto kind = parse_collective(perf->at("coll").string());
  if (!kind) {
    left_out.insert("lines of " + perf->at("coll").string() + " are left out");
    return;
  }
  const std::int64_t ranks = header.at("n_ranks").integer(1, kMaxRanks);
  const auto nodes = header.find("nnodes");
  const double us = perf->at("coll_exec_time_us").number(0, kLongest_us);
  const std::int64_t size = perf->at("coll_msg_size_bytes").integer(0, kMostBytes);
  if (size == 0 || us <= 0) return;
  Group& group = groups[{text_or(header, "id"), *kind, ranks, nodes ? nodes->integer(1, kMaxRanks) : 0}];
  if (group.line == 0) group.line = line;
  const std::int64_t rank = header.at("rank").integer(0, kMaxRanks);
  if (const auto metadata = root.find("metadata")) group.hosts[rank] = text_or(*metadata, "hostname");
  const RowKey row{whole_size(*perf, size, us, ranks), text_or(*perf, "coll_algo"),
                   text_or(*perf, "coll_proto")};
  double& slowest = group.slowest_us[row][perf->at("coll_sn").integer(0, kMostNumber)];
  slowest = std::max(slowest, us);
}

double median_time(const std::map<std::int64_t, double>& times) {
  std::vector<double> us;
  us.reserve(times.size());
  for (const auto& [sequence, time] : times) us.push_back(time);
  return median_of(std::move(us));
}

MeasuredTable table_of(const Key& key, const Group& group, const std::string& name) {
  MeasuredTable table{.source = at_line(name, group.line), .operation = key.kind, .ranks = key.ranks};
  if (key.hosts > 0) table.hosts = key.hosts;
  if (static_cast<std::int64_t>(group.hosts.size()) == key.ranks)
    for (const auto& [rank, host] : group.hosts) table.member_hosts.push_back(host);
  for (const auto& [row, times] : group.slowest_us) {
    const auto& [size, algorithm, protocol] = row;
    MeasuredRow measured{.operation = key.kind, .size = Bytes(size), .ranks = key.ranks};
    measured.time = Time::from_microseconds(median_time(times));
    if (!algorithm.empty() && algorithm != "unknown") measured.algorithm = algorithm;
    if (!protocol.empty() && protocol != "unknown") measured.protocol = protocol;
    table.rows.push_back(std::move(measured));
  }
  table.notes.emplace_back("times of a running job include waiting for ranks that come late");
  return table;
}

}  // namespace

bool looks_like_nccl_inspector(std::string_view text) {
  LineScanner lines(text);
  while (lines.next()) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty()) continue;
    return line.starts_with('{') && line.ends_with('}') &&
           line.find("\"header\"") != std::string_view::npos &&
           line.find("_perf\"") != std::string_view::npos;
  }
  return false;
}

namespace {

// What follows the last line feed: a job that was ended leaves half of a line.
bool is_last(std::string_view text, std::string_view line) {
  return line.data() + line.size() == text.data() + text.size();
}

}  // namespace

Measurement read_nccl_inspector(std::string_view text, const std::string& name) {
  std::map<Key, Group> groups;
  std::set<std::string> left_out;
  LineScanner lines(text);
  while (lines.next()) {
    if (trimmed(lines.line()).empty()) continue;
    try {
      const JsonDocument document = JsonDocument::parse(lines.line(), at_line(name, lines.number()));
      take(groups, document.root(), lines.number(), left_out);
    } catch (const Error&) {
      if (groups.empty() || !is_last(text, lines.line())) throw;
      left_out.insert(fmt::format("line {}, the last, is cut; left out", lines.number()));
    }
  }
  Measurement measurement;
  for (const auto& [key, group] : groups) measurement.tables.push_back(table_of(key, group, name));
  if (measurement.tables.empty())
    throw Error({.where = name, .message = "the inspector's lines hold no collective that is modelled"});
  for (const std::string& note : left_out) measurement.tables.front().notes.push_back(note);
  return measurement;
}

}  // namespace busbar
