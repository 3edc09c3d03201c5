// What a calibration found: plain records for reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/result/excerpt.h"
#include "sim/result/validation.h"

namespace busbar {

/// One number of a profile, for people: values carry their unit.
struct CalibratedParameter {
  std::string name, value, low, high;  // "" without an interval
  std::string origin;                  // fitted, measured, derived, default
  std::int64_t rows = 0;
};

/// A number that keeps its default, and what would pin it.
struct UnpinnedParameter {
  std::string name, value, measurement;
};

/// A row that the fit did not follow.
struct OutlierRow {
  std::string table;
  Bytes size;
  double measured_s = 0, fitted_s = 0;
};

/// One measured row, and what the profile says of it before and after the fit.
struct CalibratedPoint {
  std::string table;
  Bytes size;
  double measured_s = 0, before_s = 0, fitted_s = 0;
  bool outlier = false;
};

/// Where a table's curve breaks, as a change of protocol or algorithm does.
struct CurveBreak {
  std::string table;
  Bytes from, to;
  double from_s = 0, to_s = 0;
  std::string model_from, model_to;  // what the model takes on either side: "ring/LL"
};

struct CalibrationReport {
  std::string profile, topology;
  std::size_t tables = 0, rows = 0;
  std::vector<CalibratedParameter> parameters;  // those that are no default
  std::vector<UnpinnedParameter> unpinned;
  std::vector<OutlierRow> outliers;
  std::vector<CalibratedPoint> points;    // all rows, in the order of the tables; empty: a profile alone
  std::optional<Excerpt> points_excerpt;  // where these are not all
  std::vector<CurveBreak> breaks;
  ErrorFigures before, fit, cross_validated;  // of rows: default profile, fitted, left out of the fit
  std::string left_out;                       // what cross-validation left out at a time: "one table"
  std::vector<std::string> notes;
  bool misfit = false;  // the fitted numbers do not describe the measurements
};

/// One number of two profiles.
struct ProfileChange {
  enum class Verdict : unsigned char {
    kChanged,     // the intervals do not overlap
    kOverlaps,    // they do
    kNoInterval,  // neither side has one
    kOnlyBefore,  // a default in the later profile: nothing was measured of it
    kOnlyAfter,   // a default in the earlier one
  };
  std::string name, before, after;
  std::string before_interval, after_interval;  // "" without one
  double ratio = 1;                             // after / before
  Verdict verdict = Verdict::kNoInterval;
  [[nodiscard]] bool beyond() const { return verdict == Verdict::kChanged; }
};

/// `calibrate --show NEW --compare OLD`.
struct ProfileComparison {
  std::string before, after;
  std::vector<ProfileChange> changes;  // of numbers that are no default in at least one
  std::vector<std::string> notes;
  [[nodiscard]] bool any_beyond() const {
    for (const ProfileChange& c : changes)
      if (c.beyond()) return true;
    return false;
  }
};

/// One link class, NIC, GPU or host beside its peers.
struct HealthFinding {
  std::string what;                             // "host h3, NIC 5", "rank 3 to rank 4"
  std::string quantity;                         // "GB/s", "us"
  double measured = 0, peers = 0, nominal = 0;  // 0: not known
  bool slow = false;
  bool impossible = false;  // faster than its hardware: the measurement is wrong
  std::string text;         // "host h3, NIC 5: 24.1 of 48.2 GB/s"
};

struct HealthReport {
  std::string topology;
  std::size_t tables = 0, kernels = 0;
  std::vector<HealthFinding> findings;  // slow ones first
  std::vector<std::string> notes;       // what could not be compared
  [[nodiscard]] bool healthy() const {
    for (const HealthFinding& f : findings)
      if (f.slow || f.impossible) return false;
    return true;
  }
};

}  // namespace busbar
