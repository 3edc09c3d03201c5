// The work that kernels have on this rank.
#include <cmath>
#include <utility>

#include "workloads/expert_load.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

// Routed experts' kernels take this rank's share of the tokens, relative to an even one.
double StepBuilder::expert_scale() const {
  const std::vector<double> shares = expert_rank_shares(workload_);
  if (shares.empty()) return 1;
  return shares[static_cast<std::size_t>(place_.ep)] * static_cast<double>(shares.size());
}

namespace {

// Of an experts' kernel, so many times the rows: in a weight gradient they are what is summed over.
void take_rows(KernelWork& work, double scale, bool are_summed) {
  if (scale == 1) return;
  if (!work.matmul) {
    work.flops *= scale;
    work.bytes = std::round(work.bytes * scale);
    return;
  }
  std::int64_t& rows = are_summed ? work.matmul->k : work.matmul->m;
  rows = std::llround(static_cast<double>(rows) * scale);
  const bool idle = rows == 0;
  resolve_shape(work);
  if (idle) work.matmul.reset();
}

}  // namespace

const SharedWork& StepBuilder::work_of(const Kernel& kernel) {
  const auto [it, is_new] = works_.try_emplace(&kernel);
  if (!is_new) return it->second;
  KernelWork work = kernel.work;
  if (kernel.name.ends_with("elementwise"))
    work.bytes = std::round(work.bytes * workload_.framework->traffic);
  if (kernel.name.ends_with("scores"))
    work.bytes = std::round(work.bytes * workload_.framework->score_traffic);
  if (kernel.name.find("experts.") != std::string::npos)
    take_rows(work, expert_scale(), kernel.name.ends_with(".wgrad"));
  return it->second = SharedWork(work);
}

// A layer's new gradients and the kept ones are read, and their sum is written.
void StepBuilder::add_to_gradients(const LayerPass& pass) {
  const Layer& layer = layers_[pass.layer];
  const std::int64_t elements = layer.elements() + layer.expert_elements();
  if (!workload_.framework->adds_gradients || elements == 0) return;
  const PrecisionSpec& p = workload_.precision;
  const std::int64_t each = size_of(p.parameters) + 2 * size_of(p.gradients);
  Op op;
  op.id = prefix_of(pass) + "gradients.wgrad";
  op.work =
      KernelWork{.bytes = static_cast<double>(each) * static_cast<double>(elements), .type = p.gradients};
  op.phase = pass.phase;
  op.layer = model_layer_[pass.layer];
  op.microbatch = static_cast<std::int32_t>(pass.microbatch);
  op.after = std::exchange(waiting_, {});
  last_kernel_ = add(std::move(op), kComputeStream);
}

}  // namespace busbar
