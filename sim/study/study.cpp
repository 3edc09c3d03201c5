#include "sim/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

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
  std::optional<ClusterRecord> record;  // when it has ended
};

// The constraints that a cluster's best layout breaks, in words, and by how much it misses the worst of them.
void miss(ClusterRecord& record, const std::string& why, std::optional<double> by = {}) {
  record.why_not += (record.why_not.empty() ? "" : ", ") + why;
  if (by) record.misses = std::max(record.misses.value_or(0), *by);
}

void check_constraints(ClusterRecord& record, const Constraints& allowed, const std::string& currency) {
  const PlanFigures& f = record.figures.front();
  if (f.goodput < kLeastGoodput)
    miss(record, "never gets done: failures and checkpoints take all of the time");
  if (allowed.deadline_s && f.train_s && *f.train_s > *allowed.deadline_s) {
    const double by = *f.train_s / *allowed.deadline_s - 1;
    miss(record,
         fmt::format("takes {} of {}, {}", duration_text(*f.train_s), duration_text(*allowed.deadline_s),
                     excess_text(by, "long")),
         by);
  }
  if (allowed.budget && !f.cost)
    miss(record, "has no price to hold against the budget");
  else if (allowed.budget && *f.cost > *allowed.budget) {
    const double by = *f.cost / *allowed.budget - 1;
    miss(record,
         fmt::format("costs {} of {}, {}", amount_text(*f.cost, currency),
                     amount_text(*allowed.budget, currency), excess_text(by, "much")),
         by);
  }
}

// Whether nothing divides, nothing fits or nothing runs, what keeps most out, and which number moves it.
std::string why_no_layout(const SearchRecord& search) {
  const bool divides = !search.least_layout.empty();
  const ExclusionRecord* most = nullptr;
  for (const ExclusionRecord& e : search.exclusions) {
    const bool early = e.reason != reason::kMemory && !advice_for(e.reason).empty();
    if (divides && early) continue;  // those that divide failed later
    if (most == nullptr || e.count > most->count) most = &e;
  }
  if (most == nullptr) return "no layout: the lists in search leave none to try";
  std::string text;
  if (!divides)
    text = fmt::format("no layout divides: of {} tried, {} were left out as {}", search.enumerated,
                       most->count, most->reason);
  else if (most->reason == reason::kMemory)
    text = fmt::format(
        "no layout fits: {}, which needs least, takes {:.1f} GB of the {:.1f} GB that a GPU may use, {} too "
        "much",
        search.least_layout, search.least_bytes / 1e9, search.usable_bytes / 1e9,
        excess_text(search.least_bytes / search.usable_bytes - 1, "much"));
  else
    text = fmt::format("no layout runs: {}", most->reason);
  if (!divides || most->reason != reason::kMemory) text += fmt::format(" (such as {})", most->example);
  const std::string_view advice = advice_for(most->reason);
  return advice.empty() ? text : fmt::format("{}; change {}", text, advice);
}

ClusterRecord record_of(const Cell& cell, SearchRecord search) {
  ClusterRecord record{.name = cell.name,
                       .variant = cell.variant,
                       .scaling = cell.scaling,
                       .gpus = cell.inputs.size.gpus,
                       .hosts = cell.inputs.size.hosts,
                       .ports = cell.inputs.size.ports,
                       .global_batch = cell.problem.base.batch.global,
                       .search = std::move(search),
                       .between = cell.between};
  if (!record.has_layout()) {
    miss(record, why_no_layout(record.search),
         record.search.least_bytes > record.search.usable_bytes
             ? std::optional(record.search.least_bytes / record.search.usable_bytes - 1)
             : std::nullopt);
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
      : cells_(cells), threads_(threads), evaluate_(evaluate), progress_(progress), running_(cells.size()) {}

  void run() {
    std::vector<std::size_t> listed;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (!cells_[i].between) listed.push_back(i);
    search(listed);
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (i == 0 || !is_same_cluster(i, i - 1)) look_between(i);
  }

  /// Of the cells that were searched, in their order.
  [[nodiscard]] std::vector<std::size_t> searched() const {
    std::vector<std::size_t> cells;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (running_[i].search) cells.push_back(i);
    return cells;
  }
  /// Of a search that has ended.
  const ClusterRecord& record(std::size_t cell) {
    Running& r = running_[cell];
    if (!r.record) r.record = record_of(cells_[cell], r.search->record());
    return *r.record;
  }

  [[nodiscard]] std::size_t simulated() const { return done_; }

 private:
  void search(const std::vector<std::size_t>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      tell({"screening", k, cells.size()});
      const Cell& cell = cells_[cells[k]];
      running_[cells[k]].search = std::make_unique<Search>(
          cell.problem, SearchOptions{.simulate = cell.simulate,
                                      .threads = threads_,
                                      .usable_memory = cell.constraints.usable_memory});
      running_[cells[k]].search->screen();
    }
    tell({"screening", cells.size(), cells.size()});
    while (round()) {
    }
  }

  [[nodiscard]] bool is_same_cluster(std::size_t a, std::size_t b) const {
    return cells_[a].name == cells_[b].name && cells_[a].variant == cells_[b].variant &&
           cells_[a].scaling == cells_[b].scaling;
  }

  // More GPUs finish sooner, and cost more: with a deadline the smallest that keeps it is looked for.
  bool reaches_goal(std::size_t cell) {
    const ClusterRecord& c = record(cell);
    const auto& deadline = cells_[cell].constraints.deadline_s;
    if (!deadline) return c.why_not.empty();
    return c.has_layout() && c.figures.front().train_s.value_or(HUGE_VAL) <= *deadline;
  }

  // Halves what is between the last listed size that misses the goal and the next, which reaches it.
  void look_between(std::size_t first) {
    if (first + 1 == cells_.size() || !is_same_cluster(first, first + 1) ||
        !cells_[first].constraints.given())
      return;
    std::size_t end = first, misses = first, reaches = cells_.size();
    for (; end < cells_.size() && is_same_cluster(first, end); ++end) {
      if (cells_[end].between) continue;
      if (reaches_goal(end)) {
        reaches = end;
        break;
      }
      misses = end;
    }
    if (reaches == cells_.size() || reaches == first) return;
    while (reaches - misses > 1) {
      const std::size_t middle = misses + (reaches - misses) / 2;
      search({middle});
      (reaches_goal(middle) ? reaches : misses) = middle;
    }
  }

  // Every cell's next candidates together: as much to do at once as there is. What each asks for depends on
  // its own answers alone.
  bool round() {
    std::vector<StudyTask> tasks;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      running_[i].first = tasks.size();
      if (running_[i].search)
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
      if (r.search) r.search->take(std::span<const StepFigures>(figures).subspan(r.first, r.count));
    return true;
  }

  void tell(const StudyProgress& progress) const {
    if (progress_) progress_(progress);
  }

  const std::vector<Cell>& cells_;
  std::size_t threads_;
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
  run.run();
  const std::vector<std::size_t> searched = run.searched();
  std::vector<const SearchProblem*> problems;
  for (const std::size_t cell : searched) {
    study.clusters.push_back(run.record(cell));
    problems.push_back(&cells[cell].problem);
  }
  study.simulated = static_cast<std::int64_t>(run.simulated());
  study.curves = scaling_curves(study.clusters);
  summarise(study, spec, problems);
  study.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return study;
}

}  // namespace busbar
