// Published tables of single collectives, as a suite of `validate`.
#include <fmt/format.h>

#include <map>

#include "validate/cross_validation.h"
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

/// By row, seconds; `plain`: by the profile as it is, where `predicted` is of one that was not fitted to the
/// table's system.
struct TablePrediction {
  std::vector<double> predicted, plain;
};

void add_rows(Validation& validation, const SuiteTable& table, const TablePrediction& found) {
  for (std::size_t r = 0; r < found.predicted.size(); ++r) {
    const SuiteRow& row = table.rows[r];
    if (row.size.count() < kFrom) continue;
    ValidationRow record{
        .id = fmt::format("{}:{}", table.name, row.size.count()),
        .what = fmt::format("{} {} B, {} ranks", name_of(table.operation), row.size.count(), table.members),
        .system = fmt::format("{}, {}", table.system, table.machine_class),
        .source = table.file,
        .gpus = table.members};
    record.measured = row.time_s;
    record.predicted = found.predicted[r];
    if (!found.plain.empty()) record.plain = found.plain[r];
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

void add_tables(Validation& validation, std::span<const SuiteTable* const> used,
                std::span<const TablePrediction> found) {
  std::map<std::string, std::vector<double>> medians;
  for (std::size_t t = 0; t < used.size(); ++t) {
    add_rows(validation, *used[t], found[t]);
    medians[used[t]->machine_class + (is_sends(*used[t]) ? ", sends" : "")].push_back(
        error_of(used[t]->rows, found[t].predicted).median);
  }
  sum_up(validation);
  validation.tables = by_class(medians);
}

}  // namespace

Validation predict_tables(std::span<const SuiteTable> tables, const Profile& profile,
                          const SuiteOptions& options) {
  Validation validation = validation_of("collectives", "time of a collective", "s", profile, options);
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
  std::vector<TablePrediction> found(used.size());
  for (std::size_t t = 0; t < used.size(); ++t) {
    found[t].predicted = predictor.predict(t);
    if (options.progress && !options.cross_validate) options.progress(t + 1, used.size());
  }
  if (options.cross_validate) {
    CrossValidated unseen = cross_validated(tables, used, profile, options);
    for (std::size_t t = 0; t < used.size(); ++t)
      found[t] = {.predicted = std::move(unseen.predicted[t]), .plain = std::move(found[t].predicted)};
    validation.cross_validated = true;
    validation.notes = std::move(unseen.notes);
  }
  add_tables(validation, used, found);
  return validation;
}

Validation run_collectives(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  return predict_tables(read_suite(folder + "/collectives/index.json"), profile, options);
}

}  // namespace busbar
