#include "workloads/settings.h"

#include <fmt/format.h>

#include "sim/base/unit_text.h"
#include "workloads/strategies/ddp.h"

namespace busbar {

std::vector<std::pair<std::string, std::string>> effective_settings(const Workload& w) {
  const auto number = [](std::int64_t n) { return fmt::format("{}", n); };
  const auto type = [](DataType t) { return std::string(name_of(t)); };
  std::vector<std::pair<std::string, std::string>> s = {
      {"model", w.model.name},
      {"model.parameter_count", number(parameter_count(w.model))},
      {"batch.sequence", number(w.batch.sequence)},
      {"batch.micro", number(w.batch.micro)},
      {"batch.global", number(w.batch.global)},
      {"parallel.dp", number(w.dp)},
      {"parallel.sharding", std::string(name_of(w.sharding))},
      {"precision.compute", type(w.precision.compute)},
      {"precision.parameters", type(w.precision.parameters)},
      {"precision.gradients", type(w.precision.gradients)},
      {"precision.reduce", type(w.precision.reduce)},
      {"overlap.dp", w.overlap_dp ? "true" : "false"},
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
  if (w.sharding == Sharding::kFsdp) {
    s.emplace_back("fsdp.reshard_after_forward", w.fsdp.reshard_after_forward ? "true" : "false");
    s.emplace_back("fsdp.prefetch", number(w.fsdp.prefetch));
    s.emplace_back("fsdp.wrap", w.fsdp.wrap == FsdpWrap::kBlock ? "block" : "root");
  } else if (w.sharding == Sharding::kNone) {
    const BucketCaps caps = bucket_caps(w.ddp);
    s.emplace_back("ddp.bucket_cap", to_exact_text(caps.others));
    s.emplace_back("ddp.first_bucket", to_exact_text(caps.first));
  }
  return s;
}

}  // namespace busbar
