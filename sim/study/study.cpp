#include "sim/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>

#include "sim/base/error.h"
#include "sim/base/worker_pool.h"
#include "sim/study/study_quantities.h"
#include "sim/study/study_summary.h"
#include "sim/study/sweep.h"

namespace busbar {

namespace {

constexpr double kLeastGoodput = 1e-3;  // our choice: nobody waits a thousand times as long

/// One cell's search, and where its questions stand in the common list.
struct Running {
  std::unique_ptr<Search> search;
  std::size_t first = 0, count = 0;
};

// The constraints that a cluster's best layout breaks, in words, and by how much it misses the worst of them.
void miss(ClusterRecord& record, const std::string& why, std::optional<double> by = {}) {
  record.why_not += (record.why_not.empty() ? "" : ", ") + why;
  if (by) record.misses = std::max(record.misses.value_or(0), *by);
}

void find_no_layout(ClusterRecord& record) {
  const SearchRecord& s = record.search;
  if (s.least_layout.empty()) return miss(record, "no layout fits");
  const double by = s.least_bytes / s.usable_bytes - 1;
  miss(record,
       fmt::format(
           "no layout fits: {}, which needs least, takes {:.1f} GB of the {:.1f} GB that a GPU may use, "
           "{} too much",
           s.least_layout, s.least_bytes / 1e9, s.usable_bytes / 1e9, excess_text(by)),
       by);
}

void check_constraints(ClusterRecord& record, const Constraints& allowed, const std::string& currency) {
  const PlanFigures& f = record.figures.front();
  if (f.goodput < kLeastGoodput)
    miss(record, "never gets done: failures and checkpoints take all of the time");
  if (allowed.deadline_s && f.train_s && *f.train_s > *allowed.deadline_s) {
    const double by = *f.train_s / *allowed.deadline_s - 1;
    miss(record,
         fmt::format("takes {} of {}, {} too long", duration_text(*f.train_s),
                     duration_text(*allowed.deadline_s), excess_text(by)),
         by);
  }
  if (allowed.budget && !f.cost)
    miss(record, "has no price to hold against the budget");
  else if (allowed.budget && *f.cost > *allowed.budget) {
    const double by = *f.cost / *allowed.budget - 1;
    miss(record,
         fmt::format("costs {} of {}, {} too much", amount_text(*f.cost, currency),
                     amount_text(*allowed.budget, currency), excess_text(by)),
         by);
  }
}

ClusterRecord record_of(const Cell& cell, SearchRecord search) {
  ClusterRecord record{.name = cell.name,
                       .variant = cell.variant,
                       .scaling = cell.scaling,
                       .gpus = cell.inputs.size.gpus,
                       .hosts = cell.inputs.size.hosts,
                       .ports = cell.inputs.size.ports,
                       .global_batch = cell.problem.base.batch.global,
                       .search = std::move(search)};
  if (!record.has_layout()) {
    find_no_layout(record);
    return record;
  }
  FigureInputs inputs = cell.inputs;
  inputs.capacity_bytes = record.search.capacity_bytes;
  std::optional<GoodputRecord> failures;
  const StepFigures& best = record.search.ranked.front().figures;
  if (inputs.failures.given()) {
    std::optional<double> training_s;
    if (inputs.tokens) training_s = *inputs.tokens / best.tokens * best.step_s;
    failures = goodput_of(inputs, best.step_s, training_s);
  }
  for (const LayoutRecord& layout : record.search.ranked)
    record.figures.push_back(plan_figures(layout.figures, inputs, failures));
  check_constraints(record, cell.constraints, cell.inputs.prices.currency);
  return record;
}

class StudyRun {
 public:
  StudyRun(const std::vector<Cell>& cells, std::size_t threads, const EvaluateTasks& evaluate,
           const std::function<void(const StudyProgress&)>& progress)
      : cells_(cells), evaluate_(evaluate), progress_(progress), running_(cells.size()) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      running_[i].search = std::make_unique<Search>(
          cells[i].problem, SearchOptions{.simulate = cells[i].simulate,
                                          .threads = threads,
                                          .usable_memory = cells[i].constraints.usable_memory});
  }

  std::vector<ClusterRecord> run() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      tell({"screening", i, cells_.size()});
      running_[i].search->screen();
    }
    tell({"screening", cells_.size(), cells_.size()});
    while (round()) {
    }
    std::vector<ClusterRecord> records;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      records.push_back(record_of(cells_[i], running_[i].search->record()));
    return records;
  }

  [[nodiscard]] std::size_t simulated() const { return done_; }

 private:
  // Every cell's next candidates together: as much to do at once as there is. What each asks for depends on
  // its own answers alone.
  bool round() {
    std::vector<StudyTask> tasks;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      running_[i].first = tasks.size();
      for (const Candidate& candidate : running_[i].search->next()) tasks.push_back({i, candidate});
      running_[i].count = tasks.size() - running_[i].first;
    }
    if (tasks.empty()) return false;
    std::vector<StepFigures> figures(tasks.size());
    const std::size_t before = done_;
    evaluate_(tasks, [&](std::size_t i, const StepFigures& f) {
      figures[i] = f;
      tell({"simulating", ++done_, before + tasks.size()});
    });
    for (Running& r : running_)
      r.search->take(std::span<const StepFigures>(figures).subspan(r.first, r.count));
    return true;
  }

  void tell(const StudyProgress& progress) const {
    if (progress_) progress_(progress);
  }

  const std::vector<Cell>& cells_;
  const EvaluateTasks& evaluate_;
  const std::function<void(const StudyProgress&)>& progress_;
  std::vector<Running> running_;
  std::size_t done_ = 0;
};

}  // namespace

EvaluateTasks tasks_on_threads(const std::vector<Cell>& cells, std::size_t threads) {
  return [&cells, threads](std::span<const StudyTask> tasks, const TaskDone& done) {
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // What a simulation takes grows with its microbatches: those that take long begin first.
    const auto microbatches = [&](std::size_t i) {
      const Candidate& c = tasks[i].candidate;
      return cells[tasks[i].cell].problem.base.batch.global / (c.micro * c.dp);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return microbatches(a) > microbatches(b); });
    std::mutex mutex;
    run_jobs(order, threads, [&](std::size_t i) {
      const StepFigures figures = simulate_candidate(cells[tasks[i].cell].problem, tasks[i].candidate);
      const std::scoped_lock lock(mutex);
      done(i, figures);
    });
  };
}

Study run_study(const StudySpec& spec, const std::vector<Cell>& cells, std::size_t threads,
                const EvaluateTasks& evaluate, const std::function<void(const StudyProgress&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  Study study{.name = spec.name,
              .model = spec.base.model.name,
              .currency = spec.currency,
              .parameters = static_cast<double>(parameter_count(spec.base.model)),
              .active_parameters = static_cast<double>(active_parameter_count(spec.base.model)),
              .tokens = spec.tokens,
              .sequence = spec.base.batch.sequence,
              .global_batch = spec.base.batch.global};
  StudyRun run(cells, threads, evaluate, progress);
  study.clusters = run.run();
  study.simulated = static_cast<std::int64_t>(run.simulated());
  study.curves = scaling_curves(study.clusters);
  summarise(study, spec, cells);
  study.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return study;
}

}  // namespace busbar
