#include "validate/fit_suite.h"

#include <algorithm>
#include <map>

#include "calibrate/fit.h"
#include "validate/suite_predictor.h"

namespace busbar {

namespace {

constexpr std::int64_t kFrom = 1024;

// The prefix of the parameters that a table's time depends on and that it is there to fit.
std::string part_of(const SuitePredictor& predictor, std::size_t table) {
  if (predictor.hosts(table) > 1) return std::string(name_of(predictor.network(table)));
  switch (predictor.inside(table)) {
    case Transport::kPciePeer:
      return "pcie_peer";
    case Transport::kHostMemory:
      return "host_memory";
    case Transport::kNvlink:
    case Transport::kXgmi:
    case Transport::kC2c:
    case Transport::kRdma:
    case Transport::kSlingshot:
    case Transport::kTcp:
    case Transport::kEfa:
      break;
  }
  return std::string(predictor.generation(table));
}

std::vector<FitParameter> parameters_named(Profile& profile, const std::string& part) {
  std::vector<FitParameter> list;
  for (const ParameterRef& p : parameters(profile))
    if (p.name.starts_with(part + ".")) list.push_back({p.name, p.value, p.spread});
  return list;
}

FittedPart fit_part(Profile& profile, const std::string& part, const std::vector<const SuiteTable*>& tables) {
  SuitePredictor predictor(tables, profile);
  std::vector<FitObservation> observations;
  for (const SuiteTable* t : tables) {
    const auto counted = std::count_if(t->rows.begin(), t->rows.end(),
                                       [](const SuiteRow& r) { return r.size.count() >= kFrom; });
    for (const SuiteRow& row : t->rows)
      observations.push_back(
          {row.time_s, row.size.count() >= kFrom ? 1.0 / static_cast<double>(counted) : 0.0});
  }
  const auto predict = [&](std::span<double> predicted) {
    predictor.profile_changed();
    std::size_t at = 0;
    for (std::size_t t = 0; t < tables.size(); ++t)
      for (const double seconds : predictor.predict(t)) predicted[at++] = seconds;
  };
  const std::vector<FitParameter> free = parameters_named(profile, part);
  const FitSummary summary = fit(free, observations, predict, {});
  return {part,         tables.size(),    observations.size(), free.size(), summary.start_cost,
          summary.cost, summary.converged};
}

bool is_network_part(const std::string& part) {
  return part == "rdma" || part == "slingshot" || part == "tcp" || part == "efa";
}

using ByPart = std::map<std::string, std::vector<const SuiteTable*>>;

ByPart by_part(const Profile& profile, std::span<const SuiteTable> tables) {
  std::vector<const SuiteTable*> used;
  for (const SuiteTable& t : tables)
    if (t.in_model && !t.duplicate && t.topology) used.push_back(&t);
  ByPart parts;
  const SuitePredictor predictor(used, profile);
  for (std::size_t t = 0; t < used.size(); ++t) parts[part_of(predictor, t)].push_back(used[t]);
  return parts;
}

void restart(Profile& profile, const std::string& part) {
  Profile start = starting_profile();
  const std::vector<FitParameter> from = parameters_named(start, part);
  const std::vector<FitParameter> to = parameters_named(profile, part);
  for (std::size_t i = 0; i < to.size(); ++i) *to[i].value = *from[i].value;
}

}  // namespace

std::vector<FittedPart> fit_to_suite(Profile& profile, std::span<const SuiteTable> tables) {
  const ByPart parts = by_part(profile, tables);
  std::vector<FittedPart> fitted;
  // Networks build on what the hosts' constants have become.
  for (const bool networks : {false, true})
    for (const auto& [part, list] : parts) {
      if (is_network_part(part) != networks) continue;
      restart(profile, part);
      fitted.push_back(fit_part(profile, part, list));
    }
  return fitted;
}

std::vector<FittedPart> fit_without(Profile& profile, std::span<const SuiteTable> tables,
                                    const std::string& system) {
  std::vector<FittedPart> fitted;
  for (auto [part, list] : by_part(profile, tables))
    if (std::erase_if(list, [&](const SuiteTable* t) { return t->system == system; }) > 0) {
      restart(profile, part);
      if (!list.empty()) fitted.push_back(fit_part(profile, part, list));
    }
  return fitted;
}

}  // namespace busbar
