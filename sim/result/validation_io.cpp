#include "sim/result/validation_io.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/result/error_figures_io.h"
#include "sim/result/excerpt_io.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

// Times carry their unit in the key.
std::string key(const char* name, const Validation& v) { return std::string(name) + "_" + v.unit; }

Json row_json(const ValidationRow& r, const Validation& v) {
  Json j{{"id", r.id},
         {"what", r.what},
         {"system", r.system},
         {"source", r.source},
         {"framework", r.framework},
         {"gpu", r.gpu},
         {"gpus", r.gpus},
         {key("measured", v), r.measured},
         {key("predicted", v), r.predicted},
         {"error", r.error()}};
  if (r.plain) {
    j[key("predicted_plain", v)] = *r.plain;
    j["error_plain"] = *r.plain / r.measured - 1;
  }
  if (r.shares)
    j["predicted_shares"] = {{"compute", r.shares->compute},
                             {"exposed_communication", r.shares->exposed_communication},
                             {"bubble", r.shares->bubble}};
  if (r.capacity) j["capacity_bytes"] = *r.capacity;
  return j;
}

Json groups_json(const std::vector<ValidationGroup>& groups, const char* name) {
  Json list = Json::array();
  for (const ValidationGroup& g : groups) {
    Json group{{name, g.name}};
    group.update(figures_json(g.figures));
    if (g.plain) group["plain"] = figures_json(*g.plain);
    list.push_back(std::move(group));
  }
  return list;
}

const ValidationRow* furthest_off(const Validation& v) {
  const ValidationRow* found = nullptr;
  for (const ValidationRow& r : v.rows)
    if (found == nullptr || std::abs(r.error()) > std::abs(found->error())) found = &r;
  return found;
}

void add_fits(Json& j, const Validation& v) {
  if (!v.fits) return;
  j["summary"]["fits"] = {{"right", v.fits->right()},
                          {"jobs", v.fits->jobs()},
                          {"fits_predicted_fits", v.fits->fits_right},
                          {"fits_predicted_out_of_memory", v.fits->fits_wrong},
                          {"out_of_memory_predicted_out_of_memory", v.fits->oom_right},
                          {"out_of_memory_predicted_fits", v.fits->oom_wrong}};
}

Json rank_json(const MeasuredRank& r) {
  const MeasuredSplit& s = r.split;
  return {{"rank", r.rank},
          {"step_time_s", r.step.seconds()},
          {"compute_s", s.compute.seconds()},
          {"communication_s", s.communication.seconds()},
          {"exposed_communication_s", s.exposed.seconds()},
          {"straggler_wait_s", s.waiting.seconds()},
          {"bubble_s", s.bubble.seconds()},
          {"idle_s", s.idle.seconds()}};
}

void add_comparison(Json& j, const Validation& v) {
  if (!v.comparison) return;
  const Comparison& c = *v.comparison;
  j["not_compared"] = Json::array();
  for (const MissingFigure& m : c.missing) {
    Json figure{{"what", m.what}};
    if (m.measured) figure[key("measured", v)] = *m.measured;
    if (m.predicted) figure[key("predicted", v)] = *m.predicted;
    figure["reason"] = m.why;
    j["not_compared"].push_back(std::move(figure));
  }
  if (!c.ranks.empty()) {
    j["measured_ranks"] = Json::array();
    for (const MeasuredRank& rank : c.ranks) j["measured_ranks"].push_back(rank_json(rank));
  }
  j["notes"] = c.notes;
  if (!c.largest.empty()) j["explanation"] = c.largest;
  if (!c.closing.empty()) j["closing_change"] = c.closing;
  j["verdict"] = {{"judged", c.judged}, {"within", c.within()}};
  if (c.judged_error) j["verdict"]["error"] = *c.judged_error;
  if (c.tolerance) j["verdict"]["tolerance"] = *c.tolerance;
}

Json suite_json(const Validation& v) {
  Json j{{"suite", v.suite}, {"quantity", v.quantity}, {"calibration", v.calibration}};
  if (!v.collection.empty()) j["collection"] = v.collection;
  if (v.cross_validated) j["cross_validated"] = true;
  j["filters"] = v.filters;
  j["rows"] = Json::array();
  for (const ValidationRow& r : v.rows) j["rows"].push_back(row_json(r, v));
  add_excerpt(j, "rows", v.rows_excerpt);
  add_excerpt(j, "not_simulated", v.not_simulated_excerpt);
  j["summary"] = figures_json(v.overall);
  if (v.overall_plain) j["summary"]["plain"] = figures_json(*v.overall_plain);
  add_fits(j, v);
  j["systems"] = groups_json(v.groups, "system");
  if (!v.tables.empty()) j["tables"] = groups_json(v.tables, "class");
  j["not_simulated"] = Json::array();
  for (const NotSimulated& n : v.not_simulated)
    j["not_simulated"].push_back({{"id", n.id}, {"system", n.system}, {"reason", n.reason}});
  j["recorded"] = Json::array();
  for (const HeldFigure& h : v.held)
    j["recorded"].push_back(
        {{"figure", h.name}, {"value", h.value}, {"recorded", h.recorded}, {"met", h.met}});
  if (!v.notes.empty()) j["notes"] = v.notes;
  add_comparison(j, v);
  if (const ValidationRow* worst = furthest_off(v)) j["largest_disagreement"] = row_json(*worst, v);
  return j;
}

}  // namespace

std::string write_validation(std::span<const Validation> suites) {
  Json j{{"schema", "busbar.validation/1"}, {"version", kVersion}, {"model_version", kModelVersion}};
  if (suites.size() == 1) {
    j.update(suite_json(suites.front()));
  } else {
    j["suites"] = Json::array();
    for (const Validation& v : suites) j["suites"].push_back(suite_json(v));
  }
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace busbar
