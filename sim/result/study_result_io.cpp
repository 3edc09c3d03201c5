#include "sim/result/study_result_io.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/result/excerpt_io.h"
#include "sim/result/sensitivity_io.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: an interval that never ends is left out, as what is not given.
void put(Json& j, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) j[key] = *value;
}

Json inputs_json(const StudyInputs& in) {
  return {
      {"study", in.study}, {"study_digest", in.digest}, {"calibration", in.calibration}, {"seed", in.seed}};
}

Json candidate_json(const LayoutRecord& layout, const PlanFigures& f) {
  const StepFigures& s = layout.figures;
  Json j{{"layout", layout.layout},
         {"step_time_s", s.step_s},
         {"compute_s", s.compute_s},
         {"exposed_communication_s", s.exposed_s},
         {"bubble_s", s.bubble_s},
         {"straggler_wait_s", s.wait_s},
         {"idle_s", s.idle_s},
         {"screened_s", layout.expected_s},
         {"bound_s", layout.least_s},
         {"tokens_per_s", f.tokens_per_s},
         {"tokens_per_s_per_gpu", f.tokens_per_s_gpu},
         {"model_flops_per_s_per_gpu", f.flops_per_gpu}};
  put(j, "mfu", f.mfu);
  j["memory_bytes"] = f.memory_bytes;
  j["headroom_bytes"] = f.headroom_bytes;
  if (f.failures) put(j, "goodput", f.goodput);
  put(j, "train_s", f.train_s);
  put(j, "gpu_hours", f.gpu_hours);
  put(j, "cost", f.cost);
  put(j, "cost_per_1e12_tokens", f.cost_per_1e12_tokens);
  put(j, "energy_J", f.energy_j);
  put(j, "spare_gpu_hours", f.spare_gpu_hours);
  put(j, "spare_cost", f.spare_cost);
  put(j, "spare_energy_J", f.spare_energy_j);
  return j;
}

Json search_json(const SearchRecord& s) {
  Json j{{"enumerated", s.enumerated}, {"excluded", s.excluded}, {"screened", s.screened},
         {"simulated", s.simulated},   {"open", s.open},         {"capacity_bytes", s.capacity_bytes}};
  if (!s.least_layout.empty())
    j.update(
        {{"usable_bytes", s.usable_bytes}, {"least_bytes", s.least_bytes}, {"least_layout", s.least_layout}});
  j["exclusions"] = Json::array();
  for (const ExclusionRecord& e : s.exclusions)
    j["exclusions"].push_back({{"reason", e.reason}, {"count", e.count}, {"example", e.example}});
  return j;
}

Json failures_json(const GoodputRecord& g) {
  Json j = Json::object();
  if (g.mtbf_s > 0) put(j, "mtbf_s", g.mtbf_s);
  put(j, "checkpoint_bytes", g.checkpoint_bytes);
  put(j, "stall_s", g.stall_s);
  put(j, "write_s", g.write_s);
  put(j, "interval_by_young_s", g.young_s);
  put(j, "interval_by_daly_s", g.daly_s);
  put(j, "interval_by_simulation_s", g.simulated_s);
  put(j, "interval_s", g.interval_s);
  put(j, "stall_share", g.stall_share);
  put(j, "goodput_by_daly", g.expected);
  put(j, "goodput_by_simulation", g.simulated);
  put(j, "waiting_share", g.waiting);
  j["failures_drawn"] = g.failures;
  j["spares"] = g.spares;
  j["spares_needed"] = g.spares_needed;
  return j;
}

Json cluster_json(const ClusterRecord& c) {
  Json j{{"name", c.name},   {"variant", c.variant}, {"scaling", c.scaling},          {"gpus", c.gpus},
         {"hosts", c.hosts}, {"ports", c.ports},     {"global_batch", c.global_batch}};
  if (!c.why_not.empty()) j["why_not"] = c.why_not;
  put(j, "misses", c.misses);
  if (c.between) j["between"] = true;
  j["search"] = search_json(c.search);
  if (c.has_layout() && c.figures.front().failures)
    j["failures"] = failures_json(*c.figures.front().failures);
  j["candidates"] = Json::array();
  for (std::size_t i = 0; i < c.search.ranked.size(); ++i)
    j["candidates"].push_back(candidate_json(c.search.ranked[i], c.figures[i]));
  add_excerpt(j, "candidates", c.ranked_excerpt);
  return j;
}

Json curve_json(const ScalingCurve& curve) {
  Json j{{"name", curve.name}, {"scaling", curve.scaling}};
  if (curve.knee) j["knee"] = *curve.knee;
  j["points"] = Json::array();
  for (const ScalingPoint& p : curve.points) {
    Json point{{"gpus", p.gpus}, {"tokens_per_s", p.tokens_per_s}, {"efficiency", p.efficiency}};
    put(point, "marginal", p.marginal);
    j["points"].push_back(std::move(point));
  }
  return j;
}

void add_answer(Json& j, const Study& study) {
  j["front"] = Json::array();
  for (const FrontPoint& p : study.front)
    j["front"].push_back({{"cluster", p.cluster}, {"layout", p.layout}, {"alike", p.alike}});
  if (study.best) j["best"] = *study.best;
  if (study.runner_up) j["runner_up"] = *study.runner_up;
  j["changes"] = study.changes;
  j["risks"] = study.risks;
  add_sensitivity(j, study.sensitivity);
  j["assumptions"] = Json::array();
  for (const Assumption& a : study.assumptions)
    j["assumptions"].push_back(
        {{"what", a.what}, {"value", a.value}, {"origin", a.origin}, {"source", a.source}});
}

Json engine_json(const Study& study) {
  double screening = 0;
  for (const ClusterRecord& c : study.clusters) screening += c.search.screen_seconds;
  return {{"steps_simulated", study.simulated},
          {"steps_reused", study.reused},
          {"screening_s", screening},
          {"wall_s", study.wall_s}};
}

}  // namespace

std::string write_study(const Study& study) {
  Json j{{"schema", "busbar.study-result/1"},
         {"version", kVersion},
         {"model_version", kModelVersion},
         {"name", study.name}};
  j["inputs"] = inputs_json(study.inputs);
  j.update({{"model", study.model},
            {"objective", study.objective},
            {"parameters", study.parameters},
            {"active_parameters", study.active_parameters},
            {"sequence", study.sequence},
            {"global_batch", study.global_batch}});
  put(j, "tokens", study.tokens);
  if (!study.currency.empty()) j["currency"] = study.currency;
  j["clusters"] = Json::array();
  for (const ClusterRecord& c : study.clusters) j["clusters"].push_back(cluster_json(c));
  j["curves"] = Json::array();
  for (const ScalingCurve& curve : study.curves) j["curves"].push_back(curve_json(curve));
  add_answer(j, study);
  j["engine"] = engine_json(study);
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace busbar
