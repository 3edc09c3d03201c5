// What the classes of a system's graph leave of it.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "sim/base/error.h"
#include "sim/replay/system.h"
#include "sim/replay/system_graph.h"
#include "sim/symmetry/colour_refinement.h"

namespace busbar {

namespace {

/// The first link that was asked for with each key. Few keys, in turn: those asked for lately are beside the
/// table.
class FirstLinks {
 public:
  std::uint32_t of(std::uint64_t key, std::uint32_t link) {
    Entry& lately = lately_[key % kLately];
    if (lately.is_set && lately.key == key) return lately.link;
    lately = {key, first_.try_emplace(key, link).first->second, true};
    return lately.link;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t link = 0;
    bool is_set = false;
  };
  static constexpr std::size_t kLately = 256;
  std::array<Entry, kLately> lately_{};
  std::unordered_map<std::uint64_t, std::uint32_t> first_;
};

class Merger {
 public:
  Merger(const SystemParts& parts, const SystemColours& colours)
      : parts_(parts),
        outline_(*parts.trace, *parts.calls),
        graph_(parts, outline_, colours),
        neighbours_(neighbours_of(graph_.graph())),
        riders_(graph_.trunks(), [&](const auto& add) {
          for (const SystemGraph::Rider& rider : graph_.riders()) add(rider.trunk, rider.pair);
        }) {
    graph_.free_edges();
    partition_ = refine(graph_.graph(), neighbours_);
    tell_links_apart(colours);
  }

  System merge() {
    sum_usage();
    name_players();
    name_owners();
    return std::move(system_);
  }

 private:
  static constexpr std::uint32_t kNone = System::kNone;

  [[nodiscard]] std::uint32_t class_of(std::uint32_t vertex) const { return partition_.class_of[vertex]; }
  [[nodiscard]] bool stands_for_its_class(std::uint32_t vertex) const {
    return partition_.first[class_of(vertex)] == vertex;
  }
  [[nodiscard]] std::int64_t amount(const EdgeEnd& end) const {
    return static_cast<std::int64_t>(graph_.graph().labels[end.label]);
  }

  // Links without a vertex are loaded alike if the same classes use them alike.
  void tell_links_apart(const SystemColours& colours) {
    system_.links_alike.assign(graph_.links(), 0);
    system_.links_used.assign(graph_.links(), false);
    system_.replayed_as.assign(graph_.links(), kNone);
    std::vector<std::uint64_t> sums(graph_.links(), 0);
    for (const SystemGraph::Use& use : graph_.uses()) {
      sums[use.link] += mix(mix(use.label, 1), class_of(use.user));
      system_.links_used[use.link] = true;
    }
    for (std::size_t trunk = 0; trunk < riders_.size(); ++trunk) add_riders(trunk, sums);
    FirstLinks first_by_use;
    std::unordered_map<std::uint32_t, std::uint32_t> first_of_class;
    for (std::uint32_t id = 0; id < graph_.links(); ++id) {
      if (!system_.links_used[id]) continue;
      const std::uint32_t vertex = graph_.vertex_of_link(id);
      const std::uint32_t first = vertex == kNone
                                      ? first_by_use.of(mix(colours.of_link(id), sums[id]), id)
                                      : first_of_class.try_emplace(class_of(vertex), id).first->second;
      system_.replayed_as[id] = first;
      ++system_.links_alike[first];
    }
  }

  // As if each rider used the links of its trunk.
  void add_riders(std::size_t trunk, std::vector<std::uint64_t>& sums) {
    const std::span<const std::uint32_t> riders = riders_[trunk];
    if (riders.empty()) return;
    std::uint32_t label = kNone;
    std::uint64_t sum = 0;
    for (const SystemGraph::Crossing& crossing : graph_.crossings(trunk)) {
      if (crossing.label != label) {
        label = crossing.label;
        sum = 0;
        for (const std::uint32_t pair : riders) sum += mix(mix(label, 1), class_of(pair));
      }
      sums[crossing.link] += sum;
      system_.links_used[crossing.link] = true;
    }
  }

  /// What a class of channels puts on a link that stands for others.
  struct Flow {
    std::uint32_t link = 0, channels = 0;
    std::int64_t amount = 0;
  };

  // Usage of a class of channels: the flows of all of them over one link of each class.
  void sum_usage() {
    std::vector<Flow> flows;
    for (const SystemGraph::Use& use : graph_.uses())
      if (system_.replayed_as[use.link] == use.link) add_flows(use, flows);
    for (std::size_t trunk = 0; trunk < riders_.size(); ++trunk)
      if (!riders_[trunk].empty()) add_flows_of_riders(trunk, flows);
    std::sort(flows.begin(), flows.end(), [](const Flow& a, const Flow& b) {
      return std::pair(a.link, a.channels) < std::pair(b.link, b.channels);
    });
    for (std::size_t i = 0; i < flows.size();) {
      const Flow& first = flows[i];
      std::int64_t sum = 0;
      for (; i < flows.size() && flows[i].link == first.link && flows[i].channels == first.channels; ++i)
        sum += flows[i].amount;
      const auto [it, is_new] = usage_.try_emplace(first.channels, nullptr);
      if (is_new) it->second = &system_.merged_usage.emplace_back();
      it->second->push_back({ResourceId(first.link), sum});
    }
  }

  void add_flows_of_riders(std::size_t trunk, std::vector<Flow>& flows) const {
    std::map<std::uint32_t, std::int64_t> alike;  // riders, by class
    for (const SystemGraph::Crossing& crossing : graph_.crossings(trunk)) {
      if (system_.replayed_as[crossing.link] != crossing.link) continue;
      if (alike.empty())
        for (const std::uint32_t pair : riders_[trunk]) ++alike[class_of(pair)];
      for (const auto& [pairs, count] : alike)
        flows.push_back({crossing.link, pairs, count * amount({0, crossing.label})});
    }
  }

  void add_flows(const SystemGraph::Use& use, std::vector<Flow>& flows) const {
    const auto add = [&](std::uint32_t channel, std::int64_t amount) {
      flows.push_back({use.link, class_of(channel), amount});
    };
    const std::int64_t own = amount({use.user, use.label});
    if (graph_.carries(use.user)) add(use.user, own);
    if (!graph_.is_segment(use.user)) return;
    for (const EdgeEnd& user : neighbours_[use.user]) {
      if (graph_.is_link(user.vertex)) continue;
      const std::int64_t passes = own * amount(user);
      if (graph_.carries(user.vertex)) add(user.vertex, passes);
      if (!graph_.is_hull(user.vertex)) continue;
      for (const EdgeEnd& channel : neighbours_[user.vertex])
        if (graph_.carries(channel.vertex)) add(channel.vertex, passes * amount(channel));
    }
  }

  // The classes of ranks have the first numbers.
  void name_players() {
    for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
      system_.player_of_rank.push_back(class_of(r));
      if (stands_for_its_class(r)) {
        system_.players.push_back({.rank = r, .alike = 1});
      } else {
        ++system_.players[class_of(r)].alike;
      }
    }
  }

  // The numbers of the classes of owners, in the order of their first members, and how many each has.
  struct Classes {
    std::vector<std::uint32_t> number;  // by class
    std::vector<std::uint32_t> first;   // owner
    std::vector<std::uint64_t> alike;
  };
  template <class VertexOf>
  [[nodiscard]] Classes classes_of(std::size_t owners, const VertexOf& vertex_of) const {
    Classes classes{std::vector<std::uint32_t>(partition_.classes(), kNone), {}, {}};
    for (std::uint32_t o = 0; o < owners; ++o) {
      std::uint32_t& n = classes.number[class_of(vertex_of(o))];
      if (n == kNone) {
        n = static_cast<std::uint32_t>(classes.first.size());
        classes.first.push_back(o);
        classes.alike.push_back(0);
      }
      ++classes.alike[n];
    }
    return classes;
  }

  void name_owners() {
    const auto vertex_of_group = [&](std::uint32_t g) { return graph_.group(g).vertex; };
    const auto vertex_of_pair = [&](std::uint32_t b) { return graph_.pair(b).vertex; };
    const Classes groups = classes_of(outline_.trace().groups.size(), vertex_of_group);
    const Classes pairs = classes_of(outline_.boxes().size(), vertex_of_pair);
    for (std::size_t n = 0; n < groups.first.size(); ++n) {
      const GroupId group(groups.first[n]);
      const auto calls = planned_calls(parts_, outline_.calls(outline_.list_of(group)),
                                       graph_.planned_as(group.value()), groups.alike[n]);
      system_.meetings.push_back({.group = group,
                                  .arrivals = arrivals(graph_.group(group.value()).vertex),
                                  .alike = groups.alike[n],
                                  .calls = merged(calls, graph_.group(group.value()))});
    }
    for (std::size_t n = 0; n < pairs.first.size(); ++n) {
      const SystemOutline::Box& box = outline_.boxes()[pairs.first[n]];
      const auto calls = planned_calls(parts_, outline_.calls(box.list), box, pairs.alike[n]);
      system_.mailboxes.push_back({.from = box.from,
                                   .to = box.to,
                                   .alike = pairs.alike[n],
                                   .calls = merged(calls, graph_.pair(pairs.first[n]))});
    }
    const auto box = [&](std::uint32_t b) {
      return b == kNone ? kNone : pairs.number[class_of(vertex_of_pair(b))];
    };
    for (const Player& player : system_.players) {
      system_.first_meeting.push_back(static_cast<std::uint32_t>(system_.meeting_of.size()));
      for (const GroupId g : outline_.groups_of(player.rank))
        system_.meeting_of.push_back(groups.number[class_of(vertex_of_group(g.value()))]);
      system_.first_box.push_back(static_cast<std::uint32_t>(system_.boxes_of.size()));
      for (const PeerBoxes& b : outline_.boxes_of(player.rank))
        system_.boxes_of.push_back({.out = box(b.out), .in = box(b.in)});
    }
  }

  // A class of members comes once per set of slots.
  [[nodiscard]] std::uint32_t arrivals(std::uint32_t owner) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> distinct;
    for (const EdgeEnd& end : neighbours_[owner])
      if (graph_.is_rank(end.vertex)) distinct.insert({class_of(end.vertex), end.label});
    return static_cast<std::uint32_t>(distinct.size());
  }

  /// Of one owner: the class of each channel, and how many channels of the owner are in each class.
  struct Channels {
    std::map<const ResourceUse*, std::uint32_t> class_of;
    std::map<std::uint32_t, std::int64_t> in_class;
  };

  std::vector<PlannedCall> merged(std::span<const PlannedCall> calls, const SystemGraph::Owner& owner) {
    Channels channels;
    for (const PlannedCall& c : calls)
      for (const PlanPhase& phase : c.planned->plan.phases)
        for (const Strand& s : phase.strands)
          if (!s.usage.empty() && !channels.class_of.contains(s.usage.data())) {
            const auto number = static_cast<std::uint32_t>(channels.class_of.size());
            const std::uint32_t in = class_of(owner.first_channel + number);
            channels.class_of[s.usage.data()] = in;
            ++channels.in_class[in];
          }
    std::vector<PlannedCall> list;
    for (const PlannedCall& c : calls) {
      PlannedOperation& planned = system_.merged.emplace_back(*c.planned);
      planned.alike.clear();
      MergedFrom& from = system_.merged_from.emplace_back();
      for (PlanPhase& phase : planned.plan.phases) {
        auto [strands, alike, firsts] = merged(phase.strands, channels);
        phase.strands = std::move(strands);
        planned.alike.push_back(std::move(alike));
        from.push_back(std::move(firsts));
      }
      list.push_back({c.call, &planned});
    }
    return list;
  }

  // Strands that are equal and run on channels of one class become one strand, which loads what all the class
  // loads; with several of them on each channel, that many strands.
  struct Merged {
    std::vector<Strand> strands;
    std::vector<std::int64_t> alike;
    std::vector<std::uint32_t> firsts;
  };
  Merged merged(std::span<const Strand> strands, const Channels& channels) const {
    using Key = std::tuple<std::uint32_t, double, double, std::int64_t>;
    std::map<Key, std::size_t> known;
    Merged result;
    std::vector<std::int64_t> equal;
    for (std::uint32_t number = 0; number < strands.size(); ++number) {
      const Strand& s = strands[number];
      const std::uint32_t on = s.usage.empty() ? kNone : channels.class_of.at(s.usage.data());
      const auto [it, is_new] =
          known.try_emplace({on, s.volume, s.cap.Bps(), s.multiplicity}, result.strands.size());
      if (!is_new) {
        ++equal[it->second];
        continue;
      }
      equal.push_back(1);
      result.strands.push_back(s);
      result.alike.push_back(on == kNone ? 1 : channels.in_class.at(on));
      result.firsts.push_back(number);
      if (on != kNone) result.strands.back().usage = *usage_.at(on);
    }
    for (std::size_t i = 0; i < equal.size(); ++i) {
      BUSBAR_CHECK(equal[i] % result.alike[i] == 0);
      result.strands[i].multiplicity *= equal[i] / result.alike[i];
    }
    return result;
  }

  SystemParts parts_;
  SystemOutline outline_;
  SystemGraph graph_;
  Neighbours neighbours_;
  Rows<std::uint32_t> riders_;  // pairs, by trunk
  Partition partition_;
  std::map<std::uint32_t, std::vector<ResourceUse>*> usage_;  // by class of channels
  System system_;
};

}  // namespace

System merged_system(const SystemParts& parts, const SystemColours& colours) {
  return Merger(parts, colours).merge();
}

}  // namespace busbar
