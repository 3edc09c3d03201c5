#include "sim/study/search_space.h"

#include <algorithm>

#include "sim/base/error.h"
#include "workloads/strategies/pipeline.h"

namespace busbar {

namespace {

using Numbers = std::vector<std::int64_t>;

bool allows(const std::optional<Numbers>& list, std::int64_t value) {
  return !list || std::find(list->begin(), list->end(), value) != list->end();
}

/// Walks all combinations. A problem that the outer choices have is known before the inner ones are made, so
/// that all of those are counted under it.
class Walk {
 public:
  Walk(const Workload& base, const SearchSpace& space, std::int64_t gpus, std::int64_t host_ranks)
      : base_(base), space_(space), gpus_(gpus), host_ranks_(host_ranks) {
    if (const auto& dims = base.model.transformer) layers_ = dims->layers;
  }

  Enumeration run() && {
    for (const std::int64_t tp : divisors_of(gpus_))
      for (const std::int64_t cp : divisors_of(gpus_ / tp))
        for (const std::int64_t pp : divisors_of(gpus_ / tp / cp))
          if (allows(space_.tp, tp) && allows(space_.cp, cp) && allows(space_.pp, pp))
            experts({.tp = tp, .cp = cp, .dp = gpus_ / tp / cp / pp, .pp = pp});
    return std::move(found_);
  }

 private:
  void experts(Candidate c) {
    const auto& dims = base_.model.transformer;
    const Numbers degrees = dims && dims->experts ? divisors_of(dims->experts->count) : Numbers{1};
    for (const std::int64_t ep : degrees) {
      if (!allows(space_.ep, ep) || c.tp * c.cp * c.dp % ep != 0) continue;
      c.ep = ep;
      problem_ = nullptr;
      detail_.clear();
      check_cut(c);
      for (const std::int64_t micro : divisors_of(base_.batch.global))
        if (allows(space_.micro, micro)) batches(c, micro);
    }
  }

  void check_cut(const Candidate& c) {
    if (c.cp > 1 && base_.batch.sequence / c.cp < space_.least_context_tokens)
      return set(reason::kContext, "");
    const LayerBatch batch{1, base_.batch.sequence, base_.precision.compute};
    if (const auto problem = cut_problem(base_.model, batch, cut_of(workload_of(base_, c))))
      return set(reason::kCut, *problem);
    if (c.pp > std::max<std::int64_t>(layers_, 1)) set(reason::kChunks, "");
  }

  void batches(Candidate c, std::int64_t micro) {
    c.micro = micro;
    const Saved saved(*this);
    if (base_.batch.global % (micro * c.dp) != 0)
      set(reason::kBatch, "");
    else if (micro > space_.most_micro)
      set(reason::kMicro, "");
    for (const PipelineSchedule schedule : schedules(c)) {
      c.schedule = schedule;
      for (const std::int64_t v : chunk_counts(c)) {
        c.virtual_stages = v;
        pipelines(c);
      }
    }
  }

  void pipelines(Candidate c) {
    const Saved saved(*this);
    if (problem_ == nullptr && c.pp > 1) check_pipeline(c);
    if (c.dp * c.cp == 1) return rest(c);  // nobody to share with
    for (const Sharding sharding : space_.sharding) {
      c.sharding = sharding;
      c.shard_size.reset();
      if (sharding != Sharding::kHsdp) {
        rest(c);
        continue;
      }
      for (const std::int64_t size : shard_sizes(c)) {
        c.shard_size = size;
        rest(c);
      }
    }
  }

  void check_pipeline(const Candidate& c) {
    const Workload w = workload_of(base_, c);
    if (const auto problem = schedule_problem(w.parallel, microbatches_of(w)))
      return set(reason::kSchedule, *problem);
    if (c.pp * c.virtual_stages > layers_) return set(reason::kChunks, "");
    const Numbers blocks = blocks_per_chunk(layers_, w);
    if (blocks.size() > 2 && std::find(blocks.begin() + 1, blocks.end() - 1, 0) != blocks.end() - 1)
      set(reason::kChunks, "");
  }

  void rest(Candidate c) {
    const Saved saved(*this);
    if (keeps_weights_apart(c.schedule) && shards_parameters(c.sharding)) set(reason::kSchedule, "");
    for (const Recompute recompute : space_.recompute) {
      c.recompute = recompute;
      for (const bool outside : space_.stages_outside) {
        if (space_.stages_outside.front() != outside && (c.pp == 1 || c.dp == 1)) continue;
        c.stages_outside = outside;
        put(c);
      }
    }
  }

  void put(const Candidate& c) {
    if (problem_ == nullptr) {
      found_.candidates.push_back(c);
      return;
    }
    Exclusion& exclusion = found_.excluded[problem_];
    if (exclusion.count++ == 0) exclusion.example = text_of(c) + (detail_.empty() ? "" : ": " + detail_);
  }

  /// One stage needs no schedule; several chunks are what interleaving is for.
  [[nodiscard]] std::vector<PipelineSchedule> schedules(const Candidate& c) const {
    if (c.pp == 1) return {PipelineSchedule::k1f1b};
    return space_.schedules;
  }

  /// Chunk counts that divide the blocks evenly, and the small powers of two.
  [[nodiscard]] Numbers chunk_counts(const Candidate& c) const {
    if (c.pp == 1 || c.schedule != PipelineSchedule::kInterleaved) return {1};
    Numbers counts;
    for (std::int64_t v = 2; v * c.pp <= layers_; ++v) {
      const bool small_power = v == 2 || v == 4 || v == 8;
      if (allows(space_.virtual_stages, v) && (layers_ % (v * c.pp) == 0 || small_power)) counts.push_back(v);
    }
    return counts;
  }

  /// The data-parallel ranks that share a host, and the sizes that are used beyond it.
  [[nodiscard]] Numbers shard_sizes(const Candidate& c) const {
    Numbers sizes = {std::max<std::int64_t>(1, host_ranks_ / (c.tp * c.cp)) * c.cp, 16, 64};
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::erase_if(sizes, [&](std::int64_t s) { return s < 2 || s >= c.dp * c.cp || c.dp * c.cp % s != 0; });
    return sizes;
  }

  void set(const char* problem, std::string detail) {
    if (problem_ != nullptr) return;
    problem_ = problem;
    detail_ = std::move(detail);
  }

  /// The outer choices' problem comes back when the inner ones are done.
  class Saved {
   public:
    explicit Saved(Walk& walk) : walk_(walk), problem_(walk.problem_), detail_(walk.detail_) {}
    ~Saved() {
      walk_.problem_ = problem_;
      walk_.detail_ = std::move(detail_);
    }
    Saved(const Saved&) = delete;
    Saved& operator=(const Saved&) = delete;

   private:
    Walk& walk_;
    const char* problem_;
    std::string detail_;
  };

  const Workload& base_;
  const SearchSpace& space_;
  std::int64_t gpus_, host_ranks_, layers_ = 1;
  Enumeration found_;
  const char* problem_ = nullptr;
  std::string detail_;
};

}  // namespace

std::string_view advice_for(std::string_view why) {
  static constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {reason::kCut,
       "gpus (their divisors become tp, cp and ep), or lists in search.tp, search.cp, search.ep"},
      {reason::kBatch, "batch.global, to a multiple of more numbers of replicas, or gpus"},
      {reason::kChunks, "gpus, or lists in search.pp and search.virtual_stages"},
      {reason::kSchedule, "batch.global (more microbatches), or search.schedule"},
      {reason::kMicro, "search.most_micro"},
      {reason::kContext, "search.least_context_tokens, or batch.sequence"},
      {reason::kMemory,
       "gpus (more of them), constraints.memory, or search.recompute and search.sharding if they are "
       "limited"}};
  for (const auto& [known, advice] : kAdvice)
    if (known == why) return advice;
  return "";
}

void exclude(Exclusions& exclusions, const std::string& reason, const Candidate& candidate,
             std::int64_t count) {
  Exclusion& exclusion = exclusions[reason];
  if (exclusion.count == 0) exclusion.example = text_of(candidate);
  exclusion.count += count;
}

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    small.push_back(d);
    if (d * d != number) large.push_back(number / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

bool divides_evenly(const Workload& base, const SearchSpace& space, std::int64_t gpus) {
  const auto& dims = base.model.transformer;
  if (!dims) return false;
  for (const std::int64_t dp : divisors_of(gpus)) {
    if (base.batch.global % dp != 0) continue;
    for (const std::int64_t pp : divisors_of(gpus / dp)) {
      if (dims->layers % pp != 0 || !allows(space.pp, pp)) continue;
      for (const std::int64_t tp : divisors_of(gpus / dp / pp)) {
        const std::int64_t cp = gpus / dp / pp / tp;
        const bool long_enough = cp == 1 || base.batch.sequence / cp >= space.least_context_tokens;
        if (dims->heads % tp == 0 && base.batch.sequence % cp == 0 && long_enough && allows(space.tp, tp) &&
            allows(space.cp, cp))
          return true;
      }
    }
  }
  return false;
}

Enumeration enumerate(const Workload& base, const SearchSpace& space, std::int64_t gpus,
                      std::int64_t host_ranks) {
  BUSBAR_CHECK(gpus >= 1 && host_ranks >= 1 && base.batch.global >= 1);
  return Walk(base, space, gpus, host_ranks).run();
}

}  // namespace busbar
