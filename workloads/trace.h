// A training step as programs and bindings: what every rank does, without a list per rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/ids.h"
#include "sim/base/kernel_shape.h"
#include "sim/base/rank_range.h"
#include "sim/base/units.h"

namespace busbar {

/// kHost: the CPU that launches kernels is busy for work.duration; it takes nothing of the GPU.
enum class OpKind : std::uint8_t { kCompute, kCollective, kSend, kRecv, kBatch, kHost };
enum class Phase : std::uint8_t { kNone, kForward, kBackward, kOptimizer };
[[nodiscard]] std::string_view name_of(Phase phase);

/// One send or receive. The peer is a slot of the program ("next"), bound per rank set.
struct Transfer {
  bool is_send = true;
  std::uint32_t peer_slot = 0;
  Bytes bytes;
};

/// A kernel's work, kept once for the layers and microbatches that repeat it. None given: no work.
class SharedWork {
 public:
  SharedWork() = default;
  SharedWork(const KernelWork& work) : work_(std::make_shared<const KernelWork>(work)) {}
  const KernelWork& operator*() const { return work_ ? *work_ : none(); }
  const KernelWork* operator->() const { return &**this; }

 private:
  static const KernelWork& none() {
    static const KernelWork work;
    return work;
  }
  std::shared_ptr<const KernelWork> work_;
};

/// One operation of a program. Indices refer to the program's own tables.
struct Op {
  std::string id;  // unique in the program; "" inside a batch
  OpKind kind = OpKind::kCompute;
  std::uint32_t stream = 0;
  std::vector<std::uint32_t> after;  // operations of the same program, earlier in it
  SharedWork work;                   // kCompute; kHost: a duration
  CollectiveKind collective = CollectiveKind::kAllReduce;
  std::uint32_t group_slot = 0;  // kCollective
  Bytes bytes;                   // kCollective: nccl-tests' size (full buffer for all_gather, reduce_scatter)
  std::optional<std::uint32_t> splits;  // uneven all_to_all: index into StepTrace::matrices
  DataType type = DataType::kBf16;
  Reduction reduction = Reduction::kSum;
  std::optional<std::uint32_t> root;  // member number; rooted collectives only, 0 where the file gives none
  std::vector<Transfer> transfers;    // kSend, kRecv: one; kBatch: any
  Phase phase = Phase::kNone;
  std::int32_t layer = -1;  // for reports; strategies number layers in forward order, embedding first
  std::int32_t microbatch = -1;
  std::string group_kind;  // "dp", "tp", ... for reports; "" = the slot's name
};

/// Whether it needs other ranks.
[[nodiscard]] bool communicates(const Op& op);
/// "compute", "host", the collective's name or "send_recv": what a report calls it.
[[nodiscard]] std::string_view activity_of(const Op& op);

/// Per-rank memory, for reports. Absent parts are zero.
struct MemoryUse {
  Bytes parameters, gradients, optimizer, activations, buffers;
  Bytes unattributed;  // a total that the trace gives without its parts
  /// Where recomputation keeps fewer: what activations would take without it.
  std::optional<Bytes> activations_without_recompute;
  [[nodiscard]] Bytes total() const {
    return parameters + gradients + optimizer + activations + buffers + unattributed;
  }
};

struct Program {
  std::string name;
  std::vector<std::string> streams;      // by stream index
  std::vector<std::string> group_slots;  // communicators that it uses, by the name bound in Binding
  std::vector<std::string> peer_slots;
  std::vector<Op> ops;  // in issue order
  std::optional<MemoryUse> memory;
};

/// A peer: `offset` relative to the rank (no wrap), or an absolute rank.
struct Peer {
  bool relative = true;
  std::int64_t value = 0;
};

struct Binding {
  std::vector<RankRange> ranks;
  std::uint32_t program = 0;
  std::vector<GroupId> groups;  // by group slot of the program
  std::vector<Peer> peers;      // by peer slot
};

struct Group {
  std::string name;
  std::vector<RankRange> members;  // member numbers follow this order
};

/// What each member sends to each: row = sender, in member order. A member's block for itself is a local
/// copy.
struct SplitMatrix {
  std::string name;
  std::uint32_t members = 0;
  std::vector<Bytes> bytes;  // members x members
  [[nodiscard]] Bytes at(std::uint32_t from, std::uint32_t to) const {
    return bytes[std::size_t{from} * members + to];
  }
  /// The size that nccl-tests would call it: the largest buffer of any member, sent or received.
  [[nodiscard]] Bytes size() const;
};

/// What an expert would say of a step before it runs: a code ("few-microbatches"), and a sentence with a
/// number and the remedy.
struct Remark {
  std::string code, text;
  bool operator==(const Remark&) const = default;
};

/// Ranks whose kernels take `factor` times as long: drawn from a workload's jitter.
struct Slowdown {
  std::vector<RankRange> ranks;
  double factor = 1;
};

/// Built by the reader (validated) or by a strategy. Every rank 0..ranks-1 is bound exactly once.
struct StepTrace {
  std::string name;
  std::uint32_t ranks = 0;
  std::vector<Group> groups;
  std::vector<SplitMatrix> matrices;
  std::vector<Program> programs;
  std::vector<Binding> bindings;
  std::optional<double> kernel_share;           // inside a step, of kernels alone; none: the profile's
  std::map<std::string, double> kernel_shares;  // the same on GPUs of one generation ("ampere"), before it
  double attention_share = 1;  // of the speed of attention that is modelled: slower code for the same work
  std::map<std::string, double> attention_shares;  // the same on GPUs of one generation, before it
  std::int64_t repeat = 1;                         // the step is this many passes through the programs
  double tokens = 0;                               // per step, all ranks; 0: unknown
  double model_flops = 0;                          // per step, all ranks; 0: unknown
  std::vector<std::string> assumptions;            // sentences for the summary
  std::vector<Remark> warnings;
  std::vector<Slowdown> slowdowns;  // ranks not named: factor 1
  /// Stages begin the next step without waiting for each other: the step is the last pass alone, after one
  /// that brings the stages into their places.
  bool staggered = false;
};

}  // namespace busbar
