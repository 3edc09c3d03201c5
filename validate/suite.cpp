#include "validate/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "calibrate/import/read_measured.h"
#include "calibrate/observed.h"
#include "sim/base/error.h"
#include "sim/base/rank_range.h"
#include "topologies/topology_io.h"
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
  if (const auto v = table.find("algorithm")) {
    // What a run forced need not be an algorithm of its operation: then it had no effect there.
    o.algorithm = v->string();
    std::vector<std::string_view> names;
    for (const Algorithm& a : algorithms()) names.push_back(a.name);
    if (std::find(names.begin(), names.end(), *o.algorithm) == names.end())
      v->fail("an algorithm (simulate --list algorithms)", did_you_mean(*o.algorithm, names));
  }
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

constexpr std::array<std::string_view, 28> kTableKeys = {
    "file",       "operation", "system",     "topology",
    "members",    "ranks",     "type",       "nccl_version",
    "class",      "in_model",  "why_not",    "gpus_per_process",
    "from_bytes", "health",    "settings",   "source",
    "origin",     "note",      "cuda_graph", "registered_buffers",
    "algorithm",  "protocol",  "iterations", "algbw",
    "select",     "duplicate", "launch_us",  "name"};

/// An entry as far as it goes without its file, and what it leaves to the file.
struct Entry {
  SuiteTable table;
  std::optional<CollectiveKind> operation;
  std::optional<Selection> selection;
  Bytes from;
  bool typed = false, versioned = false;
};

void read_machine(const JsonValue& entry, const SuitePlace& place, SuiteTable& t) {
  const auto system = entry.find("system");
  t.system = system ? system->string() : place.system;
  const auto machine_class = entry.find("class");
  t.machine_class = machine_class ? machine_class->string() : "own";
  if (const JsonValue path = entry.at("topology"); !path.is_null())
    t.topology = named_file(path, place, "topologies");
  if (const auto v = entry.find("ranks"))
    for_each_rank(read_rank_set(*v), [&](std::uint32_t rank) { t.ranks.push_back(rank); });
  if (const auto v = entry.find("members")) t.members = v->integer(1, kMaxRanks);
}

void read_calls(const JsonValue& entry, SuiteTable& t) {
  if (const auto v = entry.find("gpus_per_process")) t.calls.gpus_per_process = v->integer(1, kMaxRanks);
  if (const auto v = entry.find("launch_us")) t.calls.launch = Time::from_microseconds(v->number(0.1, 1000));
  t.launches_known = entry.find("gpus_per_process").has_value();
  if (const auto v = entry.find("cuda_graph")) t.calls.cuda_graph = v->boolean();
  if (const auto v = entry.find("registered_buffers")) t.registered_buffers = v->boolean();
}

Entry read_entry(const JsonValue& entry, const SuitePlace& place) {
  entry.only_keys(kTableKeys);
  Entry e{.table = {.file = entry.at("file").string()}};
  SuiteTable& t = e.table;
  const auto name = entry.find("name");
  t.name = name ? name->string() : t.file.substr(0, t.file.rfind(".csv"));
  read_machine(entry, place, t);
  read_calls(entry, t);
  if (const auto v = entry.find("operation"))
    t.operation = *(e.operation = known(*v, parse_collective(v->string()), "a collective"));
  t.overrides = read_overrides(entry);
  e.versioned = entry.find("nccl_version").has_value();
  if (const auto v = entry.find("type")) t.type = known(*v, parse_data_type(v->string()), "a data type");
  e.typed = entry.find("type").has_value();
  if (const auto v = entry.find("duplicate")) t.duplicate = v->boolean();
  const auto in_model = entry.find("in_model");
  t.in_model = !in_model || in_model->boolean();
  if (const auto v = entry.find("why_not")) t.why_not = v->string();
  if (const auto v = entry.find("from_bytes")) e.from = Bytes(v->integer(0, std::int64_t{1} << 50));
  e.selection = read_selection(entry);
  if (e.selection)
    t.name += fmt::format("_{}_{}_{}", e.selection->op, e.selection->ranks, e.selection->dtype);
  return e;
}

// What the entry leaves out, from the file.
SuiteTable completed(const Entry& e, const MeasuredTable& m, const JsonValue& where) {
  SuiteTable t = e.table;
  t.operation = e.operation.value_or(m.operation);
  if (!e.typed) t.type = element_type(m);
  if (const auto version = parse_nccl_version(m.nccl_version); version && !e.versioned)
    t.overrides.nccl.version = *version;
  if (!t.launches_known && m.gpus_per_process) {
    t.calls.gpus_per_process = *m.gpus_per_process;
    t.launches_known = true;
  }
  if (!where.find("cuda_graph") && m.cuda_graph) t.calls.cuda_graph = *m.cuda_graph;
  if (m.isolated) t.overrides.isolated = true;
  if (t.members == 0 && !t.ranks.empty()) t.members = std::ssize(t.ranks);
  if (t.members == 0 && t.topology) {
    t.ranks = members_of(m, read_topology(JsonDocument::load(*t.topology), 1));
    t.members = std::ssize(t.ranks);
  }
  t.rows = rows_of(m, e.from);
  if (t.rows.empty()) where.fail_because(fmt::format("{} has no row to compare with", quoted(t.file)));
  return t;
}

void add_tables(std::vector<SuiteTable>& tables, const JsonValue& entry, const SuitePlace& place) {
  const Entry e = read_entry(entry, place);
  const std::int64_t told = e.table.members > 0 ? e.table.members : std::ssize(e.table.ranks);
  const Measurement measured =
      read_measured(named_file(entry.at("file"), place, ""),
                    {.operation = e.operation, .ranks = told > 0 ? std::optional(told) : std::nullopt});
  if (measured.tables.empty()) entry.fail_because(fmt::format("{} has no table", quoted(e.table.file)));
  if (e.operation) {
    tables.push_back(completed(e, pick(measured, e.table, entry, e.selection), entry));
    return;
  }
  if (e.selection) entry.at("select").fail_because("\"select\" goes with \"operation\"");
  for (const MeasuredTable& m : measured.tables) {
    tables.push_back(completed(e, m, entry));
    if (measured.tables.size() > 1)
      tables.back().name += fmt::format("_{}_{}", name_of(m.operation), tables.back().members);
  }
}

}  // namespace

std::string named_file(const JsonValue& value, const SuitePlace& place, std::string_view kind) {
  namespace fs = std::filesystem;
  const fs::path named = value.string();
  if (named.is_absolute()) value.fail("a path relative to the suite's file");
  for (const fs::path& part : named)
    if (part == "..") value.fail("a path inside the suite's folder, without '..'");
  std::error_code ignored;
  std::string beside = place.folder.empty() ? named.string() : place.folder + "/" + named.string();
  if (fs::exists(beside, ignored)) return beside;
  if (kind.empty() || !place.find)
    value.fail(fmt::format("a file in the suite's folder, {}", quoted(beside)));
  try {
    return place.find(named.string(), kind);
  } catch (const Error& error) {
    value.fail(fmt::format("a file in the suite's folder or of the {} catalogue", kind),
               error.parts().suggestion);
  }
}

std::vector<SuiteTable> read_tables(const JsonValue& list, const SuitePlace& place) {
  std::vector<SuiteTable> tables;
  for (const JsonValue& entry : list.items()) add_tables(tables, entry, place);
  return tables;
}

std::vector<SuiteTable> read_suite(const std::string& index_path) {
  const JsonDocument document = JsonDocument::load(index_path);
  const JsonValue root = document.root();
  root.only_keys({"schema", "name", "tables"});
  if (root.at("schema").string() != "busbar.suite/1") root.at("schema").fail("\"busbar.suite/1\"");
  return read_tables(root.at("tables"), {.folder = document.folder(), .system = root.at("name").string()});
}

}  // namespace busbar
