// One published training run: the machine and the workload, each as the input file that describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "topologies/topology.h"
#include "validate/csv_table.h"
#include "workloads/workload.h"

namespace busbar {

/// Equal hosts on one fabric.
struct RunMachine {
  std::string host, fabric;  // by the names of a topology file
  std::string wire;          // the same; empty: the default
  std::string gpu_model;     // the same; empty: the host type's
  std::int64_t hosts = 1, gpus_per_host = 1;
  std::optional<std::int64_t> nvlink_domain, nics, gpu_watts;
  std::optional<Bandwidth> nic;  // none: the host type's
};

struct RunRow {
  std::string where;   // "steps/dgxc.csv:2"
  std::string source;  // the file's name without ".csv"
  std::string id, gpu, framework, model, layout;
  std::string not_simulated;  // the reason, if it cannot be
  RunMachine machine;
  std::string workload;  // busbar.workload/1
  /// Of a run that has files of its own instead of a machine and a workload: their paths, its GPUs.
  std::string topology_file, workload_file;
  std::int64_t own_gpus = 0;
  [[nodiscard]] std::int64_t gpus() const {
    return own_gpus > 0 ? own_gpus : machine.hosts * machine.gpus_per_host;
  }
};

/// The columns that describe a run; validate/data/steps/README.md says what each means.
[[nodiscard]] std::span<const std::string_view> run_columns();
/// Those without which no run can be described. All others may be left out, which leaves them blank.
[[nodiscard]] std::span<const std::string_view> needed_run_columns();
/// Those and `more`.
[[nodiscard]] std::vector<std::string_view> run_columns_and(std::span<const std::string_view> more);

/// Errors (Error, kInput): a field that is no number, a needed one that is blank.
[[nodiscard]] RunRow read_run(const CsvRow& row, const std::string& source);

/// "busbar.topology/1" of the machine.
[[nodiscard]] std::string topology_text(const RunMachine& machine);
/// Errors (Error, kInput): what the readers of the two files refuse.
[[nodiscard]] Topology topology_of(const RunRow& row);
[[nodiscard]] Workload workload_of(const RunRow& row);
/// What the run's workload expands into on its topology.
[[nodiscard]] StepTrace step_of(const RunRow& row, const Topology& topology);

/// The tables (*.csv) of a folder, by name. Errors (Error, kSystem): no such folder; (kInput): none there.
[[nodiscard]] std::vector<std::string> tables_in(const std::string& folder);

/// "dgxc" of "data/steps/dgxc.csv".
[[nodiscard]] std::string source_of(const std::string& path);

}  // namespace busbar
