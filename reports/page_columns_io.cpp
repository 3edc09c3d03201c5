#include <nlohmann/json.hpp>

#include "reports/calibration_report.h"
#include "reports/health_report.h"
#include "reports/page_columns.h"
#include "reports/plan_sections.h"
#include "reports/step_tables.h"
#include "reports/summary.h"
#include "reports/validation_report.h"

namespace busbar {

std::string page_columns() {
  nlohmann::ordered_json tables;
  const auto add = [&](const std::vector<RecordTable>& shapes) {
    for (const RecordTable& shape : shapes) {
      auto& columns = tables[shape.name] = nlohmann::ordered_json::array();
      for (const ColumnModel& c : shape.columns)
        if (c.reader != Reader::kPrograms)
          columns.push_back({{"name", c.name}, {"unit", c.unit}, {"right", c.align == Align::kRight}});
    }
  };
  add(step_shapes());
  add(validation_shapes());
  add(calibration_shapes());
  add(health_shapes());
  add({sweep_shape()});
  add(plan_shapes());
  return tables.dump();
}

}  // namespace busbar
