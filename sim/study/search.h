// The fastest layouts of a job on a machine: enumerate, prune, screen, simulate.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/result/study.h"
#include "sim/study/search_space.h"
#include "topologies/topology.h"

namespace busbar {

struct SearchOptions {
  std::size_t simulate = 48;  // layouts to simulate for their speed, at most
  std::size_t batch = 16;     // of them between two looks at the bounds
  std::size_t threads = 0;    // 0: one per core. Results do not depend on it
  /// Part of the GPU's memory that a layout may fill.
  double usable_memory = 1;
};

/// A machine and a job whose layout is open. Values that are the same for all candidates.
struct SearchProblem {
  const Topology* topology = nullptr;
  const Profile* profile = nullptr;
  Workload base;  // parallel.host_ranks set; its layout does not count
  SearchSpace space;
};

/// Simulates each of the candidates; result[i] belongs to candidates[i]. Threads, MPI ranks and results kept
/// from earlier are the evaluator's business.
using Evaluate = std::function<std::vector<StepFigures>(std::span<const Candidate>)>;

/// The step of one candidate; errors of the job (Error) become `failure`. Of many microbatches some rounds
/// are simulated, where they are found to repeat (short_steps.cpp).
[[nodiscard]] StepFigures simulate_candidate(const SearchProblem& problem, const Candidate& candidate);

/// Evaluates on threads.
[[nodiscard]] Evaluate on_threads(const SearchProblem& problem, std::size_t threads);

/// A candidate with its closed forms.
struct Screening {
  Candidate candidate;
  double expected_s = 0, least_s = 0, memory_bytes = 0;
};

/// A search in steps, so that several can share one evaluator. Every step does the same for the same input.
class Search {
 public:
  Search(const SearchProblem& problem, const SearchOptions& options);
  /// Enumerates, prunes by memory, screens. Called first, once.
  void screen();
  /// The next candidates to simulate; empty: done. Those whose bound is above the best so far are left out.
  [[nodiscard]] std::vector<Candidate> next();
  /// Results of what next() returned.
  void take(std::span<const StepFigures> figures);
  [[nodiscard]] SearchRecord record() const;

 private:
  [[nodiscard]] std::vector<std::size_t> memory_front() const;
  [[nodiscard]] bool is_wanted(std::size_t i) const;
  void set_twins_aside();
  void ask_for_twins();
  /// Of two orders of ranks, the one that is tried second.
  [[nodiscard]] bool is_twin(std::size_t i) const {
    return twin_[i] >= 0 && static_cast<std::size_t>(twin_[i]) < i;
  }

  const SearchProblem& problem_;
  SearchOptions options_;
  Enumeration found_;
  std::vector<Screening> screened_;  // fastest first
  std::optional<Screening> least_;   // of those that divide, the one that needs least memory
  std::vector<std::size_t> order_;   // in which to simulate: indices into screened_
  std::size_t at_ = 0, ranked_ = 0;  // in order_: the next; those before this are there for their speed
  std::size_t spent_ = 0;            // of options_.simulate
  std::vector<std::size_t> asked_;
  std::vector<std::pair<std::size_t, StepFigures>> simulated_;
  std::vector<bool> done_;
  std::vector<std::ptrdiff_t> twin_;  // by screened_: the same layout with its ranks the other way round, -1
  bool twins_asked_ = false;
  double best_s_ = 0;  // 0: none yet
  double screen_seconds_ = 0;
  std::int64_t enumerated_ = 0;
};

/// screen(), then next() and take() until nothing is left.
[[nodiscard]] SearchRecord run_search(const SearchProblem& problem, const SearchOptions& options,
                                      const Evaluate& evaluate);

}  // namespace busbar
