#include "workloads/strategies/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 4> kDirections = {"tp", "cp", "dp", "pp"};

}  // namespace

Layout::Layout(const ParallelSpec& parallel)
    : parallel_(parallel), size_{parallel.tp, parallel.cp, parallel.dp, parallel.pp}, stride_{} {
  std::int64_t stride = 1;
  for (const std::string& direction : parallel.order) {
    const auto found = std::find(kDirections.begin(), kDirections.end(), direction);
    BUSBAR_CHECK(found != kDirections.end());
    const auto d = static_cast<std::size_t>(found - kDirections.begin());
    stride_[d] = stride;
    stride *= size_[d];
  }
}

std::uint32_t Layout::rank_of(const Place& p) const {
  return static_cast<std::uint32_t>(p.tp * stride_[0] + p.cp * stride_[1] + p.dp * stride_[2] +
                                    p.pp * stride_[3]);
}

Place Layout::place_of(std::uint32_t rank) const {
  const auto along = [&](std::size_t d) { return std::int64_t{rank} / stride_[d] % size_[d]; };
  return {along(0), along(1), along(2), along(3)};
}

// Inside a stage tp is fastest, then cp, then dp, whatever the order of ranks.
std::int64_t Layout::block_index(const Place& p) const {
  return p.tp + parallel_.tp * (p.cp + parallel_.cp * p.dp);
}

Place Layout::from_block(std::int64_t index, std::int64_t pp) const {
  return {index % parallel_.tp, index / parallel_.tp % parallel_.cp, index / parallel_.tp / parallel_.cp, pp};
}

std::int64_t Layout::size(std::string_view slot) const {
  const std::int64_t shard = parallel_.shard_size.value_or(parallel_.dp * parallel_.cp);
  if (slot == "tp") return parallel_.tp;
  if (slot == "cp") return parallel_.cp;
  if (slot == "pp") return parallel_.pp;
  if (slot == "dp") return parallel_.dp * parallel_.cp;
  if (slot == "shard") return shard;
  if (slot == "replica") return parallel_.dp * parallel_.cp / shard;
  if (slot == "ep") return parallel_.ep;
  if (slot == "etp") return parallel_.etp;
  if (slot == "edp") return parallel_.tp * parallel_.cp * parallel_.dp / (parallel_.ep * parallel_.etp);
  if (slot == "ep.host" || slot == "ep.rail") return std::ssize(hosted_experts(slot, {}));
  if (slot == "embedding") return parallel_.pp > 1 ? 2 : 1;
  BUSBAR_CHECK(false);
  return 0;
}

std::vector<std::uint32_t> Layout::hosted_experts(std::string_view slot, const Place& place) const {
  BUSBAR_CHECK(parallel_.host_ranks);
  const std::uint32_t self = rank_of(place);
  const auto host_of = [&](std::uint32_t rank) { return std::int64_t{rank} / *parallel_.host_ranks; };
  std::map<std::int64_t, std::vector<std::uint32_t>> by_host;
  for (const std::uint32_t rank : members("ep", place)) by_host[host_of(rank)].push_back(rank);
  const std::vector<std::uint32_t>& here = by_host[host_of(self)];
  if (slot == "ep.host") return here;
  const auto number = static_cast<std::size_t>(std::find(here.begin(), here.end(), self) - here.begin());
  std::vector<std::uint32_t> rail;
  for (const auto& [host, ranks] : by_host)
    if (number < ranks.size()) rail.push_back(ranks[number]);
  return rail;
}

std::uint32_t Layout::member(std::string_view slot, const Place& place, std::int64_t i) const {
  const auto holder = [&](std::int64_t number) {
    return rank_of({place.tp, number % parallel_.cp, number / parallel_.cp, place.pp});
  };
  if (slot == "tp") return rank_of({i, place.cp, place.dp, place.pp});
  if (slot == "dp") return holder(i);
  if (slot == "cp") return rank_of({place.tp, i, place.dp, place.pp});
  if (slot == "pp") return rank_of({place.tp, place.cp, place.dp, i});
  if (slot == "embedding") return rank_of({place.tp, place.cp, place.dp, i == 0 ? 0 : parallel_.pp - 1});
  if (slot == "shard" || slot == "replica") {
    const std::int64_t shard = size("shard");
    const std::int64_t replica = place.cp + parallel_.cp * place.dp;  // number among the holders of one shard
    return holder(slot == "shard" ? replica / shard * shard + i : replica % shard + i * shard);
  }
  const std::int64_t index = block_index(place);
  const std::int64_t etp = parallel_.etp, all = etp * parallel_.ep;
  const auto in_block = [&](std::int64_t number) { return rank_of(from_block(number, place.pp)); };
  if (slot == "etp") return in_block(index / etp * etp + i);
  if (slot == "ep") return in_block(index / all * all + i * etp + index % etp);
  BUSBAR_CHECK(slot == "edp");
  return in_block(i * all + index % all);
}

std::vector<std::uint32_t> Layout::members(std::string_view slot, const Place& place) const {
  if (slot == "ep.host" || slot == "ep.rail") return hosted_experts(slot, place);
  std::vector<std::uint32_t> ranks;
  const std::int64_t n = size(slot);
  for (std::int64_t i = 0; i < n; ++i) ranks.push_back(member(slot, place, i));
  return ranks;
}

std::uint32_t Layout::first_member(std::string_view slot, const Place& place) const {
  if (slot == "ep.host" || slot == "ep.rail") return hosted_experts(slot, place).front();
  return member(slot, place, 0);
}

std::vector<std::uint32_t> Layout::stage(std::int64_t pp) const {
  std::vector<std::uint32_t> ranks;
  for (std::int64_t i = 0; i < parallel_.tp * parallel_.cp * parallel_.dp; ++i)
    ranks.push_back(rank_of(from_block(i, pp)));
  if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
  return ranks;
}

GroupId GroupBinder::group(std::string_view slot, const Place& place) {
  auto known = known_.find(slot);
  if (known == known_.end()) known = known_.emplace(std::string(slot), Known()).first;
  const auto [it, is_new] =
      known->second.by_first.try_emplace(layout_->first_member(slot, place), GroupId(0));
  if (!is_new) return it->second;
  // One communicator of a kind goes by the kind's name alone.
  const bool alone = layout_->size(slot) == layout_->world();
  Group group{.name = alone ? std::string(slot) : fmt::format("{}{}", slot, known->second.groups++)};
  for (const std::uint32_t rank : layout_->members(slot, place)) append_rank(group.members, rank);
  it->second = GroupId(static_cast<std::uint32_t>(trace_->groups.size()));
  trace_->groups.push_back(std::move(group));
  return it->second;
}

void GroupBinder::bind(const Ranks& which, std::uint32_t program, const std::vector<Peer>& peers) {
  std::unordered_map<std::uint64_t, std::size_t> by_groups;  // bindings, by a hash of their groups
  const std::vector<std::string>& slots = trace_->programs[program].group_slots;
  const std::vector<std::uint32_t> ranks = layout_->stage(which.stage);
  trace_->bindings.reserve(trace_->bindings.size() + ranks.size());
  std::vector<GroupId> groups;
  for (const std::uint32_t rank : ranks) {
    const Place place = layout_->place_of(rank);
    if (which.classes > 1 && layout_->expert_place(place) != which.ep) continue;
    groups.clear();
    std::uint64_t hash = 0;
    for (const std::string& slot : slots) {
      groups.push_back(group(slot, place));
      hash = mix(hash, groups.back().value());
    }
    const auto [it, is_new] = by_groups.try_emplace(hash, trace_->bindings.size());
    if (!is_new && trace_->bindings[it->second].groups == groups) {
      append_rank(trace_->bindings[it->second].ranks, rank);
      continue;
    }
    trace_->bindings.push_back(
        {.ranks = {{rank, 1, 1}}, .program = program, .groups = groups, .peers = peers});
  }
}

}  // namespace busbar
