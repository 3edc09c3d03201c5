// One fit of a profile to observed rows: what `calibrate` repeats for selection and cross-validation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "calibrate/identify.h"
#include "calibrate/observed.h"
#include "sim/cost/profile.h"

namespace busbar {

/// A profile under calibration and what it is fitted to. The profile stays where it is: predictions borrow
/// it.
class TableFit {
 public:
  TableFit(std::span<const MeasuredOn> tables, const Profile& start, ObservedOptions options = {});
  TableFit(const TableFit&) = delete;
  TableFit& operator=(const TableFit&) = delete;

  /// Chooses the numbers that all rows together pin, and fits them. False: there is none.
  bool select_and_fit();
  /// Fits the chosen numbers anew to the rows with a weight, from where they stand.
  void fit_to(std::span<const double> weights);

  [[nodiscard]] Profile& profile() { return profile_; }
  [[nodiscard]] const Observed& observed() const { return observed_; }
  [[nodiscard]] std::span<const FitParameter> chosen() const { return chosen_; }
  /// Numbers that some row depends on, and that keep their start.
  [[nodiscard]] std::vector<FitParameter> kept() const;
  /// Of a kept number: its middle was moved with the rate of its link.
  [[nodiscard]] bool moved(const std::string& name) const;
  /// log(measured / predicted) by row, as the profile stands.
  [[nodiscard]] std::vector<double> residuals();
  [[nodiscard]] Sensitivities sensitivities(std::span<const FitParameter> parameters);
  /// Robust standard deviation of log(time) about the last select_and_fit().
  [[nodiscard]] double noise() const { return noise_; }
  [[nodiscard]] double robust_scale() const;

 private:
  void reset();
  void find_candidates();
  void follow_rates();
  void run(std::span<const FitParameter> parameters, std::span<const double> weights);
  void estimate_noise(std::size_t taken);

  Profile profile_;
  std::vector<FitParameter> all_;
  std::vector<double> start_;
  Observed observed_;
  std::vector<FitParameter> candidates_, chosen_;
  std::vector<std::string> moved_;
  double noise_ = 0.05, fit_noise_ = 0.05;  // as found; as robust scale and priors take it
};

}  // namespace busbar
