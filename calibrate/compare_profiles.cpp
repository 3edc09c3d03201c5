#include "calibrate/compare_profiles.h"

#include <algorithm>
#include <fmt/format.h>

#include "calibrate/calibration.h"
#include "sim/base/unit_text.h"
#include "sim/cost/parameter_names.h"

namespace busbar {

namespace {

struct Side {
  Profile profile;
  std::vector<ParameterRef> numbers;
  explicit Side(const Profile& given) : profile(given), numbers(parameters(profile)) {
    for (ParameterRef& p : other_parameters(profile)) numbers.push_back(std::move(p));
  }
  // Of a number that is no default; else nothing.
  [[nodiscard]] const CalibratedValue* record(const std::string& name) const {
    for (const CalibratedValue& v : profile.calibration.values)
      if (v.name == name && v.origin != "default") return &v;
    return nullptr;
  }
};

struct Range {
  double low, high;
};

Range range_of(const CalibratedValue* record, double value) {
  return record == nullptr ? Range{value, value} : Range{record->low, record->high};
}

}  // namespace

ProfileComparison compare_profiles(const Profile& before, const Profile& after) {
  const Side a(before), b(after);
  ProfileComparison comparison{.before = before.name, .after = after.name, .changes = {}};
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    const CalibratedValue *old = a.record(a.numbers[i].name), *now = b.record(b.numbers[i].name);
    if (old == nullptr && now == nullptr) continue;
    const double was = *a.numbers[i].value, is = *b.numbers[i].value;
    const Range x = range_of(old, was), y = range_of(now, is);
    const ParameterLabel label = label_of(a.numbers[i].name);
    const bool tells = x.high > x.low || y.high > y.low;
    comparison.changes.push_back({.name = label.name,
                                  .before = value_for_people(was, label.unit),
                                  .after = value_for_people(is, label.unit),
                                  .ratio = is / was,
                                  .beyond = tells && (x.high < y.low || y.high < x.low),
                                  .tells = tells});
  }
  return comparison;
}

CalibrationReport report_of(const Profile& profile) {
  const CalibrationRecord& record = profile.calibration;
  CalibrationReport report{.profile = profile.name, .parameters = described(profile)};
  if (!record.source.empty()) report.notes.push_back("made by: " + record.source);
  for (const std::string& file : record.created_from) report.notes.push_back("from " + file);
  for (const CalibratedRange& r : record.ranges)
    report.notes.push_back(fmt::format("measured: {} on {} ranks of {} hosts over {}, {} to {}",
                                       name_of(r.operation), r.ranks, r.hosts, r.links, to_text(r.least),
                                       to_text(r.most)));
  report.notes.push_back(fmt::format("error, median: fitted {:.1f} %, left out of the fit {:.1f} %",
                                     100 * record.fit_median, 100 * record.cross_validated_median));
  std::size_t kept = 0;
  for (const CalibratedValue& v : record.values) kept += v.origin == "default" ? 1U : 0U;
  if (kept > 0) report.notes.push_back(fmt::format("{} numbers beside these keep their default", kept));
  return report;
}

}  // namespace busbar
