// The step of a strategy over all pipeline stages.
#pragma once

#include "workloads/expert_load.h"
#include "workloads/remarks.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

/// Ranks, tokens, model FLOPs, jitter.
void finish_trace(const Workload& workload, StepTrace& trace);

/// `Strategy(StepBuilder&)` with forward(task), backward(task), weights_done(task), finish() and memory():
/// what one rank of a stage does and keeps. weights_done is called after the task that completes a
/// microbatch's weight gradients in a chunk.
template <class Strategy>
StepTrace expand_stages(const Workload& workload) {
  StepTrace trace{.name = workload.name};
  const Layout layout(workload.parallel);
  GroupBinder binder(layout, trace);
  const bool apart = keeps_weights_apart(workload.parallel.schedule);
  const std::int64_t classes = expert_rank_shares(workload).empty() ? 1 : workload.parallel.ep;
  for (std::int64_t stage = 0; stage < workload.parallel.pp; ++stage)
    for (std::int64_t ep = 0; ep < classes; ++ep) {
      StepBuilder step(workload, {stage, ep}, trace.matrices);
      Strategy strategy(step);
      for (const StageTask& task : step.tasks()) {
        step.begin(task);
        switch (task.work) {
          case StageWork::kForward:
            strategy.forward(task);
            break;
          case StageWork::kBackward:
            strategy.backward(task);
            if (!apart) strategy.weights_done(task);
            break;
          case StageWork::kWeightGradient:
            step.add_weight_gradients(task);
            strategy.weights_done(task);
            break;
        }
        step.end(task);
      }
      step.add_embedding_all_reduce();
      strategy.finish();
      if (stage == 0 && ep == 0) {
        trace.assumptions = step.assumptions();
        trace.warnings = step.warnings();
        for (Remark& remark : layout_remarks(workload, step.layers(), strategy.memory()))
          trace.warnings.push_back(std::move(remark));
      }
      const std::vector<Peer> peers = step.peers();
      trace.programs.push_back(step.take(strategy.memory()));
      binder.bind({stage, ep, classes}, static_cast<std::uint32_t>(trace.programs.size() - 1), peers);
    }
  finish_trace(workload, trace);
  return trace;
}

}  // namespace busbar
