#include "validate/run_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/study/load_step.h"
#include "topologies/topology_io.h"
#include "workloads/workload_io.h"

namespace busbar {

namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint8_t { kWhole, kName, kFlag, kWholes, kMicroseconds };

/// A column that is one key of the workload file; a blank leaves the key out.
struct Key {
  std::string_view column, section, key;
  Kind kind;
};

constexpr std::array<Key, 44> kKeys = {{
    {"framework", "", "framework", Kind::kName},
    {"recompute", "", "recompute", Kind::kName},
    {"attention", "", "attention", Kind::kName},
    {"preset", "model", "preset", Kind::kName},
    {"layers", "model", "layers", Kind::kWhole},
    {"hidden", "model", "hidden", Kind::kWhole},
    {"ffn_hidden", "model", "ffn_hidden", Kind::kWhole},
    {"heads", "model", "heads", Kind::kWhole},
    {"kv_heads", "model", "kv_heads", Kind::kWhole},
    {"head_dim", "model", "head_dim", Kind::kWhole},
    {"vocab", "model", "vocab", Kind::kWhole},
    {"gated_mlp", "model", "gated_mlp", Kind::kFlag},
    {"tied_embeddings", "model", "tied_embeddings", Kind::kFlag},
    {"biases", "model", "biases", Kind::kFlag},
    {"positions", "model", "positions", Kind::kWhole},
    {"experts", "model", "experts", Kind::kWhole},
    {"top_k", "model", "top_k", Kind::kWhole},
    {"expert_ffn_hidden", "model", "expert_ffn_hidden", Kind::kWhole},
    {"shared_experts", "model", "shared_experts", Kind::kWhole},
    {"dense_layers", "model", "dense_layers", Kind::kWhole},
    {"moe_every", "model", "moe_every", Kind::kWhole},
    {"sequence", "batch", "sequence", Kind::kWhole},
    {"micro", "batch", "micro", Kind::kWhole},
    {"global", "batch", "global", Kind::kWhole},
    {"tp", "parallel", "tp", Kind::kWhole},
    {"pp", "parallel", "pp", Kind::kWhole},
    {"cp", "parallel", "cp", Kind::kWhole},
    {"ep", "parallel", "ep", Kind::kWhole},
    {"etp", "parallel", "etp", Kind::kWhole},
    {"dp", "parallel", "dp", Kind::kWhole},
    {"sharding", "parallel", "sharding", Kind::kName},
    {"shard_size", "parallel", "shard_size", Kind::kWhole},
    {"sequence_parallel", "parallel", "sequence_parallel", Kind::kFlag},
    {"schedule", "parallel", "schedule", Kind::kName},
    {"virtual_stages", "parallel", "virtual_stages", Kind::kWhole},
    {"stages", "stages", "layers", Kind::kWholes},
    {"reshard_after_forward", "fsdp", "reshard_after_forward", Kind::kFlag},
    {"overlap_tp", "overlap", "tp", Kind::kFlag},
    {"compute", "precision", "compute", Kind::kName},
    {"parameters", "precision", "parameters", Kind::kName},
    {"gradients", "precision", "gradients", Kind::kName},
    {"reduce", "precision", "reduce", Kind::kName},
    {"launch_member_us", "launch", "member", Kind::kMicroseconds},
    {"launch_message_us", "launch", "message", Kind::kMicroseconds},
}};
constexpr std::array<std::string_view, 9> kSections = {"model",     "batch",  "parallel", "fsdp", "overlap",
                                                       "precision", "stages", "launch",   ""};
constexpr std::array<std::string_view, 16> kOwnColumns = {
    "id",   "gpu",       "host",        "hosts", "gpus_per_host", "nvlink_domain", "fabric", "nic_Gbps",
    "nics", "gpu_model", "gpu_power_W", "model", "wire",          "not_simulated", "source", "note"};

// Names go into JSON as they are: only those that need no escape are let through.
std::string name_text(const CsvRow& row, std::string_view column) {
  const std::string& text = row.text(column);
  if (text.find_first_of("\"\\") != std::string::npos) row.fail(column, "a name without quotes");
  return fmt::format("\"{}\"", text);
}

// "7 8 8 7" as [7, 8, 8, 7].
std::string list_text(const CsvRow& row, std::string_view column) {
  std::string text;
  for (const std::string_view word : words_of(row.text(column))) {
    const auto count = parse_whole(word);
    if (!count || *count < 0) row.fail(column, "whole numbers between blanks");
    text += fmt::format("{}{}", text.empty() ? "" : ", ", *count);
  }
  return "[" + text + "]";
}

std::string value_text(const CsvRow& row, const Key& key) {
  switch (key.kind) {
    case Kind::kWhole:
      return fmt::format("{}", *row.whole(key.column));
    case Kind::kFlag:
      return *row.yes_no(key.column) ? "true" : "false";
    case Kind::kName:
      return name_text(row, key.column);
    case Kind::kWholes:
      return list_text(row, key.column);
    case Kind::kMicroseconds:
      return fmt::format("\"{} us\"", *row.whole(key.column));
  }
  BUSBAR_CHECK(false);
  return "";
}

std::string section_text(const CsvRow& row, std::string_view section) {
  std::string text;
  for (const Key& key : kKeys)
    if (key.section == section && !row.text(key.column).empty())
      text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", key.key, value_text(row, key));
  return text;
}

std::string workload_text(const CsvRow& row) {
  std::string text =
      fmt::format("{{\"schema\": \"busbar.workload/1\", \"name\": {}", name_text(row, "model"));
  for (const std::string_view section : kSections) {
    const std::string keys = section_text(row, section);
    if (keys.empty()) continue;
    text += section.empty() ? ", " + keys : fmt::format(", \"{}\": {{{}}}", section, keys);
  }
  return text + "}";
}

RunMachine read_machine(const CsvRow& row) {
  for (const char* column : {"host", "fabric", "wire", "gpu_model"})
    static_cast<void>(name_text(row, column));
  RunMachine m{.host = row.needed_text("host"),
               .fabric = row.needed_text("fabric"),
               .wire = row.text("wire"),
               .gpu_model = row.text("gpu_model"),
               .hosts = row.needed_whole("hosts"),
               .gpus_per_host = row.needed_whole("gpus_per_host"),
               .nvlink_domain = row.whole("nvlink_domain"),
               .nics = row.whole("nics"),
               .gpu_watts = row.whole("gpu_power_W")};
  if (const auto Gbps = row.number("nic_Gbps")) m.nic = Bandwidth::gigabits_per_second(*Gbps);
  return m;
}

// "tp 4 pp 8 dp 16", with the directions that are cut.
std::string layout_text(const CsvRow& row) {
  std::string text;
  for (const char* column : {"tp", "pp", "cp", "ep", "dp"})
    if (const auto size = row.whole(column); size && *size > 1)
      text += fmt::format("{}{} {}", text.empty() ? "" : " ", column, *size);
  return text.empty() ? "one GPU" : text;
}

}  // namespace

std::span<const std::string_view> run_columns() {
  static const std::vector<std::string_view> columns = [] {
    std::vector<std::string_view> list(kOwnColumns.begin(), kOwnColumns.end());
    for (const Key& key : kKeys) list.push_back(key.column);
    return list;
  }();
  return columns;
}

std::span<const std::string_view> needed_run_columns() {
  static constexpr std::array<std::string_view, 10> kNeeded = {
      "id", "gpu", "host", "hosts", "gpus_per_host", "fabric", "framework", "model", "global", "dp"};
  return kNeeded;
}

std::vector<std::string_view> run_columns_and(std::span<const std::string_view> more) {
  std::vector<std::string_view> columns(run_columns().begin(), run_columns().end());
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

RunRow read_run(const CsvRow& row, const std::string& source) {
  RunRow run{.where = row.where(),
             .source = source,
             .id = row.needed_text("id"),
             .gpu = row.needed_text("gpu"),
             .framework = row.needed_text("framework"),
             .model = row.needed_text("model"),
             .layout = layout_text(row),
             .not_simulated = row.text("not_simulated"),
             .machine = read_machine(row),
             .workload = workload_text(row)};
  return run;
}

std::string topology_text(const RunMachine& m) {
  std::string hosts = fmt::format("\"count\": {}, \"type\": \"{}\"", m.hosts, m.host);
  hosts += fmt::format(", \"gpus\": {}", m.gpus_per_host);
  if (m.nics) hosts += fmt::format(", \"nics\": {}", *m.nics);
  if (m.nic) hosts += fmt::format(", \"nic\": \"{:.6f} GB/s\"", m.nic->Bps() / 1e9);
  if (!m.gpu_model.empty()) hosts += fmt::format(", \"gpu\": \"{}\"", m.gpu_model);
  if (m.gpu_watts) hosts += fmt::format(", \"gpu_power\": \"{} W\"", *m.gpu_watts);
  if (m.nvlink_domain) hosts += fmt::format(", \"nvlink_domain\": {}", *m.nvlink_domain);
  return fmt::format(
      "{{\"schema\": \"busbar.topology/1\", \"name\": \"{} x {}\", \"hosts\": {{{}}}, \"fabric\": "
      "{{\"family\": \"{}\"{}}}}}",
      m.hosts, m.host, hosts, m.fabric, m.wire.empty() ? "" : fmt::format(", \"wire\": \"{}\"", m.wire));
}

Topology topology_of(const RunRow& row) {
  if (!row.topology_file.empty()) return read_topology(JsonDocument::load(row.topology_file), 1);
  return read_topology(JsonDocument::parse(topology_text(row.machine), row.where), 1);
}

Workload workload_of(const RunRow& row) {
  BUSBAR_CHECK(row.workload_file.empty());
  return read_workload(JsonDocument::parse(row.workload, row.where));
}

StepTrace step_of(const RunRow& row, const Topology& topology) {
  if (row.workload_file.empty()) return expand(workload_of(row));
  return load_step(JsonDocument::load(row.workload_file), topology, 1).trace;
}

std::vector<std::string> tables_in(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".csv") paths.push_back(entry.path().string());
  if (failed)
    throw Error({.kind = ErrorKind::kSystem, .where = folder, .message = "no such folder of tables"});
  if (paths.empty()) throw Error({.where = folder, .expected = "tables (*.csv)", .given = "none"});
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string source_of(const std::string& path) { return fs::path(path).stem().string(); }

}  // namespace busbar
