// From measured tables to a profile with error bars.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/observed.h"
#include "sim/cost/profile.h"
#include "sim/result/calibration.h"
#include "sim/result/measurement.h"
#include "topologies/topology.h"

namespace busbar {

struct CalibrateOptions {
  std::uint64_t seed = 0;       // of the bootstrap
  std::size_t draws = 200;      // that intervals are made from
  std::size_t kept_draws = 16;  // that travel with the profile
  bool cross_validate = true;
  ObservedOptions observed;  // NCCL's settings, threads
  /// Called as work goes on: "fitting", "left out"; `all` is 0 where nobody knows how long it takes.
  std::function<void(std::string_view phase, std::size_t done, std::size_t all)> progress;
  std::string name = "calibrated";        // of the profile
  std::string source;                     // in words
  std::vector<std::string> created_from;  // files and digests
};

struct Calibration {
  Profile profile;
  CalibrationReport report;
};

/// Fits the numbers of `start` that the measurements pin, on the simulator's own model of `topology`; all
/// others keep their values. Robust least squares on log(time) (fit.h), with each number held near its start
/// by a prior; which numbers: TableFit::select_and_fit(); intervals: bootstrap().
/// Errors (Error, kInput): the measurements pin nothing; a table that the topology cannot hold.
[[nodiscard]] Calibration calibrate(const Topology& topology, const Measurement& measured,
                                    const Profile& start, const CalibrateOptions& options);

/// The numbers of a profile that are no default, for people.
[[nodiscard]] std::vector<CalibratedParameter> described(const Profile& profile);

}  // namespace busbar
