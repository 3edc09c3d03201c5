// What the ranks of a step send, by closed forms of its collectives.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/collective_kind.h"
#include "workloads/trace.h"

namespace busbar {

/// Ranks of the communicator that a program's slot is bound to (where it is bound first).
inline std::uint64_t slot_ranks(const StepTrace& trace, std::size_t program, std::uint32_t slot) {
  for (const Binding& binding : trace.bindings)
    if (binding.program == program) return count(trace.groups[binding.groups[slot].value()].members);
  return 0;
}

struct Traffic {
  double bytes = 0;  // that one rank sends: size x nccl-tests' busbw factor
  std::size_t ops = 0;
};

/// Of the collectives of `kind` on the slots called `slot` ("": all), of one program.
inline Traffic traffic_of(const StepTrace& trace, std::string_view slot = "", std::size_t program = 0) {
  Traffic sum;
  const Program& p = trace.programs[program];
  for (const Op& op : p.ops) {
    if (op.kind != OpKind::kCollective) continue;
    if (!slot.empty() && p.group_slots[op.group_slot] != slot) continue;
    const auto ranks = static_cast<std::int64_t>(slot_ranks(trace, program, op.group_slot));
    sum.bytes += op.bytes.as_double() * busbw_factor(op.collective, ranks);
    ++sum.ops;
  }
  return sum;
}

/// Collectives of one kind in one phase.
inline std::vector<const Op*> collectives_of(const Program& program, CollectiveKind kind, Phase phase) {
  std::vector<const Op*> ops;
  for (const Op& op : program.ops)
    if (op.kind == OpKind::kCollective && op.collective == kind && op.phase == phase) ops.push_back(&op);
  return ops;
}

}  // namespace busbar
