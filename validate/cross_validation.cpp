#include "validate/cross_validation.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/base/worker_pool.h"
#include "validate/fit_suite.h"
#include "validate/suite_predictor.h"

namespace busbar {

CrossValidated cross_validated(std::span<const SuiteTable> all, std::span<const SuiteTable* const> used,
                               const Profile& profile, const SuiteOptions& options) {
  std::map<std::string, std::vector<std::size_t>> by_system;
  for (std::size_t t = 0; t < used.size(); ++t) by_system[used[t]->system].push_back(t);
  const std::vector<std::pair<std::string, std::vector<std::size_t>>> systems(by_system.begin(),
                                                                              by_system.end());
  CrossValidated found;
  found.predicted.resize(used.size());
  std::vector<char> alone(systems.size(), 0);
  const auto predict_system = [&](std::size_t s) {
    const auto& [system, own] = systems[s];
    Profile unseen = profile;
    alone[s] = fit_without(unseen, all, system).empty() ? 1 : 0;
    std::vector<const SuiteTable*> tables;
    for (const std::size_t t : own) tables.push_back(used[t]);
    SuitePredictor predictor(tables, unseen);
    for (std::size_t i = 0; i < own.size(); ++i) found.predicted[own[i]] = predictor.predict(i);
  };
  std::vector<std::size_t> order(systems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  run_jobs(order, options.threads, predict_system, [&](std::size_t done) {
    if (options.progress) options.progress(done, systems.size());
  });
  for (std::size_t s = 0; s < systems.size(); ++s)
    if (alone[s] != 0)
      found.notes.push_back(systems[s].first + ": no other system of its kind; its constants are unfitted");
  return found;
}

}  // namespace busbar
