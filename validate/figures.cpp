#include "validate/figures.h"

#include <map>
#include <string>
#include <vector>

namespace busbar {

void sum_up(Validation& validation) {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_system;
  for (const ValidationRow& row : validation.rows) {
    all.push_back(row.error());
    by_system[row.system].push_back(row.error());
  }
  validation.overall = figures_of(all);
  validation.groups.clear();
  for (const auto& [system, errors] : by_system) validation.groups.push_back({system, figures_of(errors)});
}

}  // namespace busbar
