#include "workloads/trace_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <utility>

#include "sim/base/error.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

JsonValue binding_at(const JsonValue& root, std::size_t index) { return root.at("bindings").items()[index]; }

JsonValue op_at(const JsonValue& root, const Program& program, std::size_t index) {
  return root.at("programs").at(program.name).at("ops").items()[index];
}

/// Where a binding says what `slot` is; the binding itself for a peer that stands for itself.
JsonValue slot_at(const JsonValue& binding, const char* key, const std::string& slot) {
  const auto slots = binding.find(key);
  const auto value = slots ? slots->find(slot) : std::nullopt;
  return value ? *value : binding;
}

void check_members(const StepTrace& trace, std::size_t g, std::vector<std::uint32_t>& stamp,
                   const JsonValue& root) {
  const Group& group = trace.groups[g];
  const auto mark = static_cast<std::uint32_t>(g + 1);
  const auto fail = [&](const std::string& why) { root.at("groups").at(group.name).fail_because(why); };
  for_each_rank(group.members, [&](std::uint32_t rank) {
    if (rank >= trace.ranks)
      fail(fmt::format("rank {} is not bound; the ranks are 0 to {}", rank, trace.ranks - 1));
    if (stamp[rank] == mark) fail(fmt::format("rank {} is a member twice", rank));
    stamp[rank] = mark;
  });
}

/// A binding and a group slot of its program.
using SlotUse = std::pair<std::size_t, std::size_t>;

/// Of several slots of a binding that hold one group, the first stands for all.
std::vector<std::vector<SlotUse>> uses_by_group(const StepTrace& trace) {
  std::vector<std::vector<SlotUse>> uses(trace.groups.size());
  for (std::size_t b = 0; b < trace.bindings.size(); ++b) {
    for (std::size_t slot = 0; slot < trace.bindings[b].groups.size(); ++slot) {
      std::vector<SlotUse>& of_group = uses[trace.bindings[b].groups[slot].index()];
      if (of_group.empty() || of_group.back().first != b) of_group.emplace_back(b, slot);
    }
  }
  return uses;
}

/// A few bytes of text can name all ranks, so that a short file could ask for days of checking.
void check_total_members(const StepTrace& trace, const JsonValue& root) {
  constexpr std::uint64_t kMaxMemberships = std::uint64_t{16} * kMaxRanks;
  std::uint64_t total = 0;
  for (const Group& group : trace.groups) total += count(group.members);
  if (total > kMaxMemberships)
    root.at("groups").fail_because(
        fmt::format("{} members in all groups, more than the limit of {}", total, kMaxMemberships));
}

/// One stamp per rank serves all groups in turn, so that the cost is the sum of their sizes.
void check_membership(const StepTrace& trace, const JsonValue& root) {
  std::vector<std::uint32_t> stamp(trace.ranks, 0);
  const auto uses = uses_by_group(trace);
  for (std::size_t g = 0; g < trace.groups.size(); ++g) {
    check_members(trace, g, stamp, root);
    for (const auto& [b, slot] : uses[g]) {
      const Binding& binding = trace.bindings[b];
      const std::string& slot_name = trace.programs[binding.program].group_slots[slot];
      for_each_rank(binding.ranks, [&, b = b](std::uint32_t rank) {
        if (stamp[rank] == g + 1) return;
        slot_at(binding_at(root, b), "groups", slot_name)
            .fail_because(
                fmt::format("rank {} is not a member of group {}", rank, quoted(trace.groups[g].name)));
      });
    }
  }
}

/// A group slot of a program, bound to a group of so many members.
struct SlotOfProgram {
  std::size_t program = 0, slot = 0;
  std::uint64_t members = 0;
  auto operator<=>(const SlotOfProgram&) const = default;
};

/// A buffer is a whole number of elements, and of equal parts where every rank holds one.
std::int64_t size_unit(const Op& op, std::uint64_t members) {
  if (op.collective == CollectiveKind::kBarrier) return 1;
  return size_of(op.type) * (divides_by_ranks(op.collective) ? static_cast<std::int64_t>(members) : 1);
}

[[noreturn]] void fail_size(const Op& op, std::int64_t unit, const JsonValue& at) {
  const std::int64_t element = size_of(op.type);
  const std::string ranks = unit == element ? "" : fmt::format("{} ranks x ", unit / element);
  at.at("bytes").fail(
      fmt::format("a multiple of {} B ({}{} B per {} element)", unit, ranks, element, name_of(op.type)));
}

/// Collectives of every program by group slot.
using OpsBySlot = std::vector<std::vector<std::vector<std::size_t>>>;

OpsBySlot ops_by_slot(const StepTrace& trace) {
  OpsBySlot ops;
  for (const Program& program : trace.programs) {
    auto& slots = ops.emplace_back(program.group_slots.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i)
      if (program.ops[i].kind == OpKind::kCollective) slots[program.ops[i].group_slot].push_back(i);
  }
  return ops;
}

void check_ops_of_slot(const StepTrace& trace, const SlotOfProgram& use, const std::vector<std::size_t>& ops,
                       const JsonValue& root) {
  const Program& program = trace.programs[use.program];
  for (const std::size_t i : ops) {
    const Op& op = program.ops[i];
    if (op.root && *op.root >= use.members)
      op_at(root, program, i)
          .fail_because(fmt::format("root {} of a group of {} members", *op.root, use.members));
    if (op.splits) {
      const SplitMatrix& matrix = trace.matrices[*op.splits];
      if (matrix.members != use.members)
        op_at(root, program, i)
            .at("splits")
            .fail_because(fmt::format("matrix {} is for {} members, the group has {}", quoted(matrix.name),
                                      matrix.members, use.members));
      continue;
    }
    const std::int64_t unit = size_unit(op, use.members);
    if (op.bytes.count() % unit != 0) fail_size(op, unit, op_at(root, program, i));
  }
}

/// What an operation requires of its group depends on the group's size alone: each size is checked once.
void check_sizes(const StepTrace& trace, const JsonValue& root) {
  const OpsBySlot ops = ops_by_slot(trace);
  std::set<SlotOfProgram> done;
  for (const Binding& binding : trace.bindings) {
    for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
      const SlotOfProgram use{binding.program, slot,
                              count(trace.groups[binding.groups[slot].index()].members)};
      if (done.insert(use).second) check_ops_of_slot(trace, use, ops[use.program][slot], root);
    }
  }
}

bool is_itself(const Peer& peer, const RankRange& ranks) {
  if (peer.relative) return peer.value == 0;
  const std::int64_t from_first = peer.value - std::int64_t{ranks.first};
  return from_first >= 0 && from_first % ranks.stride == 0 && from_first / ranks.stride < ranks.count;
}

/// Why some of `ranks` cannot have this peer. The ends of a range stand for all of it.
std::optional<std::string> peer_problem(const Peer& peer, const RankRange& ranks, std::uint32_t all_ranks) {
  if (is_itself(peer, ranks)) return "a rank is its own peer";
  for (const std::uint32_t rank : {ranks.first, last_rank(ranks)}) {
    const std::int64_t other = peer.relative ? rank + peer.value : peer.value;
    if (other < 0 || other >= all_ranks)
      return fmt::format("the peer of rank {} is {}; the ranks are 0 to {}", rank, other, all_ranks - 1);
  }
  return std::nullopt;
}

void check_peers(const StepTrace& trace, const JsonValue& root) {
  for (std::size_t b = 0; b < trace.bindings.size(); ++b) {
    const Binding& binding = trace.bindings[b];
    for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
      for (const RankRange& ranks : binding.ranks) {
        const auto problem = peer_problem(binding.peers[slot], ranks, trace.ranks);
        if (!problem) continue;
        const std::string& name = trace.programs[binding.program].peer_slots[slot];
        slot_at(binding_at(root, b), "peers", name).fail_because(*problem);
      }
    }
  }
}

}  // namespace

void check_coverage(StepTrace& trace, const JsonValue& root) {
  if (trace.bindings.empty()) root.at("bindings").fail_because("no rank is bound");
  std::uint32_t ranks = 0;
  for (const Binding& binding : trace.bindings)
    for (const RankRange& range : binding.ranks) ranks = std::max(ranks, last_rank(range) + 1);
  std::vector<bool> bound(ranks, false);
  for (std::size_t b = 0; b < trace.bindings.size(); ++b) {
    for_each_rank(trace.bindings[b].ranks, [&](std::uint32_t rank) {
      if (bound[rank])
        binding_at(root, b).at("ranks").fail_because(fmt::format("rank {} is bound twice", rank));
      bound[rank] = true;
    });
  }
  const auto missing = std::find(bound.begin(), bound.end(), false);
  if (missing != bound.end())
    root.at("bindings")
        .fail_because(
            fmt::format("rank {} is not bound; the ranks go up to {}", missing - bound.begin(), ranks - 1));
  trace.ranks = ranks;
}

void check_slowdowns(const StepTrace& trace, const JsonValue& root) {
  std::vector<bool> slowed(trace.ranks, false);
  for (std::size_t i = 0; i < trace.slowdowns.size(); ++i) {
    const auto fail = [&](const std::string& why) { root.at("slowdowns").items()[i].fail_because(why); };
    for_each_rank(trace.slowdowns[i].ranks, [&](std::uint32_t rank) {
      if (rank >= trace.ranks)
        fail(fmt::format("rank {} is not bound; the ranks are 0 to {}", rank, trace.ranks - 1));
      if (slowed[rank]) fail(fmt::format("rank {} is slowed twice", rank));
      slowed[rank] = true;
    });
  }
}

void check_trace(const StepTrace& trace, const JsonValue& root) {
  check_total_members(trace, root);
  check_membership(trace, root);
  check_sizes(trace, root);
  check_peers(trace, root);
}

}  // namespace busbar
