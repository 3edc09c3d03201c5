#include "sim/result/calibration_io.h"

#include <nlohmann/json.hpp>

#include "sim/result/error_figures_io.h"
#include "sim/result/excerpt_io.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

Json head(const char* schema) { return {{"schema", schema}, {"version", kVersion}}; }

Json parameter_json(const CalibratedParameter& p) {
  Json j{{"name", p.name}, {"value", p.value}};
  if (!p.low.empty()) j["interval"] = {p.low, p.high};
  j["origin"] = p.origin;
  j["rows"] = p.rows;
  return j;
}

Json list_of(const auto& items, auto&& one) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(one(item));
  return list;
}

// Names in messages may hold bytes of a log that are no UTF-8.
std::string dumped(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string write_calibration(const CalibrationReport& r) {
  Json j = head("busbar.calibration/1");
  j["profile"] = r.profile;
  j["topology"] = r.topology;
  j["tables"] = r.tables;
  j["rows"] = r.rows;
  j["parameters"] = list_of(r.parameters, parameter_json);
  j["errors"] = {{"before", figures_json(r.before)}, {"fitted", figures_json(r.fit)}};
  if (r.cross_validated.rows > 0) {
    j["errors"]["cross_validated"] = figures_json(r.cross_validated);
    j["errors"]["left_out"] = r.left_out;
  }
  j["unpinned"] = list_of(r.unpinned, [](const UnpinnedParameter& p) {
    return Json{{"name", p.name}, {"value", p.value}, {"measurement", p.measurement}};
  });
  j["outliers"] = list_of(r.outliers, [](const OutlierRow& o) {
    return Json{{"table", o.table},
                {"size_bytes", o.size.count()},
                {"measured_s", o.measured_s},
                {"fitted_s", o.fitted_s}};
  });
  if (!r.points.empty())
    j["points"] = list_of(r.points, [](const CalibratedPoint& p) {
      return Json{{"table", p.table},       {"size_bytes", p.size.count()}, {"measured_s", p.measured_s},
                  {"before_s", p.before_s}, {"fitted_s", p.fitted_s},       {"outlier", p.outlier}};
    });
  add_excerpt(j, "points", r.points_excerpt);
  j["breaks"] = list_of(r.breaks, [](const CurveBreak& b) {
    return Json{
        {"table", b.table}, {"from_bytes", b.from.count()}, {"to_bytes", b.to.count()}, {"from_s", b.from_s},
        {"to_s", b.to_s},   {"model_from", b.model_from},   {"model_to", b.model_to}};
  });
  j["notes"] = r.notes;
  return dumped(j);
}

std::string write_comparison(const ProfileComparison& c) {
  Json j = head("busbar.comparison/1");
  j["before"] = c.before;
  j["after"] = c.after;
  j["changes"] = list_of(c.changes, [](const ProfileChange& x) {
    Json one{{"name", x.name}, {"before", x.before}};
    if (!x.before_interval.empty()) one["before_interval"] = x.before_interval;
    one["after"] = x.after;
    if (!x.after_interval.empty()) one["after_interval"] = x.after_interval;
    one["ratio"] = x.ratio;
    one["changed"] = x.beyond();
    one["measured_before"] = x.verdict != ProfileChange::Verdict::kOnlyAfter;
    one["measured_after"] = x.verdict != ProfileChange::Verdict::kOnlyBefore;
    return one;
  });
  j["notes"] = c.notes;
  return dumped(j);
}

std::string write_health(const HealthReport& r) {
  Json j = head("busbar.health/1");
  j["topology"] = r.topology;
  j["healthy"] = r.healthy();
  j["findings"] = list_of(r.findings, [](const HealthFinding& f) {
    Json one{{"what", f.what}, {"quantity", f.quantity}, {"measured", f.measured}};
    if (f.peers > 0) one["peers"] = f.peers;
    if (f.nominal > 0) one["datasheet"] = f.nominal;
    one["slow"] = f.slow;
    one["impossible"] = f.impossible;
    if (f.slow || f.impossible) one["text"] = f.text;
    return one;
  });
  j["notes"] = r.notes;
  return dumped(j);
}

}  // namespace busbar
