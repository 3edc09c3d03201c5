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

/// A profile under calibration and what it is fitted to. The profile stays where it is: predictions borrow it.
class TableFit {
 public:
  TableFit(const Topology& topology, std::span<const MeasuredTable> tables, const Profile& start);
  TableFit(const TableFit&) = delete;
  TableFit& operator=(const TableFit&) = delete;

  /// Chooses the numbers that all rows together pin, and fits them. False: there is none.
  bool select_and_fit();
  /// Fits the chosen numbers anew to the rows with a weight, from their start.
  void fit_to(std::span<const double> weights);

  [[nodiscard]] Profile& profile() { return profile_; }
  [[nodiscard]] const Observed& observed() const { return observed_; }
  [[nodiscard]] std::span<const FitParameter> chosen() const { return chosen_; }
  /// Numbers that some row depends on, and that keep their start.
  [[nodiscard]] std::vector<FitParameter> kept() const;
  /// log(measured / predicted) by row, as the profile stands.
  [[nodiscard]] std::vector<double> residuals();
  [[nodiscard]] Sensitivities sensitivities(std::span<const FitParameter> parameters);
  /// Robust standard deviation of log(time) about the last select_and_fit().
  [[nodiscard]] double noise() const { return noise_; }
  [[nodiscard]] double robust_scale() const;

 private:
  void reset();
  void find_candidates();
  void run(std::span<const FitParameter> parameters, std::span<const double> weights);
  void estimate_noise();

  Profile profile_;
  std::vector<FitParameter> all_;
  std::vector<double> start_;
  Observed observed_;
  std::vector<FitParameter> candidates_, chosen_;
  double noise_ = 0.05;
};

}  // namespace busbar
