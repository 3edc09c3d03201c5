#include "calibrate/compare_profiles.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string interval_text(const CalibratedValue* record, ParameterUnit unit) {
  if (record == nullptr || record->high <= record->low) return "";
  return fmt::format("{} to {}", value_for_people(record->low, unit), value_for_people(record->high, unit));
}

// A number that was measured once and is a default on the other side has not changed: nothing is known of it.
ProfileChange::Verdict verdict_of(const CalibratedValue* old, const CalibratedValue* now) {
  using enum ProfileChange::Verdict;
  if (old == nullptr) return kOnlyAfter;
  if (now == nullptr) return kOnlyBefore;
  if (old->high <= old->low && now->high <= now->low) return kNoInterval;
  return old->high < now->low || now->high < old->low ? kChanged : kOverlaps;
}

bool have_a_range_in_common(const CalibrationRecord& a, const CalibrationRecord& b) {
  for (const CalibratedRange& x : a.ranges)
    for (const CalibratedRange& y : b.ranges)
      if (x.ranks == y.ranks && x.hosts == y.hosts && x.links == y.links) return true;
  return a.ranges.empty() || b.ranges.empty();
}

}  // namespace

ProfileComparison compare_profiles(const Profile& before, const Profile& after) {
  const Side a(before), b(after);
  ProfileComparison comparison{.before = before.name, .after = after.name, .changes = {}, .notes = {}};
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    const CalibratedValue *old = a.record(a.numbers[i].name), *now = b.record(b.numbers[i].name);
    if (old == nullptr && now == nullptr) continue;
    const double was = *a.numbers[i].value, is = *b.numbers[i].value;
    const ParameterLabel label = label_of(a.numbers[i].name);
    comparison.changes.push_back({.name = label.name,
                                  .before = value_for_people(was, label.unit),
                                  .after = value_for_people(is, label.unit),
                                  .before_interval = interval_text(old, label.unit),
                                  .after_interval = interval_text(now, label.unit),
                                  .ratio = is / was,
                                  .verdict = verdict_of(old, now)});
  }
  if (!have_a_range_in_common(before.calibration, after.calibration))
    comparison.notes.emplace_back(
        "the two were measured on groups of other sizes or over other links: of one machine, and of like "
        "measurements, a comparison says more");
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
  if (record.fit_median)
    report.notes.push_back(fmt::format(
        "error, median: fitted {:.1f} %, left out of the fit {}", 100 * *record.fit_median,
        record.cross_validated_median ? fmt::format("{:.1f} %", 100 * *record.cross_validated_median)
                                      : "not measured"));
  std::size_t kept = 0;
  for (const CalibratedValue& v : record.values) kept += v.origin == "default" ? 1U : 0U;
  if (kept > 0) report.notes.push_back(fmt::format("{} numbers beside these keep their default", kept));
  return report;
}

}  // namespace busbar
