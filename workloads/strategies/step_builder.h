// What all strategies share: one pipeline stage's program, with kernels on one stream and each kind of
// communication on its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/strategies/exchange.h"
#include "workloads/strategies/pipeline.h"
#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

using OpIndices = std::vector<std::uint32_t>;

inline constexpr const char* kComputeStream = "compute";  // of kernels

/// One layer's forward or backward of one microbatch.
struct LayerPass {
  Phase phase = Phase::kForward;
  std::int64_t microbatch = 0;
  std::size_t layer = 0;  // index into StepBuilder::layers()
};

/// A collective of gradients or parameters.
struct DpCollective {
  std::string id;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;
  DataType type = DataType::kBf16;
  Phase phase = Phase::kForward;
  std::int32_t layer = -1;  // in the model
  std::int64_t microbatch = 0;
  std::string slot = "dp";  // "dp", "shard", "replica", "edp"
};

/// What launching a copy of a part of a tensor takes the host.
[[nodiscard]] Time copy_launch(const LaunchSpec& launch);

/// Memory traffic of those copies over the tensors' size: they are read and written three times, into the
/// list that the collective wants, from what it fills to that list, and to their places.
inline constexpr int kCopyTraffic = 6;

/// What a gather of tensors that are cut one by one leaves to copy.
struct GatheredParts {
  std::string id;
  std::int64_t parts = 0;  // tensors x ranks, one kernel each
  Bytes bytes;             // of the whole tensors
};

/// One stage of the whole step, or one class of its ranks where experts are uneven.
struct StagePlace {
  std::int64_t stage = 0;
  std::int64_t ep = 0;  // 0 where all ranks of the stage do the same
};

/// Builds the program of a stage, operation by operation in issue order. Without overlap of a kind each of
/// its communications also waits for all kernels before it, and each kernel for it.
class StepBuilder {
 public:
  /// Errors: a batch, layout or schedule that does not divide; a model or step beyond the limits of
  /// workload.h. Split matrices of uneven experts are added to `matrices`.
  StepBuilder(const Workload& workload, StagePlace place, std::vector<SplitMatrix>& matrices);

  /// This stage's layers, chunk by chunk.
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  /// [first, last) of a chunk.
  [[nodiscard]] std::pair<std::size_t, std::size_t> chunk(std::int64_t number) const;
  /// Number of a layer in the model, the embedding first.
  [[nodiscard]] std::int32_t model_layer(std::size_t layer) const { return model_layer_[layer]; }
  [[nodiscard]] std::int64_t microbatches() const { return microbatches_; }
  [[nodiscard]] std::vector<StageTask> tasks() const;
  [[nodiscard]] const Workload& workload() const { return workload_; }
  [[nodiscard]] StagePlace place() const { return place_; }
  /// Ranks of a communicator of this layout.
  [[nodiscard]] std::int64_t ranks_of(const std::string& slot) const;
  /// Nobody to share gradients with.
  [[nodiscard]] bool communicates() const { return ranks_of("dp") > 1; }
  [[nodiscard]] OpIndices last_kernel() const;
  [[nodiscard]] OpIndices last_collective() const;

  /// Receives what a task needs from the neighbouring stages; sends what they need of it.
  void begin(const StageTask& task);
  void end(const StageTask& task);
  /// Zero-bubble schedules run weight gradients by themselves.
  [[nodiscard]] bool weights_apart() const { return keeps_weights_apart(workload_.parallel.schedule); }
  /// The layer's kernels and exchanges in order; the first waits for `after`. Backward leaves weight
  /// gradients out where the schedule has them apart.
  void add_kernels(const LayerPass& pass, const OpIndices& after = {});
  void add_weight_gradients(const StageTask& task);
  /// On the stream of its slot. Reductions average. Returns its index.
  std::uint32_t add_collective(const DpCollective& collective, OpIndices after);
  /// The optimizer's update of `parameters` elements on this rank, after all kernels and collectives.
  void add_optimizer(std::int64_t parameters);
  /// Copies after the gathers `after`.
  void add_copies(const GatheredParts& gathered, OpIndices after);
  /// The gradients of a table that the first and the last stage share.
  void add_embedding_all_reduce();
  void assume(std::string sentence) { assumptions_.push_back(std::move(sentence)); }
  void warn(std::string code, std::string sentence) {
    warnings_.push_back({std::move(code), std::move(sentence)});
  }

  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }
  [[nodiscard]] const std::vector<Remark>& warnings() const { return warnings_; }
  /// The program, with what its ranks keep. Its peers, by slot.
  [[nodiscard]] Program take(const MemoryUse& memory);
  [[nodiscard]] std::vector<Peer> peers() const;

 private:
  struct Message {  // between stages
    StageWork work;
    std::int64_t microbatch, chunk;  // of the receiver
    bool operator==(const Message&) const = default;
  };
  std::uint32_t add(Op op, const std::string& stream);
  std::uint32_t group_slot(const std::string& slot);
  std::uint32_t peer_slot(const std::string& slot);
  void add_kernel(const Kernel& kernel, const LayerPass& pass, const std::string& prefix);
  void add_to_gradients(const LayerPass& pass);
  [[nodiscard]] const SharedWork& work_of(const Kernel& kernel);
  [[nodiscard]] std::string prefix_of(const LayerPass& pass) const;
  [[nodiscard]] Time launch_time(const LayerPass& pass) const;
  [[nodiscard]] OpIndices add_message_launch(const Op& message);
  void add_launches(const LayerPass& pass);
  OpIndices add_step_collectives();
  std::uint32_t add_collective_launch(const DpCollective& collective);
  void add_exchange(const LayerCommunication& communication, const LayerPass& pass,
                    const std::string& prefix);
  void set_collective(Op& op, const LayerCommunication& communication, const ExchangeLeg& leg);
  [[nodiscard]] bool overlaps(LayerExchange exchange) const;
  [[nodiscard]] std::uint32_t splits_of(const LayerCommunication& communication);
  [[nodiscard]] double expert_scale() const;
  void check_op_count() const;
  [[nodiscard]] std::int64_t chunks() const;
  [[nodiscard]] std::optional<std::pair<std::int64_t, Message>> message_of(std::int64_t stage,
                                                                           const StageTask& task) const;
  [[nodiscard]] std::vector<Message> messages_from(std::int64_t stage) const;
  [[nodiscard]] std::string neighbour(std::int64_t stage) const;
  [[nodiscard]] Bytes message_bytes() const;
  [[nodiscard]] bool scatters_messages() const;
  [[nodiscard]] std::uint32_t add_message_gather(std::uint32_t received);

  const Workload& workload_;
  StagePlace place_;
  std::vector<Layer> layers_;
  std::unordered_map<const Kernel*, SharedWork> works_;  // of kernels of layers_
  std::vector<std::int32_t> model_layer_;
  std::vector<std::size_t> chunk_begin_;
  std::int64_t microbatches_ = 1;
  std::optional<std::uint32_t> last_kernel_, last_collective_;
  OpIndices waiting_;         // what the next kernel waits for
  OpIndices host_waits_for_;  // what the next launches wait for
  // Exchanges beside kernels: by the kernel that needs them, or after so many more kernels.
  std::map<std::string, OpIndices> needed_by_;
  std::vector<std::pair<std::uint32_t, int>> beside_;
  std::map<std::string, std::vector<Message>> incoming_;  // by neighbour, in the order of its sends
  std::map<std::string, std::size_t> received_;
  std::vector<std::pair<Message, std::uint32_t>> arrived_;
  Program program_;
  std::vector<SplitMatrix>* matrices_;
  std::vector<std::string> assumptions_;
  std::vector<Remark> warnings_;
};

/// The communicator of shards: over all of dp they go by that name in reports.
[[nodiscard]] std::string shard_slot(const Workload& workload);

/// Parameters of a stage's layers by type, without and with routed experts apart.
struct StageParameters {
  std::map<std::optional<DataType>, std::int64_t> common, experts;
};
[[nodiscard]] StageParameters parameters_on(const std::vector<Layer>& layers);

/// HBM traffic of the optimizer for one parameter: AdamW reads the gradient, reads and writes master copy and
/// both moments, and writes the parameter (without a master copy it reads and writes the parameter itself).
/// SGD reads gradient and parameter and writes the parameter.
/// Source: Kingma & Ba, Adam, 2015, algorithm 1; mixed precision as in Rajbhandari et al., ZeRO, 2020,
/// section 3.1.
[[nodiscard]] std::int64_t optimizer_bytes_per_parameter(const PrecisionSpec& precision,
                                                         const OptimizerSpec& optimizer);

/// What the framework does with all of a rank's gradients once a step besides, for one parameter.
[[nodiscard]] std::int64_t gradient_pass_bytes(const Workload& workload);

}  // namespace busbar
