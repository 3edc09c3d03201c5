#include "sim/cli/listing.h"

#include <fmt/format.h>

#include <array>

#include "reports/table.h"
#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/unit_text.h"
#include "sim/collectives/algorithm.h"
#include "topologies/fabric.h"
#include "topologies/host_type.h"
#include "workloads/workload.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 9> kTables = {
    "hosts", "fabrics", "models", "strategies", "algorithms", "formats", "frameworks", "gpus", "presets"};

/// What is read and written, and where it is given.
struct Format {
  std::string_view name, help;
};
constexpr std::array<Format, 14> kFormats = {{
    {"busbar.topology/1", "hosts and fabric, or devices and links: --topology; written by --dump-topology"},
    {"busbar.workload/1", "model, batch, layout, precision: --workload"},
    {"busbar.trace/1", "programs and the ranks that run them: --workload; written by --dump-trace"},
    {"busbar.result/1", "a simulated step: written by --json, read by --compare"},
    {"busbar.sweep/1", "collectives over sizes: written by --json, read by --compare"},
    {"busbar.measured/1", "measured collectives: --measured"},
    {"busbar.suite/1", "what was measured, and where: validate --suite"},
    {"nccl-tests", "text of nccl-tests or rccl-tests, or their JSON (-J): --measured"},
    {"csv", "size_bytes and time_us or oop_time_us: --measured; a sweep is written by --csv"},
    {"hf-config", "Hugging Face config.json: model.hf_config of a workload"},
    {"nccl-log", "what NCCL_DEBUG=INFO prints: --nccl-log"},
    {"nccl-env", "lines NAME=value of NCCL's variables: --env"},
    {"nccl-tuner", "CSV of NCCL's example tuner plugin: --tuner"},
    {"chrome-trace", "timeline for ui.perfetto.dev and chrome://tracing: written by --trace"},
}};

TextTable two_columns() { return TextTable({Align::kLeft, Align::kLeft, Align::kLeft}); }

template <class Row>
std::string named(std::span<const Row> rows) {
  TextTable table = two_columns();
  for (const Row& row : rows) table.add({std::string(row.name), std::string(row.help)});
  return table.text(0);
}

std::string hosts() {
  TextTable table = two_columns();
  for (const HostType& row : host_types())
    table.add({std::string(row.name), std::string(row.help), fmt::format("[{}]", row.source)});
  return table.text(0);
}

std::string algorithm_rows() {
  TextTable table = two_columns();
  for (const Algorithm& row : algorithms())
    table.add({std::string(name_of(row.kind)), std::string(row.name), std::string(row.help)});
  return table.text(0);
}

std::string gpus() {
  TextTable table = two_columns();
  for (const GpuModel& m : gpu_models())
    table.add({m.name, fmt::format("{}, {}", to_text(m.memory), to_text(m.memory_bandwidth)),
               fmt::format("[{}]", m.source)});
  return table.text(0);
}

}  // namespace

std::string listing(std::string_view table) {
  if (table == "hosts") return hosts();
  if (table == "fabrics") return named(fabric_families());
  if (table == "models" || table == "presets") return named(model_presets());
  if (table == "strategies") return named(strategies());
  if (table == "algorithms") return algorithm_rows();
  if (table == "formats") return named(std::span<const Format>(kFormats));
  if (table == "frameworks") return named(frameworks());
  if (table == "gpus") return gpus();
  throw Error({.where = "--list",
               .expected = one_of(kTables),
               .given = quoted(table),
               .suggestion = did_you_mean(table, kTables)});
}

}  // namespace busbar
