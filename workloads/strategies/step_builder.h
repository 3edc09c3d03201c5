// What data-parallel strategies share: kernels of layers on one stream, collectives of the "dp" group on
// another, one program for all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

using OpIndices = std::vector<std::uint32_t>;

/// One layer's forward or backward of one microbatch.
struct LayerPass {
  Phase phase = Phase::kForward;
  std::int64_t microbatch = 0;
  std::size_t layer = 0;  // index into StepBuilder::layers()
};

struct DpCollective {
  std::string id;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;
  DataType type = DataType::kBf16;
  Phase phase = Phase::kForward;
  std::int32_t layer = -1;
  std::int64_t microbatch = 0;
};

/// Builds the step of a data-parallel workload, operation by operation in issue order. Without overlap
/// (overlap_dp false) each collective also waits for all kernels before it, and each kernel for all
/// collectives before it.
class StepBuilder {
 public:
  /// Errors: a batch that does not divide; a model or step beyond the limits of workload.h.
  explicit StepBuilder(const Workload& workload);

  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] std::int64_t microbatches() const { return microbatches_; }
  /// One rank has nobody to talk to.
  [[nodiscard]] bool communicates() const { return workload_.dp > 1; }
  [[nodiscard]] OpIndices last_kernel() const;
  [[nodiscard]] OpIndices last_collective() const;

  /// The layer's kernels in order; the first waits for `after`.
  void add_kernels(const LayerPass& pass, OpIndices after = {});
  /// On stream "dp". Reductions average. Returns its index.
  std::uint32_t add_collective(const DpCollective& collective, OpIndices after);
  /// The optimizer's update of `parameters` elements on this rank, after all kernels and collectives.
  void add_optimizer(std::int64_t parameters);
  void assume(std::string sentence) { trace_.assumptions.push_back(std::move(sentence)); }
  void warn(std::string sentence) { trace_.warnings.push_back(std::move(sentence)); }
  /// The trace with its group, binding, tokens and model FLOPs.
  [[nodiscard]] StepTrace finish(const MemoryUse& memory);

 private:
  std::uint32_t add(Op op, const char* stream);
  [[nodiscard]] double model_flops() const;
  void check_op_count() const;

  const Workload& workload_;
  std::vector<Layer> layers_;
  std::int64_t microbatches_ = 1;
  std::optional<std::uint32_t> last_kernel_, last_collective_;
  Program program_;
  StepTrace trace_;
};

/// Model states of all layers' parameters (memory.h), each in its own type, and the activations of one
/// microbatch.
[[nodiscard]] MemoryUse states_and_activations(const std::vector<Layer>& layers, const Workload& workload);

/// HBM traffic of the optimizer for one parameter: AdamW reads the gradient, reads and writes master copy and
/// both moments, and writes the parameter (without a master copy it reads and writes the parameter itself).
/// SGD reads gradient and parameter and writes the parameter.
/// Source: Kingma & Ba, Adam, 2015, algorithm 1; mixed precision as in Rajbhandari et al., ZeRO, 2020,
/// section 3.1.
[[nodiscard]] std::int64_t optimizer_bytes_per_parameter(const PrecisionSpec& precision,
                                                         const OptimizerSpec& optimizer);

}  // namespace busbar
