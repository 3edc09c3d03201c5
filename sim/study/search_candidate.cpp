#include "sim/study/search_candidate.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace busbar {

std::string_view name_of(Recompute recompute) {
  switch (recompute) {
    case Recompute::kNone:
      return "none";
    case Recompute::kSelective:
      return "selective";
    case Recompute::kFull:
      return "full";
  }
  BUSBAR_CHECK(false);
}

std::string text_of(const Candidate& c) {
  std::string text = fmt::format("tp {}", c.tp);
  if (c.pp > 1) text += fmt::format(" pp {}", c.pp);
  if (c.virtual_stages > 1) text += fmt::format(" x {}", c.virtual_stages);
  if (c.cp > 1) text += fmt::format(" cp {}", c.cp);
  if (c.ep > 1) text += fmt::format(" ep {}", c.ep);
  text += fmt::format(" dp {} {}", c.dp, name_of(c.sharding));
  if (c.shard_size) text += fmt::format(" of {}", *c.shard_size);
  text += fmt::format(", micro {}", c.micro);
  if (c.recompute != Recompute::kNone) text += fmt::format(", {} recomputation", name_of(c.recompute));
  if (c.pp > 1 && c.virtual_stages == 1 && c.schedule != PipelineSchedule::k1f1b)
    text += fmt::format(", {}", name_of(c.schedule));
  if (!c.stages_outside) text += ", tp-cp-pp-dp";
  return text;
}

Workload workload_of(const Workload& base, const Candidate& c) {
  Workload w = base;
  ParallelSpec& p = w.parallel;
  p.tp = c.tp;
  p.cp = c.cp;
  p.dp = c.dp;
  p.pp = c.pp;
  p.ep = c.ep;
  p.etp = c.ep > 1 || (w.model.transformer && w.model.transformer->experts) ? 1 : c.tp;
  p.virtual_stages = c.virtual_stages;
  p.sharding = c.sharding;
  p.shard_size = c.shard_size;
  p.schedule = c.schedule;
  p.sequence_parallel = c.tp > 1;
  p.stages.clear();
  p.order = c.stages_outside ? std::vector<std::string>{"tp", "cp", "dp", "pp"}
                             : std::vector<std::string>{"tp", "cp", "pp", "dp"};
  w.batch.micro = c.micro;
  w.recompute = c.recompute;
  return w;
}

std::array<std::int64_t, kCandidateNumbers> numbers_of(const Candidate& c) {
  return {c.tp,
          c.cp,
          c.dp,
          c.pp,
          c.ep,
          c.virtual_stages,
          c.micro,
          static_cast<std::int64_t>(c.sharding),
          c.shard_size.value_or(0),
          static_cast<std::int64_t>(c.schedule),
          static_cast<std::int64_t>(c.recompute),
          c.stages_outside ? 1 : 0};
}

Candidate candidate_of(const std::array<std::int64_t, kCandidateNumbers>& n) {
  Candidate c{.tp = n[0],
              .cp = n[1],
              .dp = n[2],
              .pp = n[3],
              .ep = n[4],
              .virtual_stages = n[5],
              .micro = n[6],
              .sharding = static_cast<Sharding>(n[7]),
              .schedule = static_cast<PipelineSchedule>(n[9]),
              .recompute = static_cast<Recompute>(n[10]),
              .stages_outside = n[11] != 0};
  if (n[8] > 0) c.shard_size = n[8];
  return c;
}

}  // namespace busbar
