// Predictions beside measurements: what `validate` found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/result/excerpt.h"
#include "sim/result/measured_step.h"

namespace busbar {

/// Where a predicted step's time goes, as shares of it.
struct StepShares {
  double compute = 0, exposed_communication = 0, bubble = 0;
};

/// One measured figure and its prediction, both in the unit of the suite.
struct ValidationRow {
  std::string id;      // of the row in its table
  std::string what;    // "Llama3-8B, 64 GPUs, tp 1 pp 1 dp 64"
  std::string system;  // "dgxc, H100": rows of one system are summed up together
  std::string source, framework, gpu;
  std::int64_t gpus = 0;  // or ranks; 0 where a row has none
  double measured = 0, predicted = 0;
  std::optional<double> plain;  // by the profile as it is, where `predicted` is by a fit without the system
  std::optional<StepShares> shares;
  std::optional<double> capacity;  // of a GPU's memory
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

/// Of errors, predicted / measured - 1; all but `bias` and `worst` of their absolute values.
struct ErrorFigures {
  std::size_t rows = 0;
  double median = 0, mean = 0, p90 = 0;
  double bias = 0;   // median with its sign
  double worst = 0;  // the largest, with its sign
};

struct ValidationGroup {
  std::string name;
  ErrorFigures figures;
  std::optional<ErrorFigures> plain = std::nullopt;  // of ValidationRow::plain
};

/// A row of the suite's tables that has no prediction, and why.
struct NotSimulated {
  std::string id, system, reason;
};

/// Jobs that fit the memory of their GPUs, or do not, against what is predicted of them.
struct FitVerdicts {
  std::size_t fits_right = 0, fits_wrong = 0, oom_right = 0, oom_wrong = 0;
  [[nodiscard]] std::size_t jobs() const { return fits_right + fits_wrong + oom_right + oom_wrong; }
  [[nodiscard]] double right() const {
    return jobs() == 0 ? 0 : static_cast<double>(fits_right + oom_right) / static_cast<double>(jobs());
  }
};

/// A figure that was held, or not: "median" of the suite against what was recorded for it.
struct HeldFigure {
  std::string name;
  double value = 0, recorded = 0;
  bool met = true;
};

/// A predicted figure that the measurement lacks, or has in a form that does not compare, and why.
struct MissingFigure {
  std::string what;
  std::optional<double> measured, predicted;
  std::string why;
};

/// What a comparison with a user's own measurement has besides its rows.
struct Comparison {
  std::vector<MissingFigure> missing;
  std::vector<std::string> notes;   // what to know of the measurement
  std::vector<MeasuredRank> ranks;  // of a step, where several were read
  std::string largest;  // the part of a step that is furthest off, and what would close it; may be ""
  std::string closing;  // of a step: the single parameter that would close its gap; may be ""
  std::string judged;   // what the tolerance is held against: "step time"
  std::optional<double> judged_error;
  std::optional<double> tolerance;  // of its absolute value
  [[nodiscard]] bool within() const {
    return !tolerance || (judged_error && (*judged_error < 0 ? -*judged_error : *judged_error) <= *tolerance);
  }
};

/// One suite, or one comparison with a user's measurement.
struct Validation {
  std::string suite;        // "steps"; "step" and "operations" are a user's
  std::string collection;   // the name of a user's suite file; "": the tables that come with the program
  std::string quantity;     // "step time"
  std::string unit;         // "s", "bytes"
  std::string calibration;  // "default"
  std::vector<std::string> filters;
  std::vector<ValidationRow> rows;                             // in the order of the tables
  std::optional<Excerpt> rows_excerpt, not_simulated_excerpt;  // where the lists are not whole
  bool cross_validated = false;  // each system is predicted by a fit to all others
  ErrorFigures overall;
  std::optional<ErrorFigures> overall_plain;  // of ValidationRow::plain
  std::vector<ValidationGroup> groups;
  std::vector<ValidationGroup> tables;  // over the median errors of whole tables, by class of machine
  std::optional<FitVerdicts> fits;
  std::vector<NotSimulated> not_simulated;
  std::vector<std::string> notes;  // what to know of the figures, a sentence each
  std::vector<HeldFigure> held;
  std::optional<Comparison> comparison;
  [[nodiscard]] bool all_held() const {
    if (comparison && !comparison->within()) return false;
    for (const HeldFigure& figure : held)
      if (!figure.met) return false;
    return true;
  }
};

}  // namespace busbar
