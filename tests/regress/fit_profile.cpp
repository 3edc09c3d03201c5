// Fits the default profile to the published tables and prints its numbers and errors.
// fit_profile [--no-fit] [-v]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "validate/fit_suite.h"
#include "validate/suite_predictor.h"

namespace busbar {
namespace {

void print_errors(const Profile& profile, const std::vector<SuiteTable>& tables, bool rows) {
  std::vector<const SuiteTable*> used;
  for (const SuiteTable& t : tables)
    if (t.topology && !t.duplicate) used.push_back(&t);
  SuitePredictor predictor(used, profile);
  std::map<std::string, std::vector<double>> medians;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const SuiteTable& t = *used[i];
    const std::vector<double> predicted = predictor.predict(i);
    const TableError e = error_of(t.rows, predicted);
    const std::string group =
        t.machine_class + (t.in_model ? "" : " (outside)") +
        (t.operation == CollectiveKind::kAllToAll || t.operation == CollectiveKind::kSendRecv ? " sends"
                                                                                              : "");
    medians[group].push_back(e.median);
    fmt::print("{:<52} {:<26} med {:5.1f} bias {:+6.1f} max {:6.1f} plateau {:5.1f}\n", t.name, group,
               100 * e.median, 100 * e.bias, 100 * e.worst, 100 * e.plateau);
    if (!rows) continue;
    std::string line = "   ";
    const std::size_t stride = t.rows.size() > 40 ? 8 : 1;
    for (std::size_t r = 0; r < t.rows.size(); r += stride) {
      const Choice c = predictor.choice(i, t.rows[r].size);
      line += fmt::format(" {:+.0f}{}{}", 100 * (predicted[r] / t.rows[r].time_s - 1),
                          c.algorithm->name.substr(0, 1) == "n" ? c.algorithm->name.substr(0, 6)
                                                                : c.algorithm->name.substr(0, 1),
                          static_cast<int>(c.protocol));
    }
    fmt::print("{}\n", line);
  }
  for (auto& [group, list] : medians) {
    std::sort(list.begin(), list.end());
    const auto at = [&](double q) {
      return 100 * list[static_cast<std::size_t>(q * static_cast<double>(list.size() - 1))];
    };
    fmt::print("== {:<30} {:3} tables: median {:5.1f} p90 {:5.1f} worst {:5.1f}\n", group, list.size(),
               at(0.5), at(0.9), at(1));
  }
}

int run(bool do_fit, bool rows) {
  const std::vector<SuiteTable> tables =
      read_suite(std::string(BUSBAR_SOURCE_DIR) + "/validate/data/collectives/index.json");
  Profile profile = do_fit ? starting_profile() : default_profile();
  Profile before = profile;
  if (do_fit) {
    for (const FittedPart& p : fit_to_suite(profile, tables))
      fmt::print("{}: {} tables, {} rows, {} numbers, cost {:.4f} -> {:.4f}{}\n", p.name, p.tables, p.rows,
                 p.parameters, p.start_cost, p.cost, p.converged ? "" : " (not converged)");
    const std::vector<ParameterRef> now = parameters(profile), was = parameters(before);
    for (std::size_t i = 0; i < now.size(); ++i)
      fmt::print("  {:<40} {:10.4g} -> {:10.4g}\n", now[i].name, *was[i].value, *now[i].value);
  }
  print_errors(profile, tables, rows);
  return 0;
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  bool do_fit = true, rows = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-fit") == 0) {
      do_fit = false;
    } else if (std::strcmp(argv[i], "-v") == 0) {
      rows = true;
    } else {
      fmt::print(stderr, "usage: fit_profile [--no-fit] [-v]\n");
      return 2;
    }
  }
  try {
    return busbar::run(do_fit, rows);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
