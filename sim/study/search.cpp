#include "sim/study/search.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

#include "sim/base/error.h"
#include "sim/base/worker_pool.h"
#include "sim/study/search_screen.h"

namespace busbar {

namespace {

constexpr const char* kMemory = "does not fit in the GPU's memory";
constexpr const char* kBound = "cannot be as fast as the best found: its lower bound is above that";
constexpr const char* kBehind = "behind the simulated ones by the closed form; its bound is below the best";
constexpr std::size_t kMostOnFront = 16;  // layouts that are simulated for needing little memory

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> list(count);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

std::int64_t host_ranks_of(const Workload& base) { return base.parallel.host_ranks.value_or(1); }

double capacity_of(const Topology& topology) {
  const std::int32_t model = topology.device(topology.ranks().front()).gpu_model;
  BUSBAR_CHECK(model >= 0);  // the screener has refused
  return topology.gpu_models()[static_cast<std::size_t>(model)].memory.as_double();
}

bool comes_first(const Screening& a, const Screening& b) {
  return std::tie(a.expected_s, a.candidate) < std::tie(b.expected_s, b.candidate);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Evaluate on_threads(const SearchProblem& problem, std::size_t threads) {
  return [&problem, threads](std::span<const Candidate> candidates) {
    std::vector<StepFigures> figures(candidates.size());
    run_jobs(numbers(candidates.size()), threads,
             [&](std::size_t i) { figures[i] = simulate_candidate(problem, candidates[i]); });
    return figures;
  };
}

Search::Search(const SearchProblem& problem, const SearchOptions& options)
    : problem_(problem), options_(options) {
  BUSBAR_CHECK(problem.topology != nullptr && problem.profile != nullptr && options.batch > 0);
}

void Search::screen() {
  const auto begin = std::chrono::steady_clock::now();
  const auto gpus = static_cast<std::int64_t>(problem_.topology->ranks().size());
  found_ = enumerate(problem_.base, problem_.space, gpus, host_ranks_of(problem_.base));
  enumerated_ = std::ssize(found_.candidates);
  for (const auto& [reason, exclusion] : found_.excluded) enumerated_ += exclusion.count;
  Screener screener(problem_.base, *problem_.topology, *problem_.profile);
  const double usable = options_.usable_memory * capacity_of(*problem_.topology);
  std::vector<Screening> all(found_.candidates.size());
  // Neighbours share their cut's prices; a thread takes them together.
  run_jobs(numbers(all.size()), options_.threads, [&](std::size_t i) {
    Screening& s = all[i];
    s.candidate = found_.candidates[i];
    s.memory_bytes = screener.memory(s.candidate).total().as_double();
    if (s.memory_bytes > usable) return;
    const Screened screened = screener.screen(s.candidate);
    s.expected_s = screened.expected_s;
    s.least_s = screened.least_s;
  });
  for (Screening& s : all) {
    if (s.memory_bytes > usable)
      exclude(found_.excluded, kMemory, s.candidate);
    else
      screened_.push_back(std::move(s));
  }
  std::sort(screened_.begin(), screened_.end(), comes_first);
  done_.assign(screened_.size(), false);
  order_ = numbers(std::min(options_.simulate, screened_.size()));
  for (const std::size_t i : memory_front())
    if (i >= order_.size() && options_.simulate > 0) order_.push_back(i);
  screen_seconds_ = seconds_since(begin);
}

/// Layouts that no faster one needs as little memory as, by the closed form.
std::vector<std::size_t> Search::memory_front() const {
  std::vector<std::size_t> front;
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < screened_.size(); ++i) {
    if (screened_[i].memory_bytes >= least) continue;
    least = screened_[i].memory_bytes;
    front.push_back(i);
  }
  if (front.size() > kMostOnFront) {  // evenly thinned
    std::vector<std::size_t> some;
    for (std::size_t k = 0; k < kMostOnFront; ++k)
      some.push_back(front[k * (front.size() - 1) / (kMostOnFront - 1)]);
    return some;
  }
  return front;
}

// The front's layouts are wanted for their memory: no bound on their time leaves them out.
std::vector<Candidate> Search::next() {
  asked_.clear();
  const std::size_t ranked = std::min(options_.simulate, screened_.size());
  for (; at_ < order_.size() && asked_.size() < options_.batch; ++at_) {
    const std::size_t i = order_[at_];
    if (at_ < ranked && best_s_ > 0 && screened_[i].least_s > best_s_) continue;
    asked_.push_back(i);
  }
  std::vector<Candidate> candidates;
  for (const std::size_t i : asked_) candidates.push_back(screened_[i].candidate);
  return candidates;
}

void Search::take(std::span<const StepFigures> figures) {
  BUSBAR_CHECK(figures.size() == asked_.size());
  for (std::size_t k = 0; k < figures.size(); ++k) {
    done_[asked_[k]] = true;
    if (!figures[k].failure.empty()) {
      exclude(found_.excluded, "cannot run: " + figures[k].failure, screened_[asked_[k]].candidate);
      continue;
    }
    if (best_s_ == 0 || figures[k].step_s < best_s_) best_s_ = figures[k].step_s;
    simulated_.emplace_back(asked_[k], figures[k]);
  }
}

SearchRecord Search::record() const {
  SearchRecord record{.enumerated = enumerated_,
                      .screened = std::ssize(screened_),
                      .simulated = std::ssize(simulated_),
                      .screen_seconds = screen_seconds_,
                      .capacity_bytes = capacity_of(*problem_.topology)};
  auto ranked = simulated_;
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.step_s, a.first) < std::tie(b.second.step_s, b.first);
  });
  double least = HUGE_VAL;
  for (const auto& [i, figures] : ranked) {
    const Screening& s = screened_[i];
    const bool on_front = figures.memory_bytes() < least;
    least = std::min(least, figures.memory_bytes());
    record.ranked.push_back({text_of(s.candidate), s.expected_s, s.least_s, figures, on_front});
  }
  Exclusions excluded = found_.excluded;
  for (std::size_t i = 0; i < screened_.size(); ++i) {
    if (done_[i]) continue;
    const bool out = best_s_ > 0 && screened_[i].least_s > best_s_;
    exclude(excluded, out ? kBound : kBehind, screened_[i].candidate);
    if (!out) ++record.open;
  }
  for (const auto& [reason, e] : excluded) {
    record.exclusions.push_back({reason, e.count, e.example});
    record.excluded += e.count;
  }
  return record;
}

SearchRecord run_search(const SearchProblem& problem, const SearchOptions& options, const Evaluate& evaluate) {
  Search search(problem, options);
  search.screen();
  const auto begin = std::chrono::steady_clock::now();
  for (std::vector<Candidate> some = search.next(); !some.empty(); some = search.next())
    search.take(evaluate(some));
  SearchRecord record = search.record();
  record.simulate_seconds = seconds_since(begin);
  return record;
}

}  // namespace busbar
