// What calibrating on some tables of a system says of its others, as a suite of `validate`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "calibrate/table_fit.h"
#include "sim/base/json_reader.h"
#include "topologies/topology_io.h"
#include "validate/figures.h"
#include "validate/fit_suite.h"
#include "validate/run_suites.h"
#include "validate/suite_predictor.h"

namespace busbar {

namespace {

constexpr std::int64_t kFrom = 1024;

/// A system's tables to calibrate on, and those to predict from them.
struct Trial {
  std::string kind;  // "other operations", "larger groups"
  std::string system;
  std::vector<const SuiteTable*> from, to;
};

std::string inputs_of(const Trial& trial) {
  std::string text;
  for (const SuiteTable* t : trial.from)
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", name_of(t->operation), t->members);
  return text;
}

using Tables = std::vector<const SuiteTable*>;

// By system, number of members and topology: all_reduce (or else the first) predicts the rest.
void add_operations(std::vector<Trial>& trials, const std::string& system, const Tables& tables) {
  std::map<std::pair<std::int64_t, std::string>, Tables> groups;
  for (const SuiteTable* t : tables) groups[{t->members, *t->topology}].push_back(t);
  for (auto& [key, group] : groups) {
    const auto first = std::find_if(group.begin(), group.end(), [](const SuiteTable* t) {
      return t->operation == CollectiveKind::kAllReduce;
    });
    const SuiteTable* from = first == group.end() ? group.front() : *first;
    Trial trial{.kind = "other operations", .system = system, .from = {from}, .to = {}};
    for (const SuiteTable* t : group)
      if (t->operation != from->operation) trial.to.push_back(t);
    if (!trial.to.empty()) trials.push_back(std::move(trial));
  }
}

// All tables of fewer members predict those of the most, operation by operation where both have it.
void add_sizes(std::vector<Trial>& trials, const std::string& system, const Tables& tables) {
  std::int64_t most = 0;
  for (const SuiteTable* t : tables) most = std::max(most, t->members);
  Trial trial{.kind = "larger groups", .system = system, .from = {}, .to = {}};
  std::set<CollectiveKind> smaller;
  for (const SuiteTable* t : tables)
    if (t->members < most) {
      trial.from.push_back(t);
      smaller.insert(t->operation);
    }
  for (const SuiteTable* t : tables)
    if (t->members == most && smaller.contains(t->operation)) trial.to.push_back(t);
  if (!trial.from.empty() && !trial.to.empty()) trials.push_back(std::move(trial));
}

std::vector<Trial> trials_of(const std::vector<SuiteTable>& tables, const SuiteOptions& options) {
  std::map<std::string, Tables> systems;
  for (const SuiteTable& t : tables)
    if (t.in_model && !t.duplicate && t.topology) systems[t.system].push_back(&t);
  std::vector<Trial> trials;
  for (const auto& [system, list] : systems) {
    add_operations(trials, system, list);
    add_sizes(trials, system, list);
  }
  std::size_t number = 0;  // of the tables that are asked for
  for (Trial& trial : trials)
    std::erase_if(trial.to, [&](const SuiteTable* t) {
      return (options.most_gpus > 0 && t->members > options.most_gpus) ||
             !matches({{"system", t->system},
                       {"class", t->machine_class},
                       {"operation", std::string(name_of(t->operation))},
                       {"table", t->name}},
                      options.filters) ||
             number++ % options.every != 0;
    });
  std::erase_if(trials, [](const Trial& t) { return t.to.empty(); });
  return trials;
}

MeasuredTable measured_of(const SuiteTable& t) {
  MeasuredTable table{.source = t.name, .operation = t.operation, .ranks = t.members};
  table.type = name_of(t.type);
  table.nccl_version = to_text(t.overrides.nccl.version);
  table.gpus_per_process = t.calls.gpus_per_process;
  table.cuda_graph = t.calls.cuda_graph;
  table.launch = t.calls.launch;
  table.members = t.ranks;
  for (const SuiteRow& row : t.rows) {
    MeasuredRow measured{.operation = t.operation, .size = row.size, .ranks = t.members};
    measured.time = Time::from_seconds(row.time_s);
    measured.algorithm = t.overrides.algorithm;
    if (t.overrides.protocol) measured.protocol = name_of(*t.overrides.protocol);
    table.rows.push_back(std::move(measured));
  }
  return table;
}

// A profile fitted to the trial's tables, from one that knows nothing of their system.
Profile fitted(const Trial& trial, const Profile& start) {
  std::map<std::string, std::unique_ptr<Topology>> topologies;
  std::vector<MeasuredTable> tables;
  for (const SuiteTable* t : trial.from) tables.push_back(measured_of(*t));
  std::vector<MeasuredOn> measured;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::unique_ptr<Topology>& topology = topologies[*trial.from[i]->topology];
    if (!topology)
      topology = std::make_unique<Topology>(read_topology(JsonDocument::load(*trial.from[i]->topology), 1));
    measured.push_back({topology.get(), &tables[i]});
  }
  TableFit fit(measured, start);
  static_cast<void>(fit.select_and_fit());
  return fit.profile();
}

void add_rows(Validation& validation, const Trial& trial, const SuiteTable& table,
              const std::vector<double>& predicted) {
  for (std::size_t r = 0; r < predicted.size(); ++r) {
    const SuiteRow& row = table.rows[r];
    if (row.size.count() < kFrom) continue;
    ValidationRow record{.id = fmt::format("{}:{}", table.name, row.size.count()),
                         .what = fmt::format("{} {} B, {} ranks, from {}", name_of(table.operation),
                                             row.size.count(), table.members, inputs_of(trial)),
                         .system = fmt::format("{}, {}: {}", table.system, table.machine_class, trial.kind),
                         .source = table.file,
                         .gpus = table.members};
    record.measured = row.time_s;
    record.predicted = predicted[r];
    validation.rows.push_back(std::move(record));
  }
}

bool several_hosts(const SuiteTable& t) {
  return t.machine_class == "rdma" || t.machine_class == "efa" || t.machine_class == "slingshot";
}

// The classes that the aims are stated for.
std::string aim_of(const SuiteTable& t, const Trial& trial) {
  const std::string place = several_hosts(t) ? "several hosts"
                            : t.machine_class == "nvswitch-host" || t.machine_class == "nvlink-rack"
                                ? "NVSwitch hosts"
                                : "other hosts";
  return fmt::format("{}, {}", place, trial.kind);
}

}  // namespace

Validation run_calibration(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  Validation validation = validation_of("calibration", "time of a collective", "s", profile, options);
  const std::vector<SuiteTable> tables = read_suite(folder + "/collectives/index.json");
  const std::vector<Trial> trials = trials_of(tables, options);
  if (trials.empty()) fail_empty("calibration");
  std::map<std::string, Profile> unseen;  // by system: the default profile without it
  std::map<std::string, std::vector<double>> medians;
  std::size_t done = 0;
  for (const Trial& trial : trials) {
    const auto [start, added] = unseen.try_emplace(trial.system, profile);
    if (added && profile.name == "default")
      static_cast<void>(fit_without(start->second, tables, trial.system));
    const Profile calibrated = fitted(trial, start->second);
    SuitePredictor predictor(trial.to, calibrated);
    for (std::size_t t = 0; t < trial.to.size(); ++t) {
      const std::vector<double> predicted = predictor.predict(t);
      add_rows(validation, trial, *trial.to[t], predicted);
      const double median = error_of(trial.to[t]->rows, predicted).median;
      medians[aim_of(*trial.to[t], trial)].push_back(median);
      medians["all tables"].push_back(median);
    }
    if (options.progress) options.progress(++done, trials.size());
  }
  sum_up(validation);
  for (const auto& [name, values] : medians) validation.tables.push_back({name, figures_of(values)});
  return validation;
}

}  // namespace busbar
