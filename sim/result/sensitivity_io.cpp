#include "sim/result/sensitivity_io.h"

#include <nlohmann/json.hpp>

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void add_sensitivity(nlohmann::ordered_json& j, const std::vector<SensitivityRecord>& records) {
  if (records.empty()) return;
  j["sensitivity"] = Json::array();
  for (const SensitivityRecord& s : records) {
    Json& row = j["sensitivity"].emplace_back(
        Json{{"parameter", s.parameter}, {"words", s.words}, {"value", s.value}});
    row.update({{"elasticity", s.elasticity}, {"elasticity_up", s.up}, {"elasticity_down", s.down}});
    row["less_is_better"] = s.less_is_better;
    if (s.better) row["change_10_percent_better"] = *s.better;
  }
}

}  // namespace busbar
