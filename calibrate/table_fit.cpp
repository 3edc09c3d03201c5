#include "calibrate/table_fit.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sim/cost/parameter_names.h"

namespace busbar {

namespace {

// A machine of one's own may lie further from the default than published ones from each other: narrow or old
// slots take half of a link's rate and more, cables and wrong settings a part of a network's. What is
// soldered varies no more than from one published machine to the next.
constexpr double kSlotSpread = 0.6, kNetworkSpread = 0.3;
constexpr std::string_view kEfficiency = ".efficiency";
// A fault may leave any part of a rate: this many times less or more is a wrong unit.
constexpr double kPriorScale = 1;  // spreads
constexpr double kFarthest = 100;
// Of a number at its default, for a change of one spread: less is no dependence.
constexpr double kDepends = 1e-3;
constexpr double kLeastNoise = 0.005;  // repeated medians on idle machines differ by more
constexpr double kNormalMad =
    1.4826;  // standard deviation of a normal distribution over its median |deviation|
constexpr double kUsualNoise = 0.01, kUsualRows = 3;
constexpr int kRounds = 4;
// |R_ii| over the noise: 2 leaves half of a spread open; 0.25 is the least that is worth a number of its own.
constexpr double kPinned = 2, kHelps = 0.25;
constexpr double kFollows = 1.25;  // of the noise that all numbers together reach

// Of the efficiency of a link that is plugged together; 0 for all other numbers.
double plugged_spread(const std::string& name) {
  for (const std::string_view slot : {"pcie_peer", "host_memory"})
    if (name == std::string(slot) + std::string(kEfficiency)) return kSlotSpread;
  for (const Transport t : {Transport::kRdma, Transport::kSlingshot, Transport::kTcp, Transport::kEfa})
    if (name == std::string(name_of(t)) + std::string(kEfficiency)) return kNetworkSpread;
  return 0;
}

FitParameter to_fit(const ParameterRef& p) {
  FitParameter fitted{p.name, p.value, std::max(p.spread, plugged_spread(p.name)), *p.value};
  fitted.most_spreads = std::log(kFarthest) / fitted.spread;
  if (is_share_of_hardware(p.name)) fitted.most = 1;
  return fitted;
}

std::vector<FitParameter> all_parameters(Profile& profile) {
  std::vector<FitParameter> list;
  for (const ParameterRef& p : parameters(profile)) list.push_back(to_fit(p));
  for (const ParameterRef& p : other_parameters(profile))
    if (p.name.starts_with("shared.")) list.push_back(to_fit(p));
  return list;
}

std::vector<double> values_of(std::span<const FitParameter> parameters) {
  std::vector<double> values;
  for (const FitParameter& p : parameters) values.push_back(*p.value);
  return values;
}

}  // namespace

TableFit::TableFit(std::span<const MeasuredOn> tables, const Profile& start, ObservedOptions options)
    : profile_(start), all_(all_parameters(profile_)), observed_(tables, profile_, std::move(options)) {
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

// A chunk that takes a link as long as its latency is the one at which it reaches half of its rate: on a link
// of a quarter of the rate, a chunk of a quarter. So the middle of what is plausible moves with the rate.
void TableFit::follow_rates() {
  std::vector<FitParameter> rates;
  for (const FitParameter& p : candidates_)
    if (p.name.ends_with(kEfficiency)) rates.push_back(p);
  run(rates, {});
  const std::vector<double> found = values_of(rates);
  reset();
  for (std::size_t r = 0; r < rates.size(); ++r) {
    const std::string half = rates[r].name.substr(0, rates[r].name.size() - kEfficiency.size()) + ".half_kib";
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].name != half) continue;
      start_[i] *= found[r] / rates[r].centre;
      moved_.push_back(half);
    }
  }
  reset();
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].centre = start_[i];
  for (FitParameter& c : candidates_) c.centre = *c.value;
}

bool TableFit::moved(const std::string& name) const {
  return std::find(moved_.begin(), moved_.end(), name) != moved_.end();
}

std::vector<FitParameter> TableFit::kept() const {
  std::vector<FitParameter> kept;
  for (const FitParameter& p : candidates_)
    if (std::none_of(chosen_.begin(), chosen_.end(),
                     [&](const FitParameter& c) { return c.value == p.value; }))
      kept.push_back(p);
  return kept;
}

std::vector<double> TableFit::residuals() {
  std::vector<double> r(observed_.rows().size());
  observed_.predict(r);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::log(observed_.rows()[i].time_s / r[i]);
  return r;
}

double TableFit::robust_scale() const { return std::max(0.01, 2 * fit_noise_); }

void TableFit::run(std::span<const FitParameter> parameters, std::span<const double> weights) {
  std::vector<FitObservation> observations;
  for (std::size_t i = 0; i < observed_.rows().size(); ++i)
    observations.push_back({observed_.rows()[i].time_s, weights.empty() ? 1 : weights[i]});
  static_cast<void>(
      fit(parameters, observations, [&](std::span<double> predicted) { observed_.predict(predicted); },
          {.robust_scale = robust_scale(), .prior_weight = fit_noise_, .prior_scale = kPriorScale}));
}

// Of residuals, freed from what `taken` parameters took; a handful of rows says little, so a few of the usual
// noise of benchmarks are added to them.
void TableFit::estimate_noise(std::size_t taken) {
  std::vector<double> sizes = residuals();
  for (double& r : sizes) r = std::abs(r);
  const auto n = static_cast<double>(sizes.size());
  const double freedom = std::max(0.0, n - static_cast<double>(taken));
  // Of an even number the upper of the middle two: what it scales by has been measured with that.
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double found = kNormalMad * *middle;
  noise_ = std::max(kLeastNoise, std::sqrt((kUsualRows * kUsualNoise * kUsualNoise + n * found * found) /
                                           (kUsualRows + freedom)));
}

void TableFit::fit_to(std::span<const double> weights) { run(chosen_, weights); }

// First all numbers that matter, each with its prior: sensitivities depend on where one stands. Then those
// that are pinned there, alone; and as many more, in the order of what they add, as it takes to follow the
// rows about as well as all together do.
bool TableFit::select_and_fit() {
  follow_rates();
  chosen_ = candidates_;
  for (int i = 0; i < kRounds; ++i) {
    run(chosen_, {});
    estimate_noise(0);  // priors hold them: they take little each
    fit_noise_ = noise_;
  }
  const double reached = noise_;
  const std::vector<Pivot> pivots = pivots_of(sensitivities(candidates_));
  const std::vector<double> together = values_of(candidates_);
  chosen_.clear();
  reset();
  bool fitted = false;
  for (const Pivot& pivot : pivots) {
    const bool pinned = pivot.strength >= kPinned * reached;
    if (!pinned && !chosen_.empty() && !fitted) {
      fit_to({});
      estimate_noise(chosen_.size());
      fitted = true;
    }
    if (!pinned && (chosen_.empty() || pivot.strength < kHelps * reached || noise_ <= kFollows * reached))
      break;
    chosen_.push_back(candidates_[pivot.parameter]);
    *chosen_.back().value = together[pivot.parameter];
    if (pinned) continue;
    fit_to({});
    estimate_noise(chosen_.size());
  }
  fit_to({});
  estimate_noise(chosen_.size());
  return !chosen_.empty();
}

}  // namespace busbar
