#include "sim/result/solution_io.h"

#include <nlohmann/json.hpp>

#include "sim/result/version.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

template <class Found>
void add_choices(Json& j, const Found& found) {
  j["choices"] = found.chosen_anew ? "known" : "kept";
  if (found.parts_error) j["parts_error"] = *found.parts_error;
}

Json alternative_json(const Alternative& a) {
  Json j{{"factor", a.factor}};
  if (!a.value.empty()) j["value"] = a.value;
  j["factor_interval"] = {or_null(a.low), or_null(a.high)};
  add_choices(j, a);
  if (a.contradicts_parts) j["contradicts_parts"] = true;
  return j;
}

Json solution_json(const Solution& s) {
  Json j{{"parameter", s.parameter},
         {"measured_s", s.measured.seconds()},
         {"predicted_s", s.predicted.seconds()},
         {"factor", or_null(s.factor)}};
  if (!s.value_now.empty()) j["value_now"] = s.value_now;
  if (!s.value.empty()) j["value"] = s.value;
  if (!s.interval_of.empty()) {
    j["factor_interval"] = {or_null(s.low), or_null(s.high)};
    j["interval_of"] = s.interval_of;
  }
  j["factors_searched"] = {s.range.first, s.range.second};
  if (s.range_times.first > Time::zero())
    j["step_times_there_s"] = {s.range_times.first.seconds(), s.range_times.second.seconds()};
  j["monotone"] = s.monotone;
  if (s.factor) j["implausibility"] = s.implausibility;
  if (s.factor) add_choices(j, s);
  if (!s.alternatives.empty()) j["ambiguous"] = is_ambiguous(s);
  for (const Alternative& a : s.alternatives) j["alternatives"].push_back(alternative_json(a));
  if (!s.suggestion.empty()) j["suggestion"] = s.suggestion;
  return j;
}

}  // namespace

std::string write_solutions(const std::vector<SolvedStep>& steps) {
  Json j{{"schema", "busbar.solution/1"}, {"version", kVersion}, {"model_version", kModelVersion}};
  j["steps"] = Json::array();
  for (const SolvedStep& step : steps) {
    Json solutions = Json::array();
    for (const Solution& s : step.solutions) solutions.push_back(solution_json(s));
    j["steps"].push_back({{"name", step.name}, {"solutions", std::move(solutions)}});
  }
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace busbar
