// The whole system as a coloured graph, and what its classes leave of it.
//
//   vertices  ranks; meetings; mailboxes; channels (one per usage vector of a group's plans); links
//   edges     rank - meeting (the set of slots that bind it), rank - mailbox (direction and slots),
//             owner - channel (the strands that run on it), channel - link (flows)
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "sim/base/error.h"
#include "sim/replay/system.h"
#include "sim/symmetry/colour_refinement.h"

namespace busbar {

namespace {

// Vertices of different sorts never share a class.
enum Sort : std::uint64_t { kRank = 1, kMeeting, kMailbox, kChannel, kLink };

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

std::uint64_t strand_label(std::uint32_t call, std::size_t phase, const Strand& s) {
  std::uint64_t h = mix(call, phase);
  h = mix(h, bits(s.volume));
  h = mix(h, bits(s.cap.Bps()));
  return mix(h, bits(s.multiplicity));
}

class Merger {
 public:
  Merger(const SystemParts& parts, const System& whole, const SystemColours& colours)
      : parts_(parts), whole_(whole), colours_(colours) {}

  System merge() {
    for (std::uint32_t r = 0; r < whole_.players.size(); ++r)
      graph_.add_vertex(mix(mix(kRank, parts_.index->by_rank[r]), colours_.ranks[r]));
    for (const std::uint64_t colour : colours_.links) graph_.add_vertex(mix(kLink, colour));
    for (const Meeting& m : whole_.meetings) meetings_.push_back(add_owner(kMeeting, m.calls));
    for (const Mailbox& m : whole_.mailboxes) mailboxes_.push_back(add_owner(kMailbox, m.calls));
    join_ranks();
    partition_ = refine(graph_);
    sum_usage();
    name_players();
    name_owners();
    return std::move(system_);
  }

 private:
  static constexpr std::uint32_t kNone = System::kNone;

  // All that the calls' plans hold except which links they cross.
  std::uint32_t add_owner(Sort sort, std::span<const PlannedCall> calls) {
    std::uint64_t colour = sort;
    std::map<std::uint32_t, std::uint64_t> labels;  // channel -> the sum over its strands
    for (const PlannedCall& c : calls) {
      const Plan& plan = c.planned->plan;
      colour = mix(mix(colour, c.call), c.planned->record);
      colour = mix(mix(colour, bits(plan.sms)), bits(plan.tail.ps()));
      colour = mix(colour, bits(plan.memory_bytes_per_byte));
      for (std::size_t p = 0; p < plan.phases.size(); ++p) {
        std::uint64_t nowhere = 0;  // strands that cross no link
        for (const Strand& s : plan.phases[p].strands)
          (s.usage.empty() ? nowhere : labels[channel(s.usage)]) += strand_label(c.call, p, s);
        colour = mix(mix(colour, bits(plan.phases[p].latency.ps())), nowhere);
      }
    }
    const std::uint32_t owner = graph_.add_vertex(colour);
    for (const auto& [channel, label] : labels) graph_.add_edge(owner, channel, label);
    return owner;
  }

  std::uint32_t channel(std::span<const ResourceUse> usage) {
    const auto [it, is_new] = channels_.try_emplace(usage.data(), kNone);
    if (!is_new) return it->second;
    it->second = graph_.add_vertex(kChannel);
    for (const ResourceUse& use : usage) {
      uses_.push_back(static_cast<std::uint32_t>(graph_.edges.size()));
      graph_.add_edge(it->second, vertex_of_link(use.resource.value()), bits(use.flows));
    }
    return it->second;
  }

  // Slots of one rank that mean the same meeting or mailbox make one edge; who is a member without calling
  // has an edge too.
  void join_ranks() {
    for (std::uint32_t m = 0; m < whole_.meetings.size(); ++m)
      for (const std::uint32_t rank : parts_.plans->members(whole_.meetings[m].group))
        slots_[{meetings_[m], rank}] = 0;
    for (std::uint32_t r = 0; r < whole_.players.size(); ++r) {
      const auto& meetings = whole_.meeting_of[r];
      for (std::uint32_t s = 0; s < meetings.size(); ++s) add_slot(meetings_[meetings[s]], r, 2 * s + 1);
      const auto& boxes = whole_.boxes_of[r];
      for (std::uint32_t s = 0; s < boxes.size(); ++s) {
        if (boxes[s].out != kNone) add_slot(mailboxes_[boxes[s].out], r, 2 * s + 1);
        if (boxes[s].in != kNone) add_slot(mailboxes_[boxes[s].in], r, 2 * s + 2);
      }
    }
    for (const auto& [key, label] : slots_) graph_.add_edge(key.first, key.second, label);
  }
  void add_slot(std::uint32_t owner, std::uint32_t rank, std::uint64_t slot) {
    std::uint64_t& label = slots_[{owner, rank}];
    label = mix(label, slot);
  }

  // Ranks and links come first among the vertices: a class goes by its lowest rank, or link.
  [[nodiscard]] std::uint32_t vertex_of_link(std::uint32_t id) const {
    return static_cast<std::uint32_t>(whole_.players.size()) + id;
  }
  [[nodiscard]] std::uint32_t link_of_vertex(std::uint32_t vertex) const {
    return vertex - static_cast<std::uint32_t>(whole_.players.size());
  }
  [[nodiscard]] std::uint32_t class_of(std::uint32_t vertex) const { return partition_.class_of[vertex]; }
  [[nodiscard]] bool stands_for_its_class(std::uint32_t vertex) const {
    return partition_.first[class_of(vertex)] == vertex;
  }

  // Usage of a class of channels: the flows of all of them over one link of each class.
  void sum_usage() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> flows;  // channel class, link
    for (const std::uint32_t e : uses_) {
      const ColouredGraph::Edge& edge = graph_.edges[e];
      if (stands_for_its_class(edge.b))
        flows[{class_of(edge.a), link_of_vertex(edge.b)}] += static_cast<std::int64_t>(edge.label);
    }
    system_.links_alike.assign(colours_.links.size(), 0);
    for (std::uint32_t id = 0; id < colours_.links.size(); ++id)
      ++system_.links_alike[link_of_vertex(partition_.first[class_of(vertex_of_link(id))])];
    for (const auto& [key, sum] : flows) {
      const auto [it, is_new] = usage_.try_emplace(key.first, nullptr);
      if (is_new) it->second = &system_.merged_usage.emplace_back();
      it->second->push_back({ResourceId(key.second), sum});
    }
  }

  // The classes of ranks have the first numbers.
  void name_players() {
    for (std::uint32_t r = 0; r < whole_.players.size(); ++r) {
      system_.player_of_rank.push_back(class_of(r));
      if (stands_for_its_class(r)) {
        system_.players.push_back({.rank = r, .alike = 1});
      } else {
        ++system_.players[class_of(r)].alike;
      }
    }
  }

  void name_owners() {
    std::vector<std::uint32_t> number(partition_.classes(), kNone);
    for (std::size_t m = 0; m < meetings_.size(); ++m) {
      std::uint32_t& n = number[class_of(meetings_[m])];
      if (n == kNone) {
        n = static_cast<std::uint32_t>(system_.meetings.size());
        const Meeting& whole = whole_.meetings[m];
        system_.meetings.push_back({.group = whole.group,
                                    .arrivals = arrivals(meetings_[m]),
                                    .alike = 0,
                                    .calls = merged(whole.calls)});
      }
      ++system_.meetings[n].alike;
    }
    for (std::size_t m = 0; m < mailboxes_.size(); ++m) {
      std::uint32_t& n = number[class_of(mailboxes_[m])];
      if (n == kNone) {
        n = static_cast<std::uint32_t>(system_.mailboxes.size());
        const Mailbox& whole = whole_.mailboxes[m];
        system_.mailboxes.push_back(
            {.from = whole.from, .to = whole.to, .alike = 0, .calls = merged(whole.calls)});
      }
      ++system_.mailboxes[n].alike;
    }
    const auto box = [&](std::uint32_t m) { return m == kNone ? kNone : number[class_of(mailboxes_[m])]; };
    for (const Player& player : system_.players) {
      auto& meetings = system_.meeting_of.emplace_back();
      for (const std::uint32_t m : whole_.meeting_of[player.rank])
        meetings.push_back(number[class_of(meetings_[m])]);
      auto& boxes = system_.boxes_of.emplace_back();
      for (const System::PeerBoxes& b : whole_.boxes_of[player.rank])
        boxes.push_back({.out = box(b.out), .in = box(b.in)});
    }
  }

  // A class of members comes once per set of slots.
  [[nodiscard]] std::uint32_t arrivals(std::uint32_t owner) const {
    std::set<std::pair<std::uint32_t, std::uint64_t>> distinct;
    for (auto it = slots_.lower_bound({owner, 0}); it != slots_.end() && it->first.first == owner; ++it)
      distinct.insert({class_of(it->first.second), it->second});
    return static_cast<std::uint32_t>(distinct.size());
  }

  std::vector<PlannedCall> merged(std::span<const PlannedCall> calls) {
    std::map<std::uint32_t, std::set<std::uint32_t>> channels;  // of this owner, by class
    for (const PlannedCall& c : calls)
      for (const PlanPhase& phase : c.planned->plan.phases)
        for (const Strand& s : phase.strands)
          if (!s.usage.empty()) {
            const std::uint32_t vertex = channels_.at(s.usage.data());
            channels[class_of(vertex)].insert(vertex);
          }
    std::vector<PlannedCall> list;
    for (const PlannedCall& c : calls) {
      PlannedOperation& planned = system_.merged.emplace_back(*c.planned);
      planned.alike.clear();
      for (PlanPhase& phase : planned.plan.phases) {
        auto [strands, alike] = merged(phase.strands, channels);
        phase.strands = std::move(strands);
        planned.alike.push_back(std::move(alike));
      }
      list.push_back({c.call, &planned});
    }
    return list;
  }

  // Strands that are equal and run on channels of one class become one strand, which loads what all the class
  // loads; with several of them on each channel, that many strands.
  using Merged = std::pair<std::vector<Strand>, std::vector<std::int64_t>>;
  Merged merged(std::span<const Strand> strands,
                const std::map<std::uint32_t, std::set<std::uint32_t>>& channels) const {
    using Key = std::tuple<std::uint32_t, double, double, std::int64_t>;
    std::map<Key, std::size_t> known;
    Merged result;
    std::vector<std::int64_t> equal;
    for (const Strand& s : strands) {
      const std::uint32_t on = s.usage.empty() ? kNone : class_of(channels_.at(s.usage.data()));
      const auto [it, is_new] =
          known.try_emplace({on, s.volume, s.cap.Bps(), s.multiplicity}, result.first.size());
      if (!is_new) {
        ++equal[it->second];
        continue;
      }
      equal.push_back(1);
      result.first.push_back(s);
      result.second.push_back(on == kNone ? 1 : static_cast<std::int64_t>(channels.at(on).size()));
      if (on != kNone) result.first.back().usage = *usage_.at(on);
    }
    for (std::size_t i = 0; i < equal.size(); ++i) {
      BUSBAR_CHECK(equal[i] % result.second[i] == 0);
      result.first[i].multiplicity *= equal[i] / result.second[i];
    }
    return result;
  }

  SystemParts parts_;
  const System& whole_;
  const SystemColours& colours_;
  ColouredGraph graph_;
  Partition partition_;
  std::vector<std::uint32_t> meetings_, mailboxes_;  // vertices
  std::unordered_map<const ResourceUse*, std::uint32_t> channels_;
  std::vector<std::uint32_t> uses_;                                         // edges from channels to links
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> slots_;  // owner, rank -> label
  std::map<std::uint32_t, std::vector<ResourceUse>*> usage_;                // by class of channels
  System system_;
};

}  // namespace

System merged_system(const SystemParts& parts, const System& whole, const SystemColours& colours) {
  return Merger(parts, whole, colours).merge();
}

}  // namespace busbar
