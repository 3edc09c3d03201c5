#include "calibrate/run/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/named_table.h"

namespace busbar {

namespace {

constexpr std::int64_t kGrain = 16;  // bytes per rank, as in nccl-tests
constexpr std::string_view kOwn = "own";

using Members = std::vector<std::uint32_t>;

// Ranks by host, hosts in the order of their first ranks.
std::vector<Members> by_host(const Machine& machine) {
  std::vector<Members> hosts;
  std::map<std::string, std::size_t> index;
  for (std::size_t r = 0; r < machine.ranks.size(); ++r) {
    const auto [found, added] = index.try_emplace(machine.ranks[r].host, hosts.size());
    if (added) hosts.emplace_back();
    hosts[found->second].push_back(static_cast<std::uint32_t>(r));
  }
  return hosts;
}

Members firsts(const std::vector<Members>& hosts, std::size_t from, std::size_t count) {
  Members members;
  for (std::size_t h = from; h < from + count; ++h) members.push_back(hosts[h].front());
  std::sort(members.begin(), members.end());
  return members;
}

std::vector<Members> members_of(const RunGroup& shape, const std::vector<Members>& hosts) {
  const auto limit = static_cast<std::size_t>(shape.limit);
  std::vector<Members> groups;
  switch (shape.kind) {
    case RunGroup::Kind::kAll:
      groups.emplace_back();
      for (const Members& host : hosts) groups[0].insert(groups[0].end(), host.begin(), host.end());
      std::sort(groups[0].begin(), groups[0].end());
      break;
    case RunGroup::Kind::kOnePerHost:
      if (limit <= hosts.size()) groups.push_back(firsts(hosts, 0, limit == 0 ? hosts.size() : limit));
      break;
    case RunGroup::Kind::kOfAHost:
      for (const Members& host : hosts)
        if (groups.empty() && host.size() >= limit)
          groups.emplace_back(host.begin(), host.begin() + static_cast<std::ptrdiff_t>(limit));
      break;
    case RunGroup::Kind::kEachHost:
      groups = hosts;
      break;
    case RunGroup::Kind::kNeighbours:
      for (std::size_t h = 0; h + 1 < hosts.size(); ++h) groups.push_back(firsts(hosts, h, 2));
      break;
  }
  return groups;
}

std::vector<RunGroup> usual_shapes() {
  using Kind = RunGroup::Kind;
  return {{Kind::kAll, 0},     {Kind::kOnePerHost, 0}, {Kind::kOnePerHost, 2},
          {Kind::kOfAHost, 2}, {Kind::kOfAHost, 4},    {Kind::kOfAHost, 8}};
}

std::vector<CollectiveKind> operations_of(const RunSettings& settings, const Runner& runner) {
  for (const CollectiveKind kind : settings.operations)
    if (!runner.offers(kind))
      throw Error({.where = "--collective",
                   .message = fmt::format("{} has no {}", runner.machine().library, name_of(kind))});
  if (!settings.operations.empty()) return settings.operations;
  std::vector<CollectiveKind> all;
  for (std::size_t k = 0; k < kCollectiveKinds; ++k) {
    const auto kind = static_cast<CollectiveKind>(k);
    if (kind != CollectiveKind::kBarrier && runner.offers(kind)) all.push_back(kind);
  }
  return all;
}

bool asked(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// The library's own choice first: it says what a job will see.
std::vector<ForcedChoice> choices_of(const RunSettings& settings, const Runner& runner, CollectiveKind kind,
                                     std::int64_t ranks) {
  std::vector<ForcedChoice> choices;
  const std::string own(kOwn);
  if (asked(settings.algorithms, own) && settings.protocols.empty()) choices.emplace_back();
  for (ForcedChoice& choice : runner.choices(kind, ranks))
    if (asked(settings.algorithms, choice.algorithm) && asked(settings.protocols, choice.protocol))
      choices.push_back(std::move(choice));
  return choices;
}

// A name that no operation knows is a mistake; one that only some know leaves the others out.
void check_names(const RunSettings& settings, const Runner& runner) {
  std::set<std::string> algorithms{std::string(kOwn)}, protocols;
  for (std::size_t k = 0; k < kCollectiveKinds; ++k)
    for (std::int64_t ranks = 1; ranks <= static_cast<std::int64_t>(runner.machine().ranks.size()); ++ranks)
      for (const ForcedChoice& choice : runner.choices(static_cast<CollectiveKind>(k), ranks)) {
        algorithms.insert(choice.algorithm);
        protocols.insert(choice.protocol);
      }
  const auto check = [](const std::vector<std::string>& given, const std::set<std::string>& known,
                        const char* where) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (const std::string& name : given)
      if (!known.contains(name))
        throw Error({.where = where,
                     .expected = names.empty() ? "nothing: none can be forced here" : one_of(names),
                     .given = quoted(name),
                     .suggestion = did_you_mean(name, names)});
  };
  check(settings.algorithms, algorithms, "--algorithm");
  check(settings.protocols, protocols, "--protocol");
}

Bytes rounded(CollectiveKind kind, Bytes size, std::size_t ranks) {
  const std::int64_t grain = divides_by_ranks(kind) ? kGrain * static_cast<std::int64_t>(ranks) : 4;
  return Bytes(size.count() - size.count() % grain);
}

// The points of one size.
void append_level(std::vector<SweepPoint>& points, const RunSettings& settings, const Runner& runner,
                  Bytes size) {
  for (const Members& members : groups_of(runner.machine(), settings.groups))
    for (const CollectiveKind kind : operations_of(settings, runner))
      for (const ForcedChoice& choice :
           choices_of(settings, runner, kind, static_cast<std::int64_t>(members.size()))) {
        const Bytes bytes = rounded(kind, size, members.size());
        if (bytes.count() == 0) continue;
        points.push_back({kind, bytes, members, choice, false});
        if (settings.in_place) points.push_back({kind, bytes, members, choice, true});
      }
}

std::int64_t positive(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

}  // namespace

RunGroup parse_run_group(const std::string& text, const std::string& where) {
  using Kind = RunGroup::Kind;
  if (text == "all") return {Kind::kAll, 0};
  if (text == "hosts") return {Kind::kOnePerHost, 0};
  if (text == "each-host") return {Kind::kEachHost, 0};
  if (text == "neighbours") return {Kind::kNeighbours, 0};
  if (text.starts_with("hosts:") && positive(text.substr(6)) > 0)
    return {Kind::kOnePerHost, positive(text.substr(6))};
  if (text.starts_with("host:") && positive(text.substr(5)) > 0)
    return {Kind::kOfAHost, positive(text.substr(5))};
  throw Error({.where = where,
               .expected = "all, hosts, hosts:K, host:K, each-host or neighbours",
               .given = quoted(text)});
}

std::string SweepPoint::key() const {
  const auto or_own = [](const std::string& name) { return name.empty() ? std::string("-") : name; };
  return fmt::format("{} {} {} {}/{} {}", name_of(operation), size.count(), fmt::join(members, ","),
                     or_own(choice.algorithm), or_own(choice.protocol), in_place ? "in" : "out");
}

std::vector<std::vector<std::uint32_t>> groups_of(const Machine& machine,
                                                  const std::vector<RunGroup>& shapes) {
  const std::vector<Members> hosts = by_host(machine);
  std::vector<Members> groups;
  for (const RunGroup& shape : shapes.empty() ? usual_shapes() : shapes)
    for (Members& members : members_of(shape, hosts)) {
      if (members.size() < std::min<std::size_t>(2, machine.ranks.size())) continue;
      if (std::find(groups.begin(), groups.end(), members) == groups.end())
        groups.push_back(std::move(members));
    }
  return groups;
}

std::vector<std::size_t> coarse_to_fine(std::size_t n) {
  std::vector<std::size_t> order;
  if (n > 0) order.push_back(0);
  if (n > 1) order.push_back(n - 1);
  std::deque<std::pair<std::size_t, std::size_t>> gaps{{0, n > 0 ? n - 1 : 0}};
  for (; !gaps.empty(); gaps.pop_front()) {
    const auto [low, high] = gaps.front();
    if (high - low < 2) continue;
    const std::size_t middle = low + (high - low) / 2;
    order.push_back(middle);
    gaps.emplace_back(low, middle);
    gaps.emplace_back(middle, high);
  }
  return order;
}

std::vector<SweepPoint> plan_sweep(const RunSettings& settings, const Runner& runner) {
  check_names(settings, runner);
  std::vector<SweepPoint> all, points;
  for (const std::size_t i : coarse_to_fine(settings.sizes.size()))
    append_level(all, settings, runner, settings.sizes[i]);
  std::set<std::string> seen;
  for (SweepPoint& point : all)
    if (seen.insert(point.key()).second) points.push_back(std::move(point));
  if (points.empty())
    throw Error({.where = "calibrate --run",
                 .message = "nothing to measure: no operation, group, size and algorithm fit together here"});
  return points;
}

}  // namespace busbar
