#include "validate/figures.h"

#include <map>
#include <string>
#include <vector>

namespace busbar {

namespace {

struct Errors {
  std::vector<double> all, plain;
  void add(const ValidationRow& row) {
    all.push_back(row.error());
    if (row.plain) plain.push_back(*row.plain / row.measured - 1);
  }
  [[nodiscard]] std::optional<ErrorFigures> plain_figures() const {
    return plain.empty() ? std::nullopt : std::optional(figures_of(plain));
  }
};

}  // namespace

void sum_up(Validation& validation) {
  Errors all;
  std::map<std::string, Errors> by_system;
  for (const ValidationRow& row : validation.rows) {
    all.add(row);
    by_system[row.system].add(row);
  }
  validation.overall = figures_of(all.all);
  validation.overall_plain = all.plain_figures();
  validation.groups.clear();
  for (const auto& [system, errors] : by_system)
    validation.groups.push_back({system, figures_of(errors.all), errors.plain_figures()});
}

}  // namespace busbar
