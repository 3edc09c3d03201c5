// What pipeline stages send each other: activations forward, their gradients backward.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

// Two stages are each other's next and previous: one ordered pair, one stream.
std::string StepBuilder::neighbour(std::int64_t stage) const {
  const std::int64_t pp = workload_.parallel.pp;
  if (pp == 2) return place_.stage == 0 ? "next" : "previous";
  return (stage + pp) % pp == (place_.stage + 1) % pp ? "next" : "previous";
}

// The stage and the message that a task of `stage` ends with; none at the ends of the model.
std::optional<std::pair<std::int64_t, StepBuilder::Message>> StepBuilder::message_of(
    std::int64_t stage, const StageTask& task) const {
  if (task.work == StageWork::kWeightGradient) return std::nullopt;
  const std::int64_t pp = workload_.parallel.pp;
  const bool forward = task.work == StageWork::kForward;
  const std::int64_t to = task.chunk * pp + stage + (forward ? 1 : -1);
  if (to < 0 || to >= chunks()) return std::nullopt;
  return std::pair{to % pp, Message{task.work, task.microbatch, to / pp}};
}

// Messages of `stage` to this one, in the order in which it sends them.
std::vector<StepBuilder::Message> StepBuilder::messages_from(std::int64_t stage) const {
  std::vector<Message> messages;
  for (const StageTask& task : stage_tasks(workload_.parallel, stage, microbatches_))
    if (const auto message = message_of(stage, task); message && message->first == place_.stage)
      messages.push_back(message->second);
  return messages;
}

// One microbatch's activations at a layer's edge: tokens / cp x hidden, / tp under sequence parallelism.
Bytes StepBuilder::message_bytes() const {
  const ParallelSpec& p = workload_.parallel;
  if (!workload_.model.transformer) return Bytes();
  const std::int64_t element =
      workload_.precision.compute == DataType::kFp8 ? 2 : size_of(workload_.precision.compute);
  const std::int64_t tokens = checked_mul(workload_.batch.micro, workload_.batch.sequence, "tokens") / p.cp;
  const std::int64_t bytes = checked_mul(
      checked_mul(tokens, workload_.model.transformer->hidden, "a message"), element, "a message");
  return Bytes(p.sequence_parallel || scatters_messages() ? bytes / p.tp : bytes);
}

bool StepBuilder::scatters_messages() const {
  const ParallelSpec& p = workload_.parallel;
  return workload_.framework->scatters_messages && p.tp > 1 && !p.sequence_parallel;
}

// The parts that the tensor-parallel ranks got of one message, for all of them.
std::uint32_t StepBuilder::add_message_gather(std::uint32_t received) {
  Op op;
  op.id = program_.ops[received].id + ".gather";
  op.kind = OpKind::kCollective;
  op.collective = CollectiveKind::kAllGather;
  op.bytes = Bytes(message_bytes().count() * workload_.parallel.tp);
  op.type = workload_.precision.compute == DataType::kFp8 ? DataType::kBf16 : workload_.precision.compute;
  op.group_slot = group_slot("tp");
  op.group_kind = "tp";
  op.phase = program_.ops[received].phase;
  op.microbatch = program_.ops[received].microbatch;
  op.after = {received};
  return add(std::move(op), "tp");
}

// Receives follow the neighbour's order of sending, whatever this task needs first: those before it are
// posted too. They wait for no kernel: without overlap, where kernels wait for sends, a circle of stages
// would.
void StepBuilder::begin(const StageTask& task) {
  if (task.work == StageWork::kWeightGradient) return;
  if (workload_.framework->synchronises && last_kernel_) host_waits_for_ = {*last_kernel_};
  const std::int64_t pp = workload_.parallel.pp;
  const bool forward = task.work == StageWork::kForward;
  const std::int64_t from = task.chunk * pp + place_.stage + (forward ? -1 : 1);
  if (from < 0 || from >= chunks() || pp < 2) return;
  const std::string peer = neighbour(from % pp);
  const Message wanted{task.work, task.microbatch, task.chunk};
  const std::vector<Message>& order = incoming_[peer];
  std::size_t& next = received_[peer];
  const auto has = [&](const auto& a) { return a.first == wanted; };
  while (std::none_of(arrived_.begin(), arrived_.end(), has)) {
    BUSBAR_CHECK(next < order.size());
    const Message& message = order[next++];
    Op op;
    op.id = fmt::format("{}.mb{}.c{}.recv", message.work == StageWork::kForward ? 'f' : 'b',
                        message.microbatch, message.chunk);
    op.kind = OpKind::kRecv;
    op.transfers = {{.is_send = false, .peer_slot = peer_slot(peer), .bytes = message_bytes()}};
    op.phase = message.work == StageWork::kForward ? Phase::kForward : Phase::kBackward;
    op.microbatch = static_cast<std::int32_t>(message.microbatch);
    op.group_kind = "pp";
    op.after = add_message_launch(op);
    arrived_.emplace_back(message, add(std::move(op), "pp.from." + peer));
  }
  const auto found = std::find_if(arrived_.begin(), arrived_.end(), has);
  const std::uint32_t received = found->second;
  waiting_.push_back(scatters_messages() ? add_message_gather(received) : received);
  if (scatters_messages()) host_waits_for_.push_back(received);
  arrived_.erase(found);
}

void StepBuilder::end(const StageTask& task) {
  const auto message = message_of(place_.stage, task);
  if (!message || workload_.parallel.pp < 2) return;
  const std::string peer = neighbour(message->first);
  Op op;
  op.id = fmt::format("{}.mb{}.c{}.send", task.work == StageWork::kForward ? 'f' : 'b', task.microbatch,
                      task.chunk);
  op.kind = OpKind::kSend;
  op.transfers = {{.is_send = true, .peer_slot = peer_slot(peer), .bytes = message_bytes()}};
  op.phase = task.work == StageWork::kForward ? Phase::kForward : Phase::kBackward;
  op.microbatch = static_cast<std::int32_t>(task.microbatch);
  op.group_kind = "pp";
  op.after = last_kernel();
  for (const std::uint32_t launched : add_message_launch(op)) op.after.push_back(launched);
  for (const std::uint32_t waited : waiting_) op.after.push_back(waited);
  const std::uint32_t sent = add(std::move(op), "pp.to." + peer);
  if (!workload_.overlap.pp) waiting_.push_back(sent);
}

// A table at both ends of the pipeline: its gradients are one sum.
void StepBuilder::add_embedding_all_reduce() {
  const bool tied = workload_.model.transformer && workload_.model.transformer->tied_embeddings;
  const bool holds = place_.stage == 0 || place_.stage == workload_.parallel.pp - 1;
  if (!tied || !holds || workload_.parallel.pp < 2) return;
  std::int64_t elements = 0;
  const ModelSpec& model = workload_.model;
  for (const Layer& layer :
       layers_of(model, {1, workload_.batch.sequence, workload_.precision.compute}, cut_of(workload_)))
    if (layer.name == "embedding" && !layer.tensors.empty()) elements = layer.tensors.front().elements;
  add_collective({.id = "embedding.all_reduce",
                  .kind = CollectiveKind::kAllReduce,
                  .bytes = Bytes(checked_mul(elements, size_of(workload_.precision.reduce), "the embedding")),
                  .type = workload_.precision.reduce,
                  .phase = Phase::kBackward,
                  .microbatch = microbatches_ - 1,
                  .slot = "embedding"},
                 last_kernel());
}

std::vector<Peer> StepBuilder::peers() const {
  const std::int64_t pp = workload_.parallel.pp, stride = Layout(workload_.parallel).pipeline_stride();
  std::vector<Peer> peers;
  for (const std::string& slot : program_.peer_slots) {
    const std::int64_t other = (place_.stage + (slot == "next" ? 1 : pp - 1)) % pp;
    peers.push_back({.relative = true, .value = (other - place_.stage) * stride});
  }
  return peers;
}

}  // namespace busbar
