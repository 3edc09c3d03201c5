#include "sim/replay/system.h"

#include <algorithm>

#include "sim/base/error.h"

namespace busbar {

namespace {

template <class Plan>
std::vector<PlannedCall> plan_all(const SystemParts& parts, std::span<const std::uint32_t> calls,
                                  std::uint64_t alike, const Plan& plan) {
  std::vector<PlannedCall> list;
  list.reserve(calls.size());
  for (const std::uint32_t call : calls) list.push_back({call, &plan(parts.calls->at(call))});
  std::vector<std::uint32_t> records;
  for (const PlannedCall& c : list)
    if (std::find(records.begin(), records.end(), c.planned->record) == records.end())
      records.push_back(c.planned->record);
  for (const std::uint32_t record : records) parts.plans->records()[record].groups += alike;
  return list;
}

}  // namespace

std::vector<PlannedCall> planned_calls(const SystemParts& parts, std::span<const std::uint32_t> calls,
                                       GroupId group, std::uint64_t alike) {
  return plan_all(parts, calls, alike, [&](const Calls::Call& call) -> const PlannedOperation& {
    return parts.plans->collective(group, *call.op, parts.kinds->names[call.kind]);
  });
}

std::vector<PlannedCall> planned_calls(const SystemParts& parts, std::span<const std::uint32_t> calls,
                                       const SystemOutline::Box& box, std::uint64_t alike) {
  return plan_all(parts, calls, alike, [&](const Calls::Call& call) -> const PlannedOperation& {
    return parts.plans->transfer(box.from, box.to, call.bytes, parts.kinds->names[call.kind]);
  });
}

const PlannedOperation& planned_for(std::span<const PlannedCall> calls, std::uint32_t call) {
  const auto it = std::lower_bound(calls.begin(), calls.end(), call,
                                   [](const PlannedCall& p, std::uint32_t c) { return p.call < c; });
  BUSBAR_CHECK(it != calls.end() && it->call == call);
  return *it->planned;
}

std::vector<std::uint32_t> System::links_replayed() const {
  std::vector<std::uint32_t> links;
  for (std::uint32_t link = 0; link < replayed_as.size(); ++link)
    if (replayed_as[link] == link) links.push_back(link);
  return links;
}

System whole_system(const SystemParts& parts) {
  const StepTrace& trace = *parts.trace;
  const SystemOutline outline(trace, *parts.calls);
  System system;
  for (std::uint32_t rank = 0; rank < trace.ranks; ++rank) {
    system.players.push_back({.rank = rank});
    system.player_of_rank.push_back(rank);
    system.first_meeting.push_back(static_cast<std::uint32_t>(system.meeting_of.size()));
    for (const GroupId g : outline.groups_of(rank)) system.meeting_of.push_back(g.value());
    system.first_box.push_back(static_cast<std::uint32_t>(system.boxes_of.size()));
    const auto boxes = outline.boxes_of(rank);
    system.boxes_of.insert(system.boxes_of.end(), boxes.begin(), boxes.end());
  }
  for (std::uint32_t g = 0; g < trace.groups.size(); ++g)
    system.meetings.push_back(
        {.group = GroupId(g),
         .arrivals = static_cast<std::uint32_t>(count(trace.groups[g].members)),
         .calls = planned_calls(parts, outline.calls(outline.list_of(GroupId(g))), GroupId(g), 1)});
  for (const SystemOutline::Box& box : outline.boxes())
    system.mailboxes.push_back(
        {.from = box.from, .to = box.to, .calls = planned_calls(parts, outline.calls(box.list), box, 1)});
  return system;
}

}  // namespace busbar
