// A capacity-planning study: one job, several clusters, what they cost, what fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/json_reader.h"
#include "sim/cost/profile.h"
#include "sim/result/study.h"
#include "sim/study/figures.h"
#include "sim/study/search.h"

namespace busbar {

/// A kind of cluster in one or several sizes.
struct ClusterSpec {
  std::string name;
  std::string topology;  // busbar.topology/1 without the number of hosts, as JSON
  std::int64_t gpus_per_host = 1;
  std::vector<std::int64_t> gpus;  // ascending
  Prices prices;
};

/// Part of a GPU's memory that layouts may fill unless the study says otherwise. Of 71 published jobs that
/// fitted and are predicted to take 60 to 80 GB of 80, one in twenty took more than 1.11 of the prediction
/// (validate/data/memory/nanotron.csv).
inline constexpr double kUsableMemory = 0.9;

struct Constraints {
  std::optional<double> deadline_s, budget;
  double usable_memory = kUsableMemory;
  [[nodiscard]] bool given() const { return deadline_s || budget; }
};

/// "busbar.study/1", read.
struct StudySpec {
  std::string name;
  Workload base;         // its layout does not count
  std::string workload;  // the file's text of it, for digests
  std::optional<double> tokens;
  std::vector<ClusterSpec> clusters;
  Constraints constraints;
  SearchSpace space;
  std::size_t simulate = 48;
  FailureSpec failures;
  std::string currency;
  bool strong = true, weak = false;  // scaling over a cluster's sizes; weak: the batch grows with the GPUs
  std::vector<std::pair<std::string, std::vector<std::string>>> sweeps;  // key, values as in --set
  std::uint64_t seed = 1;
};

/// Errors (Error, kInput): everything that the format forbids, with its place.
[[nodiscard]] StudySpec read_study(const JsonDocument& document);
/// "64:4096:2" (from, to, factor), "256" or "256,512". Errors (Error, kInput, at `where`).
[[nodiscard]] std::vector<std::int64_t> read_counts(std::string_view text, const std::string& where);
/// The commented example of `plan --init`, which read_study takes.
[[nodiscard]] std::string example_study();

/// One cluster at one point of the sweeps: a search.
struct Cell {
  std::string name, variant, scaling;
  std::string topology_text;  // busbar.topology/1
  std::string key;            // what the digests of its results begin with
  std::unique_ptr<Topology> topology;
  SearchProblem problem;
  FigureInputs inputs;
  Constraints constraints;
  std::size_t simulate = 48;
  bool between = false;  // of a size that is not listed: searched where a goal lies between two that are
};

/// All cells of a study: the sweeps of `spec` times its clusters times their sizes, ascending; with a
/// deadline or a budget also the sizes between them that divide evenly. The same on every MPI rank. Borrows
/// the profile; `profile_key` stands for its numbers in digests.
[[nodiscard]] std::vector<Cell> cells_of(const JsonDocument& study, const StudySpec& spec,
                                         const Profile& profile, const std::string& profile_key);

/// A candidate to simulate.
struct StudyTask {
  std::size_t cell = 0;
  Candidate candidate;
};
/// Calls `done(i, figures)` once for each task, by one thread at a time, in any order.
using TaskDone = std::function<void(std::size_t, const StepFigures&)>;
using EvaluateTasks = std::function<void(std::span<const StudyTask>, const TaskDone&)>;

/// On threads; 0: one per core.
[[nodiscard]] EvaluateTasks tasks_on_threads(const std::vector<Cell>& cells, std::size_t threads);

struct StudyProgress {
  std::string phase;              // "screening", "simulating"
  std::size_t done = 0, all = 0;  // of the phase, as known so far
};

/// Searches all cells; results do not depend on the evaluator. `progress` may be empty.
[[nodiscard]] Study run_study(const StudySpec& spec, const std::vector<Cell>& cells, std::size_t threads,
                              const EvaluateTasks& evaluate,
                              const std::function<void(const StudyProgress&)>& progress);

}  // namespace busbar
