// Where a rank stands in a layout of tensor, context, data and pipeline parallelism, and whom it talks to.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

/// A rank's place in each direction.
struct Place {
  std::int64_t tp = 0, cp = 0, dp = 0, pp = 0;
};

/// Communicators of a layout, by slot name:
///   tp, cp, pp      along one direction
///   dp              along dp and cp: the ranks that hold the same parameters and different tokens
///   shard, replica  dp cut into groups of shard_size, and across them
///   ep, edp         routed experts: inside tp x cp x dp of one stage, `etp` fastest, then `ep`; edp holds
///   the same
///                   experts
///   ep.host         members of ep on one host (host_ranks neighbours); ep.rail: those with the same number
///                   among the members of their hosts
///   etp             tensor parallelism of the experts
///   embedding       the first and the last stage, for tied embeddings
/// Source of the expert groups: Megatron-Core, parallel_state (expert_decoder_rank_generator).
class Layout {
 public:
  explicit Layout(const ParallelSpec& parallel);

  [[nodiscard]] std::int64_t world() const { return parallel_.world(); }
  [[nodiscard]] std::uint32_t rank_of(const Place& place) const;
  [[nodiscard]] Place place_of(std::uint32_t rank) const;
  /// Ranks between neighbours along the pipeline.
  [[nodiscard]] std::int64_t pipeline_stride() const { return stride_[3]; }
  /// Ranks of the communicator `slot` that holds `place`, in member order.
  [[nodiscard]] std::vector<std::uint32_t> members(std::string_view slot, const Place& place) const;
  /// The first of them.
  [[nodiscard]] std::uint32_t first_member(std::string_view slot, const Place& place) const;
  /// How many ranks each communicator of `slot` has.
  [[nodiscard]] std::int64_t size(std::string_view slot) const;
  /// Number of a rank in its expert-parallel group.
  [[nodiscard]] std::int64_t expert_place(const Place& place) const {
    return block_index(place) / parallel_.etp % parallel_.ep;
  }
  /// The ranks of one pipeline stage, ascending.
  [[nodiscard]] std::vector<std::uint32_t> stage(std::int64_t pp) const;

 private:
  /// Requires: a slot that does not depend on hosts; i below its size.
  [[nodiscard]] std::uint32_t member(std::string_view slot, const Place& place, std::int64_t i) const;
  [[nodiscard]] std::int64_t block_index(const Place& place) const;
  [[nodiscard]] std::vector<std::uint32_t> hosted_experts(std::string_view slot, const Place& place) const;
  [[nodiscard]] Place from_block(std::int64_t index, std::int64_t pp) const;

  ParallelSpec parallel_;
  std::array<std::int64_t, 4> size_;    // tp, cp, dp, pp
  std::array<std::int64_t, 4> stride_;  // of a step along each
};

/// Adds the groups of `slots` to a trace, each distinct communicator once, and binds every rank of the
/// stages: ranks with the same program and the same communicators share a binding.
class GroupBinder {
 public:
  GroupBinder(const Layout& layout, StepTrace& trace) : layout_(&layout), trace_(&trace) {}
  /// `program`, which has its slots, on the ranks of a stage; with several classes on those of one place in
  /// their expert-parallel group.
  struct Ranks {
    std::int64_t stage = 0, ep = 0, classes = 1;
  };
  void bind(const Ranks& ranks, std::uint32_t program, const std::vector<Peer>& peers);

 private:
  [[nodiscard]] GroupId group(std::string_view slot, const Place& place);

  const Layout* layout_;
  StepTrace* trace_;
  struct Known {
    std::unordered_map<std::uint32_t, GroupId> by_first;  // member
    std::uint32_t groups = 0;                             // with a number
  };
  std::map<std::string, Known, std::less<>> known_;  // by slot
};

}  // namespace busbar
