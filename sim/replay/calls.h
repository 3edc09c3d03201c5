// What the operations of a step ask of their groups and peers, each distinct request once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/trace.h"

namespace busbar {

/// What operations are accounted under: "dp", "tp", ...
struct GroupKinds {
  std::vector<std::string> names;
  std::vector<std::vector<std::uint32_t>> by_op;  // program, operation -> names
};
[[nodiscard]] GroupKinds group_kinds(const StepTrace& trace);

/// Operations that differ in nothing that a plan depends on share a call: there is one plan per call and
/// group, or per call and ordered pair of ranks.
class Calls {
 public:
  /// Borrows its arguments.     Cost: O(operations x log of the distinct calls).
  Calls(const StepTrace& trace, const GroupKinds& kinds);

  /// The call of a collective, or of one transfer of a send, receive or batch.
  [[nodiscard]] std::uint32_t of(std::uint32_t program, std::uint32_t op, std::uint32_t transfer = 0) const {
    return ids_[program][first_[program][op] + transfer];
  }
  struct Call {
    const Op* op = nullptr;  // one that makes it
    Bytes bytes;             // of the transfer, or nccl-tests' size
    std::uint32_t kind = 0;  // in GroupKinds::names
  };
  [[nodiscard]] const Call& at(std::uint32_t call) const { return calls_[call]; }
  /// Distinct calls over a program's group slot, and its sends over a peer slot, in order.
  [[nodiscard]] std::span<const std::uint32_t> on_slot(std::uint32_t program, std::uint32_t slot) const {
    return on_slot_[program][slot];
  }
  [[nodiscard]] std::span<const std::uint32_t> sends_to(std::uint32_t program, std::uint32_t peer) const {
    return sends_to_[program][peer];
  }
  [[nodiscard]] bool receives_from(std::uint32_t program, std::uint32_t peer) const {
    return receives_from_[program][peer];
  }

 private:
  std::vector<std::vector<std::uint32_t>> first_, ids_;  // CSR by program: operation -> calls
  std::vector<Call> calls_;
  using Lists = std::vector<std::vector<std::vector<std::uint32_t>>>;
  Lists on_slot_, sends_to_;
  std::vector<std::vector<bool>> receives_from_;
};

}  // namespace busbar
