// The whole system as a coloured graph, for refinement.
//
//   vertices  ranks; links that several use; groups; pairs; channels (one per usage vector of a group's
//   plans); segments (the
//             part of a route that many pairs share, from a GPU through its NIC or back); hulls (all segments
//             at the ends of a group)
//   edges     rank - group (the set of slots that bind it), rank - pair (direction and slots),
//             owner - channel (the strands that run on it), channel or pair - segment (how often it passes),
//             channel - hull - segment (once), channel, pair or segment - link (flows)
//
// A link that others imply sets nobody apart, and one that a single vertex uses sets only that one apart: it
// colours its user instead of being a vertex. Who uses which link is kept beside the graph.
//
// Groups inside one host, groups with one member per host, and pairs are planned once for all that are alike:
// their hosts have one shape, their members the same places in it (or places that look alike), and their
// messages the same way between the hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/replay/place_kinds.h"
#include "sim/replay/system.h"
#include "sim/replay/system_outline.h"
#include "sim/symmetry/colour_refinement.h"

namespace busbar {

class SystemGraph {
 public:
  /// Borrows its arguments.   Errors (Error, kInput): what planning a call on a group says.
  SystemGraph(const SystemParts& parts, const SystemOutline& outline, const SystemColours& colours);

  /// A group or a pair.
  struct Owner {
    std::uint32_t vertex = 0;
    std::uint32_t first_channel = 0;  // vertices of its channels, in the order in which its plans name them
  };
  [[nodiscard]] const ColouredGraph& graph() const { return graph_; }
  /// A channel, pair or segment that crosses a link.
  struct Use {
    std::uint32_t user = 0, link = 0;
    std::uint32_t label = 0;  // number in graph().labels: the flows
  };
  [[nodiscard]] std::span<const Use> uses() const { return uses_; }
  /// What messages between two switches cross, where others imply all of it: the same for all pairs there.
  struct Trunk {
    std::uint32_t to = 0;                      // switch
    std::uint32_t earlier = PeerBoxes::kNone;  // from the same one
    std::uint32_t first_crossing = 0, end_crossing = 0;
    std::uint32_t number = 0;  // of what latency depends on
    bool is_usable = false, is_implied = false;
  };
  struct Crossing {
    std::uint32_t link = 0, label = 0;  // as in Use
  };
  struct Rider {
    std::uint32_t pair = 0, trunk = 0;  // vertex
  };
  [[nodiscard]] std::size_t trunks() const { return trunks_.size(); }
  [[nodiscard]] std::span<const Crossing> crossings(std::size_t trunk) const {
    const Trunk& t = trunks_[trunk];
    return std::span(crossings_).subspan(t.first_crossing, t.end_crossing - t.first_crossing);
  }
  /// Pairs whose way between the switches stands here and not among the uses.
  [[nodiscard]] std::span<const Rider> riders() const { return riders_; }
  /// Gives back the memory of the graph's edges.
  void free_edges() { graph_.edges = std::vector<ColouredGraph::Edge>(); }
  [[nodiscard]] const Owner& group(std::uint32_t g) const { return groups_[g]; }
  /// A group whose plans are those of `g` but for the links that they cross.
  [[nodiscard]] GroupId planned_as(std::uint32_t g) const { return planned_as_[g]; }
  [[nodiscard]] const Owner& pair(std::uint32_t box) const { return pairs_[box]; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t links() const { return links_; }
  [[nodiscard]] bool is_rank(std::uint32_t vertex) const { return vertex < ranks_; }
  /// None: nobody crosses it, one user alone does (and has its colour), or others imply it.
  [[nodiscard]] std::uint32_t vertex_of_link(std::uint32_t id) const { return vertex_of_link_[id]; }
  [[nodiscard]] bool is_link(std::uint32_t vertex) const { return vertex >= first_link_vertex_; }
  // Requires: neither a rank nor a link.
  [[nodiscard]] bool is_segment(std::uint32_t vertex) const { return kind(vertex) == kSegment; }
  [[nodiscard]] bool is_hull(std::uint32_t vertex) const { return kind(vertex) == kHull; }
  [[nodiscard]] bool carries(std::uint32_t vertex) const {  // a channel, or a pair that is its own
    return kind(vertex) == kCarrier;
  }

 private:
  enum Kind : std::uint8_t { kOther, kSegment, kHull, kCarrier };
  // Vertices of different sorts never share a class.
  enum Sort : std::uint64_t {
    kRankSort = 1,
    kGroupSort,
    kPairSort,
    kChannelSort,
    kLinkSort,
    kEndSegmentSort,
    kHullSort
  };
  static constexpr std::uint64_t kOnce = 1;  // label of an edge to a segment
  /// A usage vector of an owner's plans, and the strands on it.
  struct Channel {
    std::uint64_t strands = 0;
    std::vector<ResourceUse> uses;
    const ResourceUse* data = nullptr;  // the vector itself
  };
  /// What an owner looks like in the graph.
  struct Sketch {
    std::uint64_t colour = 0;  // all that its plans hold except which links they cross
    std::vector<Channel> channels;
  };
  using Key = std::vector<std::uint32_t>;
  [[nodiscard]] Kind kind(std::uint32_t vertex) const { return kinds_[vertex - ranks_]; }

  std::uint32_t add_vertex(std::uint64_t colour, Kind kind);
  [[nodiscard]] static Sketch sketch_of(std::uint64_t sort, std::span<const PlannedCall> calls);
  void add_group(GroupId group);
  void add_pair(const SystemOutline::Box& box);
  [[nodiscard]] bool is_one_per_island(std::span<const std::uint32_t> members);
  [[nodiscard]] std::uint32_t number_of(const RouteRef& way);
  /// With an island: the sketch is in the numbers of its representative.
  [[nodiscard]] Owner add_owner(const Sketch& sketch, std::uint32_t island = kNoHost);
  // Owners that are planned once for all that are alike; none: this one is not among those.
  [[nodiscard]] std::optional<Owner> add_inside(Key key, std::uint32_t island,
                                                const std::function<Sketch()>& planned);
  /// Of a member that is alone on its host.
  struct End {
    DeviceId gpu, nic;
    LinkId out_cable, in_cable;
    DeviceId out_switch, in_switch;
  };
  using Ends = std::vector<End>;  // by member
  /// A channel as the transfers between members that it adds up.
  struct Spread {
    std::uint64_t strands = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> transfers = {};
    bool is_everyone = false;  // everyone sends once and receives once
  };
  /// Groups whose members are alike.
  struct Across {
    GroupId first;
    bool is_usable = false, has_rounds = false;
    std::uint64_t colour = 0;
    std::vector<Spread> channels = {};
    std::vector<std::uint32_t> ways = {};  // what they are between the hosts, as middles_of notes them
  };
  using Middles = std::vector<std::vector<ResourceUse>>;  // by channel
  struct SegmentsOfEnds {
    std::vector<std::uint32_t> out, in;  // by member
    std::uint32_t hull = PeerBoxes::kNone;
  };
  [[nodiscard]] std::optional<Owner> add_across_hosts(GroupId group, std::span<const std::uint32_t> members);
  [[nodiscard]] std::optional<Ends> ends_of(std::span<const std::uint32_t> members);
  [[nodiscard]] bool messages_take_these(const Ends& ends) const;
  void plan_across(Across& across, const Ends& ends);
  [[nodiscard]] static std::optional<Spread> spread_of(std::uint64_t strands, std::uint32_t n,
                                                       std::span<const RoundTransfer> transfers);
  [[nodiscard]] std::optional<Middles> middles_of(Across& across, const Ends& ends, bool is_first);
  [[nodiscard]] Owner add_owner_across(const Across& across, const Ends& ends, const Middles& middles);
  void join_to_ends(std::uint32_t channel, const Spread& spread, const SegmentsOfEnds& segments);
  [[nodiscard]] std::optional<Owner> add_between_hosts(const SystemOutline::Box& box);
  /// The sketch in the numbers of the representative island; false if it leaves `island`.
  [[nodiscard]] bool localise(Sketch& sketch, std::uint32_t island) const;
  /// Whether the links of `island` have the capacities of the representative's.
  [[nodiscard]] bool fits(const Sketch& sketch, std::uint32_t island) const;
  /// The island of all members (then `key` names their places), or kNoHost.
  [[nodiscard]] std::uint32_t island_of(std::span<const std::uint32_t> members, Key& key) const;
  void add_use(std::uint32_t vertex, LinkId link, std::int64_t flows);
  [[nodiscard]] std::optional<std::uint32_t> trunk_between(DeviceId out, DeviceId in);
  [[nodiscard]] Trunk made_trunk(DeviceId out, DeviceId in);
  [[nodiscard]] const std::vector<ResourceUse>& way_inside(DeviceId from, DeviceId to);
  [[nodiscard]] std::uint32_t end_segment(DeviceId from, DeviceId to, std::optional<LinkId> cable);
  [[nodiscard]] DeviceId device(std::uint32_t rank) const { return parts_.placement->device(rank); }
  void add_links(const SystemColours& colours);
  void join_ranks_and_groups();
  void join_ranks_and_pairs();

  SystemParts parts_;
  const SystemOutline& outline_;
  ColouredGraph graph_;
  std::uint32_t ranks_ = 0, links_ = 0;
  std::vector<Kind> kinds_;  // of the vertices between ranks and links
  std::uint32_t first_link_vertex_ = 0;
  std::vector<std::uint32_t> vertex_of_link_;
  std::vector<Use> uses_;
  std::vector<Owner> groups_, pairs_;
  std::vector<GroupId> planned_as_;              // by group
  std::map<Key, std::optional<Sketch>> inside_;  // none: it leaves the island
  struct PairKey {
    std::uint32_t list, from, to, out, in, path;
    bool operator==(const PairKey&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const PairKey& k) const {
      return mix(mix(mix(k.list, k.from), mix(k.to, k.out)), mix(k.in, k.path));
    }
  };
  // Colours of pairs; none: not of one channel.
  std::unordered_map<PairKey, std::optional<std::uint64_t>, PairHash> between_;
  PlaceKinds place_kinds_;
  std::map<Key, Across> across_;
  std::vector<PathSummary> paths_;
  struct NumberedWay {
    const PathSummary* summary = nullptr;
    std::uint32_t rise = 0, fall = 0;  // specs
    std::uint32_t number = 0;
  };
  NumberedWay last_way_;
  std::vector<std::uint32_t> island_seen_;  // by island: the last group that was looked at, and one
  std::vector<Trunk> trunks_;
  std::vector<Crossing> crossings_;
  std::vector<Rider> riders_;
  std::vector<std::uint32_t> last_trunk_from_;  // by device
  struct EndSegment {
    std::uint32_t to = 0, vertex = 0;
    std::uint32_t earlier = PeerBoxes::kNone;
  };
  std::vector<EndSegment> end_segments_;
  std::vector<std::uint32_t> last_segment_from_;  // by device: the end of its chain of segments
  // By the devices that stand for both ends, in the links of their island.
  std::unordered_map<std::uint64_t, std::vector<ResourceUse>> ways_to_nics_;
};

}  // namespace busbar
