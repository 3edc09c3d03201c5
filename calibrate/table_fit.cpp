#include "calibrate/table_fit.h"

#include <algorithm>
#include <cmath>

namespace busbar {

namespace {

// A machine of one's own may lie further from the default than published ones from each other: cables, PCIe
// slots and wrong settings halve a rate.
constexpr double kLeastSpread = 0.25;
// Of a number at its default, for a change of one spread: less is no dependence.
constexpr double kDepends = 1e-3;
constexpr double kLeastNoise = 0.005;  // repeated medians on idle machines differ by more
constexpr double kNormalMad = 1.4826;  // standard deviation of a normal distribution over its median |deviation|
constexpr int kMostSelections = 4;

std::vector<FitParameter> all_parameters(Profile& profile) {
  std::vector<FitParameter> list;
  for (const ParameterRef& p : parameters(profile))
    list.push_back({p.name, p.value, std::max(p.spread, kLeastSpread)});
  for (const ParameterRef& p : other_parameters(profile))
    if (p.name.starts_with("shared.")) list.push_back({p.name, p.value, std::max(p.spread, kLeastSpread)});
  return list;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

TableFit::TableFit(const Topology& topology, std::span<const MeasuredTable> tables, const Profile& start)
    : profile_(start), all_(all_parameters(profile_)), observed_(topology, tables, profile_) {
  for (const FitParameter& p : all_) start_.push_back(*p.value);
  find_candidates();
}

void TableFit::reset() {
  for (std::size_t i = 0; i < all_.size(); ++i) *all_[i].value = start_[i];
}

Sensitivities TableFit::sensitivities(std::span<const FitParameter> parameters) {
  return sensitivities_of(parameters, observed_.rows().size(),
                          [&](std::span<double> predicted) { observed_.predict(predicted); });
}

void TableFit::find_candidates() {
  const Sensitivities s = sensitivities(all_);
  for (std::size_t p = 0; p < all_.size(); ++p)
    for (std::size_t r = 0; r < s.rows; ++r)
      if (std::abs(s.at(r, p)) > kDepends) {
        candidates_.push_back(all_[p]);
        break;
      }
}

std::vector<FitParameter> TableFit::kept() const {
  std::vector<FitParameter> kept;
  for (const FitParameter& p : candidates_)
    if (std::none_of(chosen_.begin(), chosen_.end(), [&](const FitParameter& c) { return c.value == p.value; }))
      kept.push_back(p);
  return kept;
}

std::vector<double> TableFit::residuals() {
  std::vector<double> r(observed_.rows().size());
  observed_.predict(r);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::log(observed_.rows()[i].time_s / r[i]);
  return r;
}

double TableFit::robust_scale() const { return std::max(0.01, 2 * noise_); }

void TableFit::run(std::span<const FitParameter> parameters, std::span<const double> weights) {
  std::vector<FitObservation> observations;
  for (std::size_t i = 0; i < observed_.rows().size(); ++i)
    observations.push_back({observed_.rows()[i].time_s, weights.empty() ? 1 : weights[i]});
  static_cast<void>(fit(parameters, observations,
                        [&](std::span<double> predicted) { observed_.predict(predicted); },
                        {.robust_scale = robust_scale(), .prior_weight = noise_}));
}

// Of residuals, freed from what as many parameters took.
void TableFit::estimate_noise() {
  std::vector<double> sizes = residuals();
  for (double& r : sizes) r = std::abs(r);
  const auto n = static_cast<double>(sizes.size());
  const double freedom = std::max(1.0, n - static_cast<double>(chosen_.size()));
  noise_ = std::max(kLeastNoise, kNormalMad * median(std::move(sizes)) * std::sqrt(n / freedom));
}

void TableFit::fit_to(std::span<const double> weights) {
  reset();
  run(chosen_, weights);
}

// First all numbers that matter, each with its prior: sensitivities depend on where one stands. Then those
// that are pinned there, alone; and again with the noise that is left, until the choice stays.
bool TableFit::select_and_fit() {
  chosen_ = candidates_;
  run(chosen_, {});
  estimate_noise();
  std::vector<std::size_t> before;
  for (int i = 0; i < kMostSelections; ++i) {
    std::vector<std::size_t> pinned = identifiable(sensitivities(candidates_), noise_);
    std::sort(pinned.begin(), pinned.end());
    if (pinned == before) break;
    chosen_.clear();
    for (const std::size_t p : pinned) chosen_.push_back(candidates_[p]);
    before = std::move(pinned);
    fit_to({});
    if (chosen_.empty()) return false;
    estimate_noise();
  }
  return true;
}

}  // namespace busbar
