#include "validate/suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/import/read_measured.h"
#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "sim/base/rank_range.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

template <class T>
T known(const JsonValue& value, const std::optional<T>& parsed, std::string_view what) {
  if (!parsed) value.fail(std::string(what));
  return *parsed;
}

Overrides read_overrides(const JsonValue& table) {
  Overrides o{.isolated = false};
  if (const auto v = table.find("nccl_version"))
    o.nccl.version = known(*v, parse_nccl_version(v->string()), "an NCCL version like \"2.27.3\"");
  if (const auto v = table.find("algorithm")) o.algorithm = v->string();
  if (const auto v = table.find("protocol")) {
    Protocol protocol{};
    if (!parse_protocol(v->string(), protocol)) v->fail("LL, LL128 or Simple");
    o.protocol = protocol;
  }
  return o;
}

struct Selection {
  std::string op, dtype;
  std::int64_t ranks = 0;
};

std::optional<Selection> read_selection(const JsonValue& table) {
  const auto select = table.find("select");
  if (!select) return std::nullopt;
  select->only_keys({"op", "dtype", "n_gpus"});
  return Selection{select->at("op").string(), select->at("dtype").string(),
                   select->at("n_gpus").integer(1, kMaxRanks)};
}

// A table that fits the selection; without one the only table of the file.
const MeasuredTable& pick(const Measurement& measured, const SuiteTable& t, const JsonValue& where,
                          const std::optional<Selection>& selection) {
  if (!selection) return measured.tables.front();
  for (const MeasuredTable& m : measured.tables)
    if (m.operation == t.operation && m.ranks == selection->ranks && m.type == selection->dtype) return m;
  where.fail_because(fmt::format("{} has no table of {} {} on {} ranks", quoted(t.file), selection->dtype,
                                 name_of(t.operation), selection->ranks));
}

// Old nccl-tests printed the rate of gathers as (n-1)/n S / time, but their times are right: rows are times.
std::vector<SuiteRow> rows_of(const MeasuredTable& m, Bytes from) {
  std::vector<SuiteRow> rows;
  for (const MeasuredRow& row : m.rows) {
    const Time time = row.time > Time::zero() ? row.time : row.time_in_place.value_or(Time::zero());
    if (time > Time::zero() && row.size >= from) rows.push_back({row.size, time.seconds()});
  }
  return rows;
}

SuiteTable read_table(const JsonValue& table, const std::string& folder) {
  table.only_keys({"file",
                   "operation",
                   "system",
                   "topology",
                   "members",
                   "ranks",
                   "type",
                   "nccl_version",
                   "gpus_per_process",
                   "class",
                   "in_model",
                   "why_not",
                   "from_bytes",
                   "health",
                   "settings",
                   "source",
                   "origin",
                   "note",
                   "cuda_graph",
                   "registered_buffers",
                   "algorithm",
                   "protocol",
                   "iterations",
                   "algbw",
                   "select",
                   "duplicate",
                   "launch_us"});
  SuiteTable t{.file = table.at("file").string(), .overrides = read_overrides(table)};
  t.name = t.file.substr(0, t.file.rfind(".csv"));
  t.system = table.at("system").string();
  t.machine_class = table.at("class").string();
  const JsonValue operation = table.at("operation");
  t.operation = known(operation, parse_collective(operation.string()), "a collective");
  const JsonValue type = table.at("type");
  t.type = known(type, parse_data_type(type.string()), "a data type");
  if (const JsonValue path = table.at("topology"); !path.is_null()) t.topology = folder + "/" + path.string();
  if (const auto v = table.find("ranks"))
    for_each_rank(read_rank_set(*v), [&](std::uint32_t rank) { t.ranks.push_back(rank); });
  t.members = table.at("members").integer(1, kMaxRanks);
  if (const auto v = table.find("gpus_per_process")) t.calls.gpus_per_process = v->integer(1, kMaxRanks);
  if (const auto v = table.find("launch_us")) t.calls.launch = Time::from_microseconds(v->number(0.1, 1000));
  t.launches_known = table.find("gpus_per_process").has_value();
  if (const auto v = table.find("cuda_graph")) t.calls.cuda_graph = v->boolean();
  if (const auto v = table.find("registered_buffers")) t.registered_buffers = v->boolean();
  if (const auto v = table.find("duplicate")) t.duplicate = v->boolean();
  t.in_model = table.at("in_model").boolean();
  if (const auto v = table.find("why_not")) t.why_not = v->string();
  const auto from = table.find("from_bytes");
  const auto selection = read_selection(table);
  if (selection) t.name += fmt::format("_{}_{}_{}", selection->op, selection->ranks, selection->dtype);
  const Measurement measured =
      read_measured(folder + "/" + t.file, {.operation = t.operation, .ranks = t.members});
  t.rows =
      rows_of(pick(measured, t, table, selection), Bytes(from ? from->integer(0, std::int64_t{1} << 50) : 0));
  if (t.rows.empty()) table.fail_because(fmt::format("{} has no row to compare with", quoted(t.file)));
  return t;
}

}  // namespace

std::vector<SuiteTable> read_suite(const std::string& index_path) {
  const JsonDocument document = JsonDocument::load(index_path);
  const JsonValue root = document.root();
  root.only_keys({"schema", "name", "tables"});
  if (root.at("schema").string() != "busbar.suite/1") root.at("schema").fail("\"busbar.suite/1\"");
  std::vector<SuiteTable> tables;
  for (const JsonValue& table : root.at("tables").items())
    tables.push_back(read_table(table, document.folder()));
  return tables;
}

}  // namespace busbar
