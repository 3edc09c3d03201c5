#include <fmt/format.h>

#include "calibrate/observed.h"
#include "validate/compare_collectives.h"
#include "validate/figures.h"

namespace busbar {

Validation compare_tables(const Measurement& measured, const Topology& topology, const Profile& profile) {
  Validation v{
      .suite = "operations", .quantity = "time of a collective", .unit = "s", .comparison = Comparison{}};
  Comparison& c = *v.comparison;
  Observed observed(topology, measured.tables, profile);
  std::vector<double> predicted(observed.rows().size());
  observed.predict(predicted);
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const ObservedRow& observed_row = observed.rows()[i];
    const ObservedTable& table = observed.tables()[observed_row.table];
    ValidationRow row{
        .id = fmt::format("{}:{}", table.name, observed_row.size.count()),
        .what = fmt::format("{} {} B, {} ranks ({})", name_of(table.measured->operation),
                            observed_row.size.count(), table.members.size(), observed.choice(i)),
        .system = table.name,
        .source = table.measured->source};
    row.gpus = static_cast<std::int64_t>(table.members.size());
    row.measured = observed_row.time_s;
    row.predicted = predicted[i];
    v.rows.push_back(std::move(row));
  }
  for (const MeasuredTable& table : measured.tables)
    for (const std::string& note : table.notes) c.notes.push_back(table.source + ": " + note);
  c.notes.insert(c.notes.end(), observed.notes().begin(), observed.notes().end());
  sum_up(v);
  c.judged = "median of absolute errors";
  if (!v.rows.empty()) c.judged_error = v.overall.median;
  return v;
}

}  // namespace busbar
