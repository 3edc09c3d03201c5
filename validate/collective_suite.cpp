// Published tables of single collectives, as a suite of `validate`.
#include <fmt/format.h>

#include <map>

#include "validate/figures.h"
#include "validate/run_suites.h"
#include "validate/suite_predictor.h"

namespace busbar {

namespace {

constexpr std::int64_t kFrom = 1024;  // smaller sizes are all latency, and a table's first rows warm up

std::string outside(const SuiteTable& table) {
  if (table.duplicate) return "a repetition of another table in another type";
  if (!table.topology) return "the wiring is not documented";
  if (!table.in_model) return table.why_not.empty() ? "not claimed to be predicted" : table.why_not;
  return "";
}

bool is_sends(const SuiteTable& t) {
  return t.operation == CollectiveKind::kAllToAll || t.operation == CollectiveKind::kSendRecv;
}

bool asked_for(const SuiteTable& table, const SuiteOptions& options) {
  if (options.most_gpus > 0 && table.members > options.most_gpus) return false;
  return matches({{"system", table.system},
                  {"class", table.machine_class},
                  {"operation", std::string(name_of(table.operation))},
                  {"table", table.name}},
                 options.filters);
}

void add_rows(Validation& validation, const SuiteTable& table, const std::vector<double>& predicted) {
  for (std::size_t r = 0; r < predicted.size(); ++r) {
    const SuiteRow& row = table.rows[r];
    if (row.size.count() < kFrom) continue;
    ValidationRow record{
        .id = fmt::format("{}:{}", table.name, row.size.count()),
        .what = fmt::format("{} {} B, {} ranks", name_of(table.operation), row.size.count(), table.members),
        .system = fmt::format("{}, {}", table.system, table.machine_class),
        .source = table.file,
        .gpus = table.members};
    record.measured = row.time_s;
    record.predicted = predicted[r];
    validation.rows.push_back(std::move(record));
  }
}

// The figure of a table is the median of its rows.
std::vector<ValidationGroup> by_class(const std::map<std::string, std::vector<double>>& medians) {
  std::vector<ValidationGroup> groups;
  groups.reserve(medians.size());
  for (const auto& [name, values] : medians) groups.push_back({name, figures_of(values)});
  return groups;
}

}  // namespace

Validation run_collectives(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  Validation validation = validation_of("collectives", "time of a collective", "s", profile, options);
  const std::vector<SuiteTable> tables = read_suite(folder + "/collectives/index.json");
  std::vector<const SuiteTable*> used;
  std::size_t number = 0;
  for (const SuiteTable& table : tables) {
    if (!asked_for(table, options) || number++ % options.every != 0) continue;
    if (const std::string reason = outside(table); reason.empty())
      used.push_back(&table);
    else
      validation.not_simulated.push_back({table.name, table.system, reason});
  }
  if (used.empty()) fail_empty("collectives");
  SuitePredictor predictor(used, profile);
  std::map<std::string, std::vector<double>> medians;
  for (std::size_t t = 0; t < used.size(); ++t) {
    const std::vector<double> predicted = predictor.predict(t);
    add_rows(validation, *used[t], predicted);
    medians[used[t]->machine_class + (is_sends(*used[t]) ? ", sends" : "")].push_back(
        error_of(used[t]->rows, predicted).median);
    if (options.progress) options.progress(t + 1, used.size());
  }
  sum_up(validation);
  validation.tables = by_class(medians);
  return validation;
}

}  // namespace busbar
