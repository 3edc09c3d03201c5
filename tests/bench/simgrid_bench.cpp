// The benchmark's workloads as a user of SimGrid writes them: one actor per rank, each round of a ring a send
// to the next rank and a receive from the one before.   simgrid_bench ring|all_pairs|fsdp|spine RANKS
// [OPTION...] prints the simulated seconds; OPTIONs are SimGrid's own. CM02 without cross traffic, TCP window
// and size weights is plain max-min fairness (SimGrid's manual, "Configuring SimGrid"). alpha is 1 us from
// rank to rank: half in each of its two cables.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace {

namespace sg = simgrid::s4u;

constexpr double kLink_Bps = 50e9;
constexpr double kCableLatency_s = 0.5e-6;
constexpr std::uint64_t kRingBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kAllPairsBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kBlockBytes = std::uint64_t{416} << 20;
constexpr int kBlocks = 32;
constexpr double kForward_s = 10e-3, kBackward_s = 20e-3;  // as in workloads.py

int token = 0;  // what messages carry

/// A ring over some of the ranks, as one of its members sees it.
class RingMember {
 public:
  RingMember(const std::string& ring, std::size_t place, std::size_t size)
      : size_(size),
        in_(sg::Mailbox::by_name(ring + std::to_string(place))),
        out_(sg::Mailbox::by_name(ring + std::to_string((place + 1) % size))) {}

  /// Each round passes an n-th of the buffer on. all_gather and reduce_scatter take n - 1 rounds, all_reduce
  /// twice that.
  void rounds(std::size_t count, std::uint64_t bytes) const {
    for (std::size_t i = 0; i < count; ++i) {
      const sg::CommPtr sent = out_->put_async(&token, bytes / size_);
      in_->get<int>();
      sent->wait();
    }
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  sg::Mailbox* in_;
  sg::Mailbox* out_;
};

std::string name(const char* what, std::size_t i) { return what + std::to_string(i); }

/// Hosts on one switch, a cable each.
std::vector<sg::Host*> one_switch(std::size_t ranks) {
  sg::NetZone* zone = sg::create_star_zone("switch");
  std::vector<sg::Host*> hosts;
  for (std::size_t i = 0; i < ranks; ++i) {
    hosts.push_back(zone->create_host(name("h", i), 1e12));
    const auto* link =
        zone->create_split_duplex_link(name("l", i), kLink_Bps)->set_latency(kCableLatency_s)->seal();
    zone->add_route(hosts.back()->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg::LinkInRoute::Direction::UP}}, true);
  }
  zone->seal();
  return hosts;
}

constexpr std::size_t kRingRanks = 8, kRings = 64, kPerLeaf = 32, kLeaves = kRingRanks * kRings / kPerLeaf;

/// 16 leaves of 32 hosts, each with a quarter of its hosts' bandwidth to the spine. Ring r has one rank on
/// each of eight leaves; only the routes that rings take are declared.
class Spine {
 public:
  Spine() : zone_(sg::create_full_zone("spine")) {
    for (std::size_t i = 0; i < kRingRanks * kRings; ++i) {
      hosts_.push_back(zone_->create_host(name("h", i), 1e12));
      up_.push_back(link(name("up", i), kLink_Bps, kCableLatency_s));
      down_.push_back(link(name("down", i), kLink_Bps, kCableLatency_s));
    }
    for (std::size_t i = 0; i < kLeaves; ++i) {
      leaf_up_.push_back(link(name("leafup", i), kLink_Bps * kPerLeaf / 4, 0));
      leaf_down_.push_back(link(name("leafdown", i), kLink_Bps * kPerLeaf / 4, 0));
    }
    for (std::size_t ring = 0; ring < kRings; ++ring)
      for (std::size_t i = 0; i < kRingRanks; ++i) add_route(rank(ring, i), rank(ring, (i + 1) % kRingRanks));
    zone_->seal();
  }
  [[nodiscard]] static std::size_t rank(std::size_t ring, std::size_t place) {
    return (ring / kPerLeaf * kRingRanks + place) * kPerLeaf + ring % kPerLeaf;
  }
  [[nodiscard]] const std::vector<sg::Host*>& hosts() const { return hosts_; }

 private:
  sg::Link* link(const std::string& id, double Bps, double latency_s) {
    return zone_->create_link(id, Bps)->set_latency(latency_s)->seal();
  }
  void add_route(std::size_t from, std::size_t to) {
    zone_->add_route(hosts_[from]->get_netpoint(), hosts_[to]->get_netpoint(), nullptr, nullptr,
                     {sg::LinkInRoute(up_[from]), sg::LinkInRoute(leaf_up_[from / kPerLeaf]),
                      sg::LinkInRoute(leaf_down_[to / kPerLeaf]), sg::LinkInRoute(down_[to])},
                     false);
  }

  sg::NetZone* zone_;
  std::vector<sg::Host*> hosts_;
  std::vector<sg::Link*> up_, down_, leaf_up_, leaf_down_;
};

/// One ring over all ranks; `program` is each rank's.
void on_one_ring(std::size_t ranks, const std::function<void(const RingMember&)>& program) {
  const std::vector<sg::Host*> hosts = one_switch(ranks);
  for (std::size_t i = 0; i < ranks; ++i)
    sg::Actor::create("rank", hosts[i], [i, ranks, program] { program(RingMember("r", i, ranks)); });
}

void ring(std::size_t ranks) {
  on_one_ring(ranks, [](const RingMember& me) { me.rounds(2 * (me.size() - 1), kRingBytes); });
}

void all_pairs(std::size_t ranks) {
  const std::vector<sg::Host*> hosts = one_switch(ranks);
  for (std::size_t i = 0; i < ranks; ++i)
    sg::Actor::create("rank", hosts[i], [i, hosts] {
      std::vector<sg::CommPtr> comms;
      for (std::size_t k = 1; k < hosts.size(); ++k)
        comms.push_back(
            sg::Comm::sendto_async(hosts[i], hosts[(i + k) % hosts.size()], kAllPairsBytes / hosts.size()));
      sg::Comm::wait_all(comms);
    });
}

/// Forward: gather a block, compute it. Backward: gather it again, compute, scatter its gradients.
void fsdp(std::size_t ranks) {
  on_one_ring(ranks, [](const RingMember& me) {
    for (int block = 0; block < kBlocks; ++block) {
      me.rounds(me.size() - 1, kBlockBytes);
      sg::this_actor::sleep_for(kForward_s);
    }
    for (int block = 0; block < kBlocks; ++block) {
      me.rounds(me.size() - 1, kBlockBytes);
      sg::this_actor::sleep_for(kBackward_s);
      me.rounds(me.size() - 1, kBlockBytes);
    }
  });
}

void spine(std::size_t) {
  const Spine network;
  for (std::size_t r = 0; r < kRings; ++r)
    for (std::size_t i = 0; i < kRingRanks; ++i)
      sg::Actor::create("rank", network.hosts()[Spine::rank(r, i)], [r, i] {
        RingMember(name("ring", r) + ".", i, kRingRanks).rounds(2 * (kRingRanks - 1), kRingBytes);
      });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(std::size_t)> workloads = {
      {"ring", ring}, {"all_pairs", all_pairs}, {"fsdp", fsdp}, {"spine", spine}};
  std::vector<std::string> words = {argv[0],
                                    "--log=root.threshold:error",
                                    "--cfg=network/model:CM02",
                                    "--cfg=network/crosstraffic:0",
                                    "--cfg=network/TCP-gamma:0",
                                    "--cfg=network/weight-S:0"};
  for (int i = 3; i < argc; ++i) words.emplace_back(argv[i]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  sg::Engine engine(&count, arguments.data());
  if (argc < 3 || workloads.count(argv[1]) == 0) {
    std::fprintf(stderr, "usage: simgrid_bench ring|all_pairs|fsdp|spine RANKS [--cfg=...]\n");
    return 2;
  }
  workloads.at(argv[1])(std::stoul(argv[2]));
  engine.run();
  std::printf("%.12g\n", sg::Engine::get_clock());
  return 0;
}
