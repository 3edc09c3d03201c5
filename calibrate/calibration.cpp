#include "calibrate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/curve_breaks.h"
#include "calibrate/single_kernels.h"
#include "calibrate/table_fit.h"
#include "sim/base/error.h"
#include "sim/cost/parameter_names.h"
#include "sim/cost/profile_io.h"
#include "sim/result/error_figures.h"

namespace busbar {

namespace {

constexpr double kNormal95 = 1.959964;
constexpr double kOutlier = 4;         // robust standard deviations
constexpr double kLeastOutlier = 0.1;  // and this much of the time
constexpr double kCounts = 0.02;       // d log(time) / d log(parameter) of a row that a parameter rests on
constexpr std::size_t kFolds = 5, kTableFolds = 20;
constexpr double kMisfit = 0.25;    // median error of a fit that says little
constexpr double kAtLimit = 0.999;  // of the most that a number may be
constexpr double kFar = 4;          // from the usual value: more than machines differ by

std::vector<double> errors_of(std::span<const double> residuals) {
  std::vector<double> errors;
  for (const double r : residuals) errors.push_back(std::exp(-r) - 1);
  return errors;
}

void say(const CalibrateOptions& o, std::string_view phase, std::size_t done, std::size_t all) {
  if (o.progress) o.progress(phase, done, all);
}

// log(measured / predicted) of rows while they were left out: table by table (of many tables a twentieth of
// them at a time), or every fifth row of one.
std::vector<double> left_out_residuals(TableFit& fit, const CalibrateOptions& o, std::string& what) {
  const Observed& observed = fit.observed();
  const std::size_t n = observed.rows().size(), tables = observed.tables().size();
  const bool by_table = tables > 1;
  const std::size_t folds = by_table ? std::min(tables, kTableFolds) : std::min(kFolds, n);
  what = !by_table ? "every fifth row" : tables > folds ? "a twentieth of the tables" : "one table";
  const auto fold_of = [&](std::size_t row) { return (by_table ? observed.rows()[row].table : row) % folds; };
  std::vector<double> left_out(n, 0);
  for (std::size_t f = 0; f < folds; ++f) {
    say(o, "fitting without each part in turn", f, folds);
    std::vector<double> weights(n);
    for (std::size_t i = 0; i < n; ++i) weights[i] = fold_of(i) == f ? 0 : 1;
    fit.fit_to(weights);
    const std::vector<double> residuals = fit.residuals();
    for (std::size_t i = 0; i < n; ++i)
      if (fold_of(i) == f) left_out[i] = residuals[i];
  }
  return left_out;
}

std::vector<double> values_of(std::span<const FitParameter> parameters) {
  std::vector<double> values;
  for (const FitParameter& p : parameters) values.push_back(*p.value);
  return values;
}

double spread_of_draws(const std::vector<std::vector<double>>& draws, std::size_t parameter) {
  double squares = 0;
  for (const std::vector<double>& d : draws) squares += d[parameter] * d[parameter];
  return std::sqrt(squares / static_cast<double>(draws.size()));
}

std::int64_t rows_behind(const Sensitivities& s, const FitParameter& p, std::size_t index) {
  std::int64_t rows = 0;
  for (std::size_t r = 0; r < s.rows; ++r) rows += std::abs(s.at(r, index)) / p.spread > kCounts ? 1 : 0;
  return rows;
}

CalibratedValue calibrated(const FitParameter& p, double spreads, std::string origin, std::int64_t rows) {
  const double half = kNormal95 * p.spread * spreads;
  return {.name = p.name,
          .low = *p.value * std::exp(-half),
          .high = std::min(*p.value * std::exp(half), std::max(p.most, *p.value)),
          .origin = std::move(origin),
          .rows = rows};
}

// Intervals and draws of the fitted numbers and of those beside them that keep their start, into the
// profile's record.
void add_intervals(TableFit& fit, const CalibrateOptions& o) {
  const std::vector<FitParameter> kept = fit.kept();
  std::vector<FitParameter> all(fit.chosen().begin(), fit.chosen().end());
  const Sensitivities s = fit.sensitivities(all);
  const Sensitivities others = fit.sensitivities(kept);
  const auto draws =
      bootstrap(s, others, fit.residuals(),
                {.draws = o.draws, .noise = fit.noise(), .robust_scale = fit.robust_scale(), .seed = o.seed});
  CalibrationRecord& record = fit.profile().calibration;
  for (std::size_t p = 0; p < all.size(); ++p)
    record.values.push_back(
        calibrated(all[p], spread_of_draws(draws, p), "fitted", rows_behind(s, all[p], p)));
  for (std::size_t p = 0; p < kept.size(); ++p)
    record.values.push_back(fit.moved(kept[p].name)
                                ? calibrated(kept[p], 1, "derived", rows_behind(others, kept[p], p))
                                : calibrated(kept[p], 1, "default", 0));
  all.insert(all.end(), kept.begin(), kept.end());
  for (std::size_t d = 0; d < std::min(o.kept_draws, draws.size()); ++d) {
    std::vector<double> ratios;
    for (std::size_t p = 0; p < all.size(); ++p)
      ratios.push_back(
          std::min(std::exp(all[p].spread * draws[d][p]), std::max(1.0, all[p].most / *all[p].value)));
    record.draws.push_back(std::move(ratios));
  }
}

// Ratios of measured numbers, drawn by their interval in an even pattern: they are independent of the fit.
void add_measured_draws(CalibrationRecord& record, std::size_t from) {
  for (std::size_t d = 0; d < record.draws.size(); ++d)
    for (std::size_t v = from; v < record.values.size(); ++v) {
      const CalibratedValue& c = record.values[v];
      const double sd = c.low > 0 ? std::log(c.high / c.low) / (2 * kNormal95) : 0;
      record.draws[d].push_back(std::exp((((d >> (v % 4)) & 1U) != 0 ? 1 : -1) * sd));
    }
}

void add_ranges(const Observed& observed, CalibrationRecord& record) {
  for (const ObservedTable& t : observed.tables()) {
    CalibratedRange range{.operation = t.measured->operation,
                          .ranks = static_cast<std::int64_t>(t.members.size()),
                          .hosts = t.hosts,
                          .links = t.links,
                          .least = observed.rows()[t.first].size,
                          .most = observed.rows()[t.first].size};
    for (std::size_t i = t.first; i < t.first + t.rows; ++i) {
      range.least = std::min(range.least, observed.rows()[i].size);
      range.most = std::max(range.most, observed.rows()[i].size);
    }
    const auto same = std::find_if(record.ranges.begin(), record.ranges.end(), [&](const CalibratedRange& r) {
      return r.operation == range.operation && r.ranks == range.ranks && r.hosts == range.hosts &&
             r.links == range.links;
    });
    if (same == record.ranges.end()) {
      record.ranges.push_back(range);
    } else {
      same->least = std::min(same->least, range.least);
      same->most = std::max(same->most, range.most);
    }
  }
}

std::vector<bool> add_outliers(TableFit& fit, CalibrationReport& report) {
  const std::vector<double> residuals = fit.residuals();
  const double limit = std::max(std::log(1 + kLeastOutlier), kOutlier * fit.noise());
  std::vector<bool> outliers(residuals.size());
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    outliers[i] = std::abs(residuals[i]) > limit;
    const ObservedRow& row = fit.observed().rows()[i];
    if (outliers[i])
      report.outliers.push_back({fit.observed().tables()[row.table].name, row.size, row.time_s,
                                 row.time_s * std::exp(-residuals[i])});
  }
  return outliers;
}

// Residuals are log(measured / predicted), by row.
void add_points(TableFit& fit, const std::vector<double>& before, const std::vector<bool>& outliers,
                CalibrationReport& report) {
  const std::vector<double> after = fit.residuals();
  for (std::size_t i = 0; i < after.size(); ++i) {
    const ObservedRow& row = fit.observed().rows()[i];
    report.points.push_back({.table = fit.observed().tables()[row.table].name,
                             .size = row.size,
                             .measured_s = row.time_s,
                             .before_s = row.time_s * std::exp(-before[i]),
                             .fitted_s = row.time_s * std::exp(-after[i]),
                             .outlier = outliers[i]});
  }
}

void add_unpinned(const TableFit& fit, CalibrationReport& report) {
  for (const FitParameter& p : fit.kept()) {
    if (fit.moved(p.name)) continue;
    const ParameterLabel label = label_of(p.name);
    report.unpinned.push_back(
        {label.name, value_for_people(*p.value, label.unit), std::string(label.pinned_by)});
  }
}

// The file's digits are the profile's, so that what was reported is what is used later.
void round_values(Profile& profile) {
  std::vector<ParameterRef> refs = parameters(profile);
  for (ParameterRef& p : other_parameters(profile)) refs.push_back(std::move(p));
  for (CalibratedValue& v : profile.calibration.values)
    for (const ParameterRef& p : refs)
      if (p.name == v.name) {
        const ParameterUnit unit = label_of(p.name).unit;
        *p.value = rounded_value(*p.value, unit);
        v.low = std::min(v.low, *p.value);
        v.high = std::max(v.high, *p.value);
      }
}

// What a reader must know before using the numbers.
void add_doubts(const TableFit& fit, CalibrationReport& report) {
  for (const FitParameter& p : fit.chosen()) {
    const double ratio = *p.value / p.centre;
    if (ratio > kFar || ratio < 1 / kFar)
      report.notes.push_back(
          fmt::format("{} is {:.3g} times its usual value: a fault, wrong units, or another machine",
                      label_of(p.name).name, ratio));
    if (p.name.ends_with(".efficiency") && *p.value >= kAtLimit * p.most)
      report.notes.push_back(
          fmt::format("{} stands at its limit of {}: measured is faster than the topology allows",
                      label_of(p.name).name, p.most));
  }
  if (report.fit.median <= kMisfit) return;
  report.misfit = true;
  report.notes.push_back(
      fmt::format("THE FIT IS {:.0f} % OFF in the median ({:.0f} % before it): these numbers do not describe "
                  "the measurements; "
                  "check their units, and that --topology is the machine",
                  100 * report.fit.median, 100 * report.before.median));
}

[[noreturn]] void refuse(const CalibrationReport& report) {
  std::string message = "these measurements pin no number of the model";
  if (report.before.rows > 0)
    message += fmt::format(" ({} rows, {:.0f} % off in the median, {:+.0f} % on the whole)",
                           report.before.rows, 100 * report.before.median, 100 * report.before.bias);
  for (const std::string& note : report.notes) message += "; " + note;
  const bool off = report.before.median > kMisfit;
  throw Error(
      {.where = "measurements",
       .message = message,
       .suggestion = off ? "check the units of the times and sizes, and that --topology is the machine"
                         : "several sizes from 1 KiB to 1 GiB on two GPUs or more pin some"});
}

void fit_tables(TableFit& fit, const CalibrateOptions& o, CalibrationReport& report) {
  report.tables = fit.observed().tables().size();
  report.rows = fit.observed().rows().size();
  const std::vector<double> before = fit.residuals();
  report.before = figures_of(errors_of(before));
  if (report.rows == 0) return;
  say(o, fmt::format("fitting {} rows of {} tables", report.rows, report.tables), 0, 0);
  if (!fit.select_and_fit()) return add_points(fit, before, std::vector<bool>(before.size()), report);
  const std::vector<double> fitted = values_of(fit.chosen());
  report.fit = figures_of(errors_of(fit.residuals()));
  add_intervals(fit, o);
  const std::vector<bool> outliers = add_outliers(fit, report);
  add_points(fit, before, outliers, report);
  report.breaks = curve_breaks(fit.observed(), outliers);
  add_unpinned(fit, report);
  add_doubts(fit, report);
  if (!o.cross_validate) return;
  report.cross_validated = figures_of(errors_of(left_out_residuals(fit, o, report.left_out)));
  for (std::size_t i = 0; i < fitted.size(); ++i) *fit.chosen()[i].value = fitted[i];
}

}  // namespace

std::vector<CalibratedParameter> described(const Profile& given) {
  Profile profile = given;
  std::vector<ParameterRef> refs = parameters(profile);
  for (ParameterRef& p : other_parameters(profile)) refs.push_back(std::move(p));
  std::vector<CalibratedParameter> list;
  for (const CalibratedValue& v : profile.calibration.values)
    for (const ParameterRef& p : refs) {
      if (p.name != v.name || v.origin == "default") continue;
      const ParameterLabel label = label_of(p.name);
      CalibratedParameter row{label.name, value_for_people(*p.value, label.unit), "", "", v.origin, v.rows};
      if (v.high > v.low) {
        row.low = value_for_people(v.low, label.unit);
        row.high = value_for_people(v.high, label.unit);
      }
      list.push_back(std::move(row));
    }
  return list;
}

Calibration calibrate(const Topology& topology, const Measurement& measured, const Profile& start,
                      const CalibrateOptions& o) {
  Profile from = start;
  from.name = o.name;
  from.calibration = {.source = o.source, .created_from = o.created_from};
  std::vector<MeasuredOn> tables;
  for (const MeasuredTable& table : measured.tables) tables.push_back({&topology, &table});
  say(o, fmt::format("planning {} tables", tables.size()), 0, 0);
  TableFit fit(tables, from, o.observed);
  Calibration result{.profile = {}, .report = {.profile = o.name, .topology = topology.name()}};
  fit_tables(fit, o, result.report);
  Profile& profile = fit.profile();
  CalibrationRecord& record = profile.calibration;
  const std::size_t fitted = record.values.size();
  for (const std::string& note : fit.observed().notes()) result.report.notes.push_back(note);
  calibrate_kernels(profile, topology, measured.kernels, result.report.notes);
  if (record.values.empty()) refuse(result.report);
  if (result.report.rows > 0 && result.report.fit.rows == 0)
    result.report.notes.push_back(fmt::format(
        "{} rows of collectives pin no number of the model and are not used", result.report.rows));
  add_measured_draws(record, fitted);
  add_ranges(fit.observed(), record);
  if (result.report.fit.rows > 0) record.fit_median = result.report.fit.median;
  if (result.report.cross_validated.rows > 0)
    record.cross_validated_median = result.report.cross_validated.median;
  round_values(profile);
  result.report.parameters = described(profile);
  result.profile = profile;
  return result;
}

}  // namespace busbar
