#include "calibrate/import/raw_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

// Times of a day and more are damage, and below a nanosecond nothing is measured.
constexpr double kLongest_us = 86400e6, kShortest_us = 1e-3;

bool is_told(std::string_view host) {
  return !host.empty() && lower(host).find("redacted") == std::string::npos;
}

bool plausible(double us) { return us >= kShortest_us && us <= kLongest_us; }

// algbw is size / time; in the convention of 2019 that times (n-1)/n, which is at least 1/2.
bool algbw_fits(const RawRow& row) {
  if (!row.algbw || row.algbw->value < 50 * row.algbw->half) return true;
  const double ratio = row.algbw->value / (static_cast<double>(row.size) / row.time_us.value * 1e-3);
  return ratio > 0.42 && ratio < 1.15;
}

// Old forks print a fraction of a microsecond for in-place all-to-all, whatever the size.
bool in_place_fits(const RawRow& row) {
  return row.in_place_us && plausible(*row.in_place_us) &&
         (row.size < (1 << 20) || *row.in_place_us * 10 > row.time_us.value);
}

void note_count(MeasuredTable& table, std::int64_t count, std::string_view what) {
  if (count > 0) table.notes.push_back(fmt::format("{} {} {}", count, count == 1 ? "row" : "rows", what));
}

void add_rows(MeasuredTable& table, const std::vector<RawRow>& rows) {
  std::int64_t zero = 0, doubtful = 0, in_place = 0, wrong = 0;
  for (const RawRow& row : rows) {
    if (row.size <= 0) {
      ++zero;
    } else if (row.wrong > 0) {
      ++wrong;
    } else if (!plausible(row.time_us.value) || !algbw_fits(row)) {
      ++doubtful;
    } else {
      const bool fits = in_place_fits(row);
      in_place += row.in_place_us && !fits ? 1 : 0;
      table.rows.push_back(
          {.operation = table.operation,
           .size = Bytes(row.size),
           .ranks = table.ranks,
           .time = Time::from_microseconds(row.time_us.value),
           .time_in_place = fits ? std::optional(Time::from_microseconds(*row.in_place_us)) : std::nullopt});
    }
  }
  note_count(table, zero, "of size 0 left out");
  note_count(table, wrong, "left out: results were wrong (#wrong above 0)");
  note_count(table, doubtful, "left out: the printed bandwidth is not size / time");
  note_count(table, in_place, "with an in-place time that is no measurement");
}

MeasuredTable measured(RawTable raw, CollectiveKind kind, const ImportHints& hints) {
  MeasuredTable table{.source = raw.where, .operation = kind, .ranks = ranks_of(raw, kind, hints)};
  table.type = raw.type;
  table.reduction = is_reducing(kind) ? parse_reduction(raw.redop) : std::nullopt;
  if (is_rooted(kind) && raw.root && *raw.root >= 0) table.root = raw.root;
  const bool listed = raw.devices.ranks == table.ranks;
  if (listed) table.hosts = raw.devices.hosts;
  if (listed) table.member_hosts = raw.devices.rank_hosts;
  table.gpus_per_process = listed ? raw.devices.gpus_per_process : std::nullopt;
  if (!table.gpus_per_process) table.gpus_per_process = raw.gpus_per_process;
  table.nccl_version = raw.nccl_version;
  table.cuda_graph = raw.cuda_graph;
  table.gpu = raw.devices.gpu;
  table.notes = std::move(raw.notes);
  add_rows(table, raw.rows);
  return table;
}

bool same_run(const RawTable& a, const RawTable& b) {
  return a.names == b.names && a.type == b.type && a.redop == b.redop && a.root == b.root &&
         a.told_ranks == b.told_ranks && a.devices == b.devices && a.gpus_per_process == b.gpus_per_process &&
         a.nccl_version == b.nccl_version && a.cuda_graph == b.cuda_graph;
}

// A name that nccl-tests has and the simulator has not ("hypercube").
bool is_foreign(const RawTable& table) {
  return !table.names.empty() && !parse_collective(table.names.front());
}

}  // namespace

std::optional<Printed> parse_printed(std::string_view text) {
  const std::optional<double> value = parse_decimal(text);
  if (!value) return std::nullopt;
  std::string_view digits = text.substr(0, text.find_first_of("eE"));
  const std::size_t point = digits.find('.');
  const auto decimals = point == std::string_view::npos ? 0 : static_cast<double>(digits.size() - point - 1);
  double half = 0.5 * std::pow(10.0, -decimals);
  if (digits.size() < text.size())
    half *= std::pow(10.0, parse_decimal(text.substr(digits.size() + 1)).value_or(0));
  return Printed{*value, half};
}

void RankList::add(std::int64_t rank, std::string_view host, std::int64_t pid, std::string_view gpu) {
  if (rank >= 0 && rank < (1 << 24) && entries_.size() < kMaxRows)
    entries_.push_back({.rank = rank, .pid = pid, .host = std::string(host), .gpu = std::string(gpu)});
}

RankSummary RankList::summary() const {
  if (entries_.empty()) return {};
  RankSummary summary{.gpu = entries_.front().gpu};
  std::set<std::int64_t> ranks;
  std::set<std::string_view> hosts;
  std::set<std::pair<std::string_view, std::int64_t>> processes;
  bool told = true;
  for (const Entry& e : entries_) {
    ranks.insert(e.rank);
    hosts.insert(e.host);
    processes.insert({e.host, e.pid});
    told = told && is_told(e.host);
  }
  summary.ranks = *ranks.rbegin() + 1;
  summary.complete = static_cast<std::int64_t>(ranks.size()) == summary.ranks;
  if (!summary.complete || !told) return summary;
  summary.hosts = static_cast<std::int64_t>(hosts.size());
  const auto count = static_cast<std::int64_t>(processes.size());
  if (summary.ranks % count == 0) summary.gpus_per_process = summary.ranks / count;
  if (entries_.size() != ranks.size()) return summary;
  summary.rank_hosts.resize(entries_.size());
  for (const Entry& e : entries_) summary.rank_hosts[static_cast<std::size_t>(e.rank)] = e.host;
  return summary;
}

std::int64_t element_bytes(std::string_view type) {
  static constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"int8", 1},     {"uint8", 1},    {"char", 1},  {"f8e4m3", 1},   {"f8e5m2", 1},
      {"fp8_e4m3", 1}, {"fp8_e5m2", 1}, {"half", 2},  {"bfloat16", 2}, {"fp16", 2},
      {"bf16", 2},     {"float", 4},    {"fp32", 4},  {"float32", 4},  {"int32", 4},
      {"uint32", 4},   {"int", 4},      {"int64", 8}, {"uint64", 8},   {"double", 8}};
  for (const auto& [name, bytes] : kTypes)
    if (name == type) return bytes;
  return 0;
}

std::string operation_in_name(std::string_view path) {
  // Longer names first: "reduce" is in most of them.
  static constexpr std::string_view kNames[] = {"reduce_scatter", "reducescatter", "all_reduce", "allreduce",
                                                "all_gather",     "allgather",     "all_to_all", "alltoall",
                                                "send_recv",      "sendrecv",      "broadcast",  "barrier",
                                                "scatter",        "gather",        "reduce"};
  const std::string file = lower(path.substr(path.find_last_of('/') + 1));
  for (const std::string_view name : kNames)
    if (file.find(name) != std::string::npos) return std::string(name);
  return "";
}

std::vector<RawTable> joined(std::vector<RawTable> tables) {
  std::vector<RawTable> out;
  for (RawTable& table : tables) {
    if (table.rows.empty()) continue;
    const bool grows =
        !out.empty() && same_run(out.back(), table) && table.rows.front().size > out.back().rows.back().size;
    if (!grows) {
      out.push_back(std::move(table));
      continue;
    }
    RawTable& last = out.back();
    last.rows.insert(last.rows.end(), table.rows.begin(), table.rows.end());
    last.notes.insert(last.notes.end(), table.notes.begin(), table.notes.end());
  }
  return out;
}

Measurement finish_tables(std::vector<RawTable> tables, const ImportHints& hints, const std::string& name) {
  Measurement measurement;
  std::vector<std::string> notes;
  for (RawTable& raw : tables) {
    if (is_foreign(raw)) {
      notes.push_back(fmt::format("the table at {} is of {}, which is not modelled", raw.where,
                                  quoted(raw.names.front())));
      continue;
    }
    drop_torn_end(raw);
    const std::optional<CollectiveKind> kind = operation_of(raw, hints);
    if (!kind)
      throw Error({.where = raw.where,
                   .message = "the table does not say which operation it measures",
                   .suggestion = "name it with --collective, as in --collective all_gather"});
    MeasuredTable table = measured(std::move(raw), *kind, hints);
    if (table.rows.empty())
      notes.insert(notes.end(), table.notes.begin(), table.notes.end());
    else
      measurement.tables.push_back(std::move(table));
  }
  if (measurement.tables.empty())
    throw Error(
        {.where = name,
         .message = "holds no measured row that can be used" + (notes.empty() ? "" : ": " + notes[0])});
  auto& first = measurement.tables.front().notes;
  first.insert(first.end(), notes.begin(), notes.end());
  return measurement;
}

}  // namespace busbar
