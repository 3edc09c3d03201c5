#include "workloads/settings.h"

#include <fmt/format.h>

#include "sim/base/unit_text.h"
#include "workloads/strategies/ddp.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string_view name_of(ContextMethod method) {
  switch (method) {
    case ContextMethod::kRing:
      return "ring";
    case ContextMethod::kAllGather:
      return "all_gather";
    case ContextMethod::kUlysses:
      return "ulysses";
  }
  return "";
}

std::string_view name_of(JitterSpec::Per per) {
  switch (per) {
    case JitterSpec::Per::kRank:
      return "rank";
    case JitterSpec::Per::kReplica:
      return "replica";
    case JitterSpec::Per::kRole:
      return "role";
  }
  return "";
}

void add_experts(const Workload& w, Settings& s) {
  if (!w.model.transformer || !w.model.transformer->experts) return;
  const MoeSpec& moe = w.moe;
  s.emplace_back("moe.capacity_factor",
                 moe.capacity_factor ? fmt::format("{}", *moe.capacity_factor) : "none");
  if (moe.node_limit) s.emplace_back("moe.node_limit", fmt::format("{}", *moe.node_limit));
  if (!moe.histogram.empty())
    s.emplace_back("moe.imbalance.histogram", fmt::format("{}", fmt::join(moe.histogram, " ")));
  else if (moe.hot != 1)
    s.emplace_back("moe.imbalance.hot_expert", fmt::format("{}", moe.hot));
  else
    s.emplace_back("moe.imbalance.zipf", fmt::format("{}", moe.zipf));
}

void add_launches(const Workload& w, Settings& s) {
  const Framework& f = *w.framework;
  const Time forward = w.launch.forward.value_or(Time::from_microseconds(f.block_forward_us));
  const Time backward = w.launch.backward.value_or(Time::from_microseconds(f.block_backward_us));
  if (forward + backward + w.launch.member + w.launch.message == Time()) return;
  s.emplace_back("launch.forward", to_exact_text(forward));
  s.emplace_back("launch.backward", to_exact_text(backward));
  s.emplace_back("launch.member", to_exact_text(w.launch.member));
  s.emplace_back("launch.message", to_exact_text(w.launch.message));
}

// What only some layouts have.
void add_layout(const Workload& w, Settings& s) {
  if (w.parallel.shard_size) s.emplace_back("parallel.shard_size", fmt::format("{}", *w.parallel.shard_size));
  if (w.parallel.cp > 1) s.emplace_back("context.method", name_of(w.context));
  if (!w.parallel.stages.empty())
    s.emplace_back("stages.layers", fmt::format("{}", fmt::join(w.parallel.stages, " ")));
  if (w.parallel.sharding == Sharding::kZero1) {
    s.emplace_back("optimizer.cut", cuts_tensors(w) ? "tensors" : "buckets");
    if (cuts_tensors(w)) s.emplace_back("launch.copy", to_exact_text(copy_launch(w.launch)));
  }
  add_launches(w, s);
  add_experts(w, s);
  if (w.jitter.lognormal == 0) return;
  s.emplace_back("jitter.compute.lognormal", fmt::format("{}", w.jitter.lognormal));
  s.emplace_back("jitter.compute.per", name_of(w.jitter.per));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> effective_settings(const Workload& w) {
  const auto number = [](std::int64_t n) { return fmt::format("{}", n); };
  const auto type = [](DataType t) { return std::string(name_of(t)); };
  std::vector<std::pair<std::string, std::string>> s = {
      {"model", w.model.name},
      {"model.parameter_count", number(parameter_count(w.model))},
      {"batch.sequence", number(w.batch.sequence)},
      {"batch.micro", number(w.batch.micro)},
      {"batch.global", number(w.batch.global)},
      {"framework", std::string(w.framework->name)},
      {"parallel.tp", number(w.parallel.tp)},
      {"parallel.pp", number(w.parallel.pp)},
      {"parallel.cp", number(w.parallel.cp)},
      {"parallel.ep", number(w.parallel.ep)},
      {"parallel.etp", number(w.parallel.etp)},
      {"parallel.dp", number(w.parallel.dp)},
      {"parallel.sharding", std::string(name_of(w.parallel.sharding))},
      {"parallel.order", fmt::format("{}", fmt::join(w.parallel.order, "-"))},
      {"parallel.sequence_parallel", w.parallel.sequence_parallel ? "true" : "false"},
      {"parallel.schedule", std::string(name_of(w.parallel.schedule))},
      {"parallel.virtual_stages", number(w.parallel.virtual_stages)},
      {"recompute", w.recompute == Recompute::kNone   ? "none"
                    : w.recompute == Recompute::kFull ? "full"
                                                      : "selective"},
      {"attention", w.attention == AttentionKernels::kFused ? "fused" : "unfused"},
      {"precision.compute", type(w.precision.compute)},
      {"precision.parameters", type(w.precision.parameters)},
      {"precision.gradients", type(w.precision.gradients)},
      {"precision.reduce", type(w.precision.reduce)},
      {"overlap.dp", w.overlap.dp ? "true" : "false"},
      {"overlap.tp", w.overlap.tp ? "true" : "false"},
      {"overlap.pp", w.overlap.pp ? "true" : "false"},
      {"overlap.ep", w.overlap.ep ? "true" : "false"},
      {"overlap.cp", w.overlap.cp ? "true" : "false"},
      {"optimizer.kind", w.optimizer.kind},
      {"optimizer.state", type(w.optimizer.state)}};
  if (w.model.transformer) {
    const TransformerDims& d = *w.model.transformer;
    const std::pair<const char*, std::int64_t> dims[] = {
        {"layers", d.layers}, {"hidden", d.hidden},     {"ffn_hidden", d.ffn_hidden},
        {"heads", d.heads},   {"kv_heads", d.kv_heads}, {"head_dim", d.head_dim},
        {"vocab", d.vocab}};
    for (const auto& [key, value] : dims) s.emplace_back(std::string("model.") + key, number(value));
    s.emplace_back("model.gated_mlp", d.gated_mlp ? "true" : "false");
    s.emplace_back("model.tied_embeddings", d.tied_embeddings ? "true" : "false");
  }
  if (shards_parameters(w.parallel.sharding)) {
    s.emplace_back("fsdp.reshard_after_forward", w.fsdp.reshard_after_forward ? "true" : "false");
    s.emplace_back("fsdp.prefetch", number(w.fsdp.prefetch));
    s.emplace_back("fsdp.wrap", w.fsdp.wrap == FsdpWrap::kBlock ? "block" : "root");
  } else if (w.parallel.sharding == Sharding::kNone) {
    const BucketCaps caps = bucket_caps(w.ddp);
    s.emplace_back("ddp.bucket_cap", to_exact_text(caps.others));
    s.emplace_back("ddp.first_bucket", to_exact_text(caps.first));
  } else if (w.ddp.bucket_cap) {
    s.emplace_back("ddp.bucket_cap", to_exact_text(*w.ddp.bucket_cap));
  }
  add_layout(w, s);
  return s;
}

}  // namespace busbar
