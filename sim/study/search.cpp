#include "sim/study/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "sim/base/error.h"
#include "sim/base/worker_pool.h"
#include "sim/study/search_screen.h"

namespace busbar {

namespace {

constexpr const char* kBound = "cannot be as fast as the best found: its lower bound is above that";
constexpr const char* kBehind = "behind the simulated ones by the closed form; its bound is below the best";
constexpr const char* kTwin =
    "like one that was simulated but for the order of ranks, and not among the best";
constexpr std::size_t kMostOnFront = 8;  // layouts that are simulated for needing little memory
constexpr double kSlowestOnFront = 1.5;  // of the best, by the closed form: slower ones nobody would run
constexpr double kSame = 1e-9;           // relative difference that closed forms round to
constexpr std::size_t kTwins = 4;        // of the best, whose other order of ranks is tried

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
    if (!least_ || s.memory_bytes < least_->memory_bytes) least_ = s;
    if (s.memory_bytes > usable)
      exclude(found_.excluded, reason::kMemory, s.candidate);
    else
      screened_.push_back(s);
  }
  std::sort(screened_.begin(), screened_.end(), comes_first);
  done_.assign(screened_.size(), false);
  set_twins_aside();
  for (std::size_t i = 0; i < screened_.size(); ++i)
    if (!is_twin(i)) order_.push_back(i);
  ranked_ = order_.size();
  if (options_.simulate > 0)
    for (const std::size_t i : memory_front()) order_.push_back(i);
  screen_seconds_ = seconds_since(begin);
}

// By the closed forms two orders of ranks often take the same: the second waits until the first is among the
// best.
void Search::set_twins_aside() {
  std::map<Candidate, std::size_t> first;
  twin_.assign(screened_.size(), -1);
  for (std::size_t i = 0; i < screened_.size(); ++i) {
    Candidate key = screened_[i].candidate;
    key.stages_outside = true;
    const auto [it, is_new] = first.try_emplace(key, i);
    if (is_new || screened_[i].expected_s > screened_[it->second].expected_s * (1 + kSame)) continue;
    twin_[it->second] = static_cast<std::ptrdiff_t>(i);
    twin_[i] = static_cast<std::ptrdiff_t>(it->second);
  }
}

void Search::ask_for_twins() {
  twins_asked_ = true;
  auto best = simulated_;
  std::sort(best.begin(), best.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.step_s, a.first) < std::tie(b.second.step_s, b.first);
  });
  for (std::size_t k = 0; k < std::min(kTwins, best.size()); ++k)
    if (const std::ptrdiff_t twin = twin_[best[k].first]; twin >= 0 && !done_[static_cast<std::size_t>(twin)])
      order_.push_back(static_cast<std::size_t>(twin));
}

/// Layouts that no faster one needs as little memory as, by the closed form.
std::vector<std::size_t> Search::memory_front() const {
  std::vector<std::size_t> front;
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < screened_.size(); ++i) {
    if (screened_[i].expected_s > kSlowestOnFront * screened_.front().expected_s) break;
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

// What its bound rules out costs nothing of the allowance. The front's layouts are wanted for their memory:
// no bound on their time leaves them out.
bool Search::is_wanted(std::size_t i) const {
  if (at_ < ranked_) return best_s_ == 0 || screened_[i].least_s <= best_s_;
  return !done_[i] && std::find(asked_.begin(), asked_.end(), i) == asked_.end();
}

std::vector<Candidate> Search::next() {
  asked_.clear();
  if (at_ == order_.size() && !twins_asked_) ask_for_twins();
  for (; at_ < order_.size() && asked_.size() < options_.batch; ++at_) {
    if (at_ < ranked_ && spent_ == options_.simulate) at_ = ranked_;
    if (at_ == order_.size()) break;
    if (!is_wanted(order_[at_])) continue;
    asked_.push_back(order_[at_]);
    if (at_ < ranked_) ++spent_;
  }
  if (asked_.empty() && !twins_asked_) return next();
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
                      .capacity_bytes = capacity_of(*problem_.topology),
                      .usable_bytes = options_.usable_memory * capacity_of(*problem_.topology),
                      .least_layout = least_ ? text_of(least_->candidate) : "",
                      .least_bytes = least_ ? least_->memory_bytes : 0};
  auto ranked = simulated_;
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.step_s, a.first) < std::tie(b.second.step_s, b.first);
  });
  for (const auto& [i, figures] : ranked) {
    const Screening& s = screened_[i];
    const auto numbers = numbers_of(s.candidate);
    record.ranked.push_back(
        {text_of(s.candidate), {numbers.begin(), numbers.end()}, s.expected_s, s.least_s, figures});
  }
  Exclusions excluded = found_.excluded;
  for (std::size_t i = 0; i < screened_.size(); ++i) {
    if (done_[i]) continue;
    const bool out = best_s_ > 0 && screened_[i].least_s > best_s_;
    const bool twin = !out && is_twin(i) && done_[static_cast<std::size_t>(twin_[i])];
    exclude(excluded, out ? kBound : twin ? kTwin : kBehind, screened_[i].candidate);
    if (!out) ++record.open;
  }
  for (const auto& [reason, e] : excluded) {
    record.exclusions.push_back({reason, e.count, e.example});
    record.excluded += e.count;
  }
  return record;
}

SearchRecord run_search(const SearchProblem& problem, const SearchOptions& options,
                        const Evaluate& evaluate) {
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
