#include "validate/run_names.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "sim/base/named_table.h"
#include "topologies/host_type.h"
#include "topologies/topology_io.h"
#include "workloads/workload_io.h"

namespace busbar {

namespace {

/// A column and the key that it becomes.
struct NamedKey {
  std::string_view column, section, key;
  [[nodiscard]] std::string pointer() const {
    return section.empty() ? fmt::format("#/{}", key) : fmt::format("#/{}/{}", section, key);
  }
};

constexpr std::array<NamedKey, 4> kMachine = {{{"host", "hosts", "type"},
                                               {"gpu_model", "hosts", "gpu"},
                                               {"fabric", "fabric", "family"},
                                               {"wire", "fabric", "wire"}}};
constexpr std::array<NamedKey, 10> kJob = {{{"preset", "model", "preset"},
                                            {"sharding", "parallel", "sharding"},
                                            {"schedule", "parallel", "schedule"},
                                            {"compute", "precision", "compute"},
                                            {"parameters", "precision", "parameters"},
                                            {"gradients", "precision", "gradients"},
                                            {"reduce", "precision", "reduce"},
                                            {"framework", "", "framework"},
                                            {"recompute", "", "recompute"},
                                            {"attention", "", "attention"}}};

/// `, "key": "name"` of each column of the section that has one.
std::string names_in(const CsvRow& row, std::span<const NamedKey> keys, std::string_view section) {
  std::string text;
  for (const NamedKey& key : keys) {
    if (key.section != section || row.text(key.column).empty()) continue;
    if (row.text(key.column).find_first_of("\"\\") != std::string::npos)
      row.fail(key.column, "a name without quotes");
    text += fmt::format(", \"{}\": \"{}\"", key.key, row.text(key.column));
  }
  return text;
}

// One host, and a job of one GPU: the rest is smaller than any limit, so that only names are wrong.
std::string machine_text(const CsvRow& row) {
  return fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "names", "hosts": {{"count": 1{}}}, "fabric": {{"oversubscription": 1{}}}}})",
      names_in(row, kMachine, "hosts"), names_in(row, kMachine, "fabric"));
}

std::string job_text(const CsvRow& row) {
  const std::string model = row.text("preset").empty() ? R"(, "preset": "llama-2-7b")" : "";
  const std::string preset = names_in(row, kJob, "model") + model;
  const std::string precision = names_in(row, kJob, "precision");
  return fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "names", "model": {{{}}}, "batch": {{"sequence": 1, "global": 1}}, "parallel": {{"dp": 1, "shard_size": 1{}}}, "precision": {{{}}}{}}})",
      preset.substr(2), names_in(row, kJob, "parallel"), precision.empty() ? "" : precision.substr(2),
      names_in(row, kJob, ""));
}

// "expected ..., got ..." at a name is a name that the reader does not know; all other refusals are of the
// job that stands here in place of the row's.
void fail_name(const CsvRow& row, std::span<const NamedKey> keys, const Error& error) {
  if (error.parts().expected.empty()) return;
  for (const NamedKey& key : keys)
    if (error.parts().where.ends_with(key.pointer()) && !row.text(key.column).empty())
      row.fail(key.column, error.parts().expected, error.parts().suggestion);
}

// Of a host type with GPUs of its own the reader says what these are, not that nobody knows the name.
void check_gpu(const CsvRow& row) {
  const std::string& name = row.text("gpu_model");
  if (name.empty() || find_row(gpu_models(), name) != nullptr) return;
  std::vector<std::string_view> known;
  for (const GpuModel& model : gpu_models()) known.push_back(model.name);
  row.fail("gpu_model", "a GPU model (simulate --list gpus)", did_you_mean(name, known));
}

}  // namespace

void RunNames::check(const CsvRow& row) {
  check_gpu(row);
  const std::string machine = machine_text(row), job = job_text(row);
  if (seen_.insert(machine).second) {
    try {
      static_cast<void>(read_topology(JsonDocument::parse(machine, "names"), 1));
    } catch (const Error& error) {
      fail_name(row, kMachine, error);
    }
  }
  if (!seen_.insert(job).second) return;
  try {
    static_cast<void>(read_workload(JsonDocument::parse(job, "names")));
  } catch (const Error& error) {
    fail_name(row, kJob, error);
  }
}

}  // namespace busbar
