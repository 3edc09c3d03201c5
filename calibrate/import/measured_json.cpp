#include "calibrate/import/measured_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include "calibrate/import/measured_kernels.h"
#include "calibrate/import/text_scan.h"
#include "sim/base/named_table.h"
#include "sim/base/rank_range.h"

namespace busbar {
namespace {

constexpr std::string_view kOrigins[] = {"measured-here", "published", "synthetic"};
constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
constexpr double kLongest_s = 86400;

std::optional<std::string> text_at(const JsonValue& row, std::string_view key) {
  const auto value = row.find(key);
  return value && !value->is_null() ? std::optional(value->string()) : std::nullopt;
}

CollectiveKind operation_at(const JsonValue& row) {
  const JsonValue value = row.at("operation");
  const std::string name = value.string();
  const auto kind = parse_collective(name);
  if (!kind) value.fail("one of " + one_of(collective_names()), did_you_mean(name, collective_names()));
  return *kind;
}

/// What all rows of one table share.
struct TableKey {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  std::int64_t ranks = 0;
  std::vector<std::uint32_t> members;
  std::string type;
  bool isolated = false;
  std::optional<std::int64_t> hosts;
  auto operator<=>(const TableKey&) const = default;
};

struct ReadRow {
  TableKey key;
  MeasuredRow row;
  bool in_place = false;
};

void read_key(const JsonValue& value, TableKey& key) {
  if (const auto members = value.find("members")) key.members = read_members(*members);
  if (const auto isolated = value.find("isolated")) key.isolated = isolated->boolean();
  if (const auto hosts = value.find("hosts")) key.hosts = hosts->integer(1, kMaxRanks);
  const auto type = value.find("type");
  if (!type) return;
  key.type = type->string();
  if (element_bytes(key.type) == 0 && !parse_data_type(key.type))
    type->fail("one of " + one_of(data_type_names()), did_you_mean(key.type, data_type_names()));
}

ReadRow read_row(const JsonValue& value, const ImportHints& hints) {
  value.only_keys({"operation", "size_bytes", "ranks", "members", "type", "time_s", "in_place", "isolated",
                   "algorithm", "protocol", "channels", "hosts", "p10_s", "p90_s"});
  ReadRow read;
  read.row.operation = operation_at(value);
  read.row.size = Bytes(value.at("size_bytes").integer(1, kMostBytes));
  const auto ranks = value.find("ranks"), channels = value.find("channels"), place = value.find("in_place");
  read_key(value, read.key);
  const std::int64_t told = static_cast<std::int64_t>(read.key.members.size());
  read.row.ranks = ranks ? ranks->integer(1, kMaxRanks) : told > 0 ? told : hints.ranks.value_or(0);
  if (told > 0 && read.row.ranks != told) ranks->fail(fmt::format("{}, as many as members", told));
  read.key.operation = read.row.operation;
  read.key.ranks = read.row.ranks;
  const JsonValue time = value.at("time_s");
  read.row.time = Time::from_seconds(time.number(0, kLongest_s));
  if (read.row.time <= Time::zero()) time.fail("a time above 0");
  if (const auto p10 = value.find("p10_s")) read.row.p10 = Time::from_seconds(p10->number(0, kLongest_s));
  if (const auto p90 = value.find("p90_s")) read.row.p90 = Time::from_seconds(p90->number(0, kLongest_s));
  read.row.algorithm = text_at(value, "algorithm");
  read.row.protocol = text_at(value, "protocol");
  if (channels && !channels->is_null()) read.row.channels = channels->integer(1, 1024);
  read.in_place = place && place->boolean();
  return read;
}

// The row that an in-place time completes.
MeasuredRow* partner(MeasuredTable& table, const MeasuredRow& row) {
  if (table.rows.empty()) return nullptr;
  MeasuredRow& last = table.rows.back();
  const bool same = last.size == row.size && last.algorithm == row.algorithm && last.protocol == row.protocol;
  return same && !last.time_in_place ? &last : nullptr;
}

void add(MeasuredTable& table, ReadRow read) {
  static constexpr std::string_view kNote = "sizes measured in place only count as out of place too";
  if (read.in_place) {
    if (MeasuredRow* const other = partner(table, read.row)) {
      other->time_in_place = read.row.time;
      return;
    }
    read.row.time_in_place = read.row.time;
    if (std::find(table.notes.begin(), table.notes.end(), kNote) == table.notes.end())
      table.notes.emplace_back(kNote);
  }
  table.rows.push_back(std::move(read.row));
}

}  // namespace

std::string read_measured_head(const JsonValue& root) {
  root.only_keys({"schema", "name", "source", "origin", "topology", "workload", "machine", "notes",
                  "collectives", "kernels", "steps"});
  const JsonValue schema = root.at("schema");
  if (schema.string() != "busbar.measured/1") schema.fail("\"busbar.measured/1\"");
  if (const auto origin = root.find("origin")) {
    const std::string name = origin->string();
    if (std::find(std::begin(kOrigins), std::end(kOrigins), name) == std::end(kOrigins))
      origin->fail("one of " + one_of(kOrigins), did_you_mean(name, kOrigins));
  }
  return text_at(root, "source").value_or("");
}

Measurement read_measured_json(const JsonDocument& document, const ImportHints& hints) {
  const JsonValue root = document.root();
  const std::string source = read_measured_head(root);
  Measurement measurement;
  std::map<TableKey, std::size_t> index;
  const auto collectives = root.find("collectives");
  const std::vector<JsonValue> rows = collectives ? collectives->items() : std::vector<JsonValue>{};
  if (rows.size() > kMaxRows) collectives->fail("at most 1000000 rows");
  for (const JsonValue& value : rows) {
    ReadRow read = read_row(value, hints);
    const auto [found, added] = index.try_emplace(read.key, measurement.tables.size());
    if (added)
      measurement.tables.push_back(
          {.source = source.empty() ? document.name() : document.name() + ": " + source,
           .operation = read.row.operation,
           .ranks = read.row.ranks,
           .hosts = read.key.hosts,
           .type = read.key.type,
           .members = read.key.members,
           .isolated = read.key.isolated});
    add(measurement.tables[found->second], std::move(read));
  }
  if (const auto kernels = root.find("kernels")) measurement.kernels = read_measured_kernels(*kernels);
  if (measurement.tables.empty() && measurement.kernels.empty())
    root.fail_because("holds no measured collective or kernel");
  return measurement;
}

}  // namespace busbar
