#include "sim/replay/calls.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace busbar {

namespace {

std::string kind_name(const Program& program, const Op& op) {
  if (!op.group_kind.empty()) return op.group_kind;
  if (op.kind == OpKind::kCollective) return program.group_slots[op.group_slot];
  return "pp";
}

// What a plan depends on, apart from the ranks.
using Request = std::tuple<CollectiveKind, Bytes, std::uint32_t, std::int64_t, DataType, std::uint32_t>;

Request request_of(const Op& op, std::uint32_t kind) {
  return {op.collective, op.bytes, op.root.value_or(0), op.splits ? std::int64_t{*op.splits} : -1,
          op.type,       kind};
}

Request request_of(const Transfer& transfer, std::uint32_t kind) {
  return {CollectiveKind::kSendRecv, transfer.bytes, 0, -1, DataType::kInt8, kind};
}

void insert_sorted(std::vector<std::uint32_t>& list, std::uint32_t value) {
  const auto it = std::lower_bound(list.begin(), list.end(), value);
  if (it == list.end() || *it != value) list.insert(it, value);
}

}  // namespace

GroupKinds group_kinds(const StepTrace& trace) {
  GroupKinds kinds;
  for (const Program& program : trace.programs) {
    std::vector<std::uint32_t>& by_op = kinds.by_op.emplace_back();
    for (const Op& op : program.ops) {
      if (!communicates(op)) {
        by_op.push_back(0);
        continue;
      }
      const std::string name = kind_name(program, op);
      const auto it = std::find(kinds.names.begin(), kinds.names.end(), name);
      by_op.push_back(static_cast<std::uint32_t>(it - kinds.names.begin()));
      if (it == kinds.names.end()) kinds.names.push_back(name);
    }
  }
  return kinds;
}

Calls::Calls(const StepTrace& trace, const GroupKinds& kinds) {
  std::map<Request, std::uint32_t> known;
  const auto id_of = [&](const Request& request, const Call& call) {
    const auto [it, is_new] = known.try_emplace(request, static_cast<std::uint32_t>(calls_.size()));
    if (is_new) calls_.push_back(call);
    return it->second;
  };
  for (std::uint32_t p = 0; p < trace.programs.size(); ++p) {
    const Program& program = trace.programs[p];
    std::vector<std::uint32_t>& first = first_.emplace_back();
    std::vector<std::uint32_t>& ids = ids_.emplace_back();
    auto& on_slot = on_slot_.emplace_back(program.group_slots.size());
    auto& sends_to = sends_to_.emplace_back(program.peer_slots.size());
    auto& receives_from = receives_from_.emplace_back(program.peer_slots.size(), false);
    for (std::uint32_t o = 0; o < program.ops.size(); ++o) {
      const Op& op = program.ops[o];
      const std::uint32_t kind = kinds.by_op[p][o];
      first.push_back(static_cast<std::uint32_t>(ids.size()));
      if (op.kind == OpKind::kCollective) {
        ids.push_back(id_of(request_of(op, kind), {&op, op.bytes, kind}));
        insert_sorted(on_slot[op.group_slot], ids.back());
      }
      for (const Transfer& t : op.transfers) {
        ids.push_back(id_of(request_of(t, kind), {&op, t.bytes, kind}));
        if (t.is_send) {
          insert_sorted(sends_to[t.peer_slot], ids.back());
        } else {
          receives_from[t.peer_slot] = true;
        }
      }
    }
  }
}

}  // namespace busbar
