// The same graphs and transfers in SimGrid, another simulator of flows that share links max-min fairly.
// Its model CM02 without cross traffic, TCP window and size weights is the one that "ideal" should be.
// Source: Casanova et al., JPDC 74(10), 2014; Velho & Legrand, SIMUTools 2009.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <simgrid/s4u.hpp>

#include "tests/support/inline.h"

namespace busbar {
namespace {

namespace sg = simgrid::s4u;

constexpr double kTolerance = 0.01;

/// A network of hosts, each with a cable up and a cable down, under leaves with a cable each to one spine.
/// hosts_per_leaf 0: all on one switch.
struct Network {
  std::vector<double> host_GBps;
  double latency_us = 0;  // of each cable
  std::size_t hosts_per_leaf = 0;
  double leaf_GBps = 0;
};

struct Send {
  std::size_t from = 0, to = 0;
  std::int64_t bytes = 0;
};

/// SimGrid keeps one engine per process: every run gets a process of its own.
double in_child(const std::function<double()>& simulated_seconds) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::fflush(nullptr);  // or the child prints what waits in the buffers once more
  const pid_t child = fork();
  if (child == 0) {
    const double seconds = simulated_seconds();
    _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  close(ends[1]);
  double seconds = -1;
  if (read(ends[0], &seconds, sizeof seconds) != sizeof seconds) seconds = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return seconds;
}

/// The network as a SimGrid platform.
class Platform {
 public:
  explicit Platform(const Network& network) : network_(network), zone_(sg::create_full_zone("net")) {
    for (std::size_t i = 0; i < network.host_GBps.size(); ++i) {
      hosts_.push_back(zone_->create_host("h" + std::to_string(i), 1e9));
      up_.push_back(link("up" + std::to_string(i), network.host_GBps[i]));
      down_.push_back(link("down" + std::to_string(i), network.host_GBps[i]));
    }
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
      leaf_up_.push_back(link("leafup" + std::to_string(leaf), network.leaf_GBps));
      leaf_down_.push_back(link("leafdown" + std::to_string(leaf), network.leaf_GBps));
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      for (std::size_t j = 0; j < hosts_.size(); ++j)
        if (i != j) add_route(i, j);
    zone_->seal();
  }
  [[nodiscard]] sg::Host* host(std::size_t i) const { return hosts_[i]; }

 private:
  [[nodiscard]] std::size_t leaves() const {
    return network_.hosts_per_leaf == 0 ? 0 : network_.host_GBps.size() / network_.hosts_per_leaf;
  }
  sg::Link* link(const std::string& name, double GBps) {
    return zone_->create_link(name, GBps * 1e9)->set_latency(network_.latency_us * 1e-6)->seal();
  }
  void add_route(std::size_t from, std::size_t to) {
    std::vector<sg::LinkInRoute> links = {sg::LinkInRoute(up_[from])};
    if (leaves() > 0 && from / network_.hosts_per_leaf != to / network_.hosts_per_leaf) {
      links.emplace_back(leaf_up_[from / network_.hosts_per_leaf]);
      links.emplace_back(leaf_down_[to / network_.hosts_per_leaf]);
    }
    links.emplace_back(down_[to]);
    zone_->add_route(hosts_[from]->get_netpoint(), hosts_[to]->get_netpoint(), nullptr, nullptr, links,
                     false);
  }

  const Network& network_;
  sg::NetZone* zone_;
  std::vector<sg::Host*> hosts_;
  std::vector<sg::Link*> up_, down_, leaf_up_, leaf_down_;
};

double run_simgrid(const Network& network, const std::function<void(const Platform&)>& start) {
  return in_child([&] {
    std::vector<std::string> words = {"test", "--log=root.threshold:error", "--cfg=network/model:CM02",
                                      "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0",
                                      "--cfg=network/weight-S:0",
                                      // Lazy updates, the default, send more than a link's capacity over it
                                      // in SimGrid 3.32's run of the uneven all-to-all below.
                                      "--cfg=network/optim:Full"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    sg::Engine engine(&argc, argv.data());
    const Platform platform(network);
    start(platform);
    engine.run();
    return sg::Engine::get_clock();
  });
}

double simgrid_sends(const Network& network, const std::vector<Send>& sends) {
  return run_simgrid(network, [&](const Platform& platform) {
    sg::Actor::create("all", platform.host(0), [&] {
      std::vector<sg::CommPtr> comms;
      for (const Send& s : sends)
        comms.push_back(sg::Comm::sendto_async(platform.host(s.from), platform.host(s.to),
                                               static_cast<std::uint64_t>(s.bytes)));
      sg::Comm::wait_all(comms);
    });
  });
}

/// 2 (n - 1) rounds in which every rank passes a chunk to the next one.
double simgrid_ring_all_reduce(const Network& network, std::int64_t bytes) {
  const std::size_t n = network.host_GBps.size();
  const auto chunk = static_cast<std::uint64_t>(bytes) / n;
  return run_simgrid(network, [&](const Platform& platform) {
    for (std::size_t i = 0; i < n; ++i) {
      sg::Actor::create("rank", platform.host(i), [=] {
        static int token = 0;
        void* received = nullptr;
        for (std::size_t round = 0; round < 2 * (n - 1); ++round) {
          std::vector<sg::CommPtr> both = {
              sg::Mailbox::by_name(std::to_string((i + 1) % n))->put_async(&token, chunk),
              sg::Mailbox::by_name(std::to_string(i))->get_async<void>(&received)};
          sg::Comm::wait_all(both);
        }
      });
    }
  });
}

std::string cable(const std::string& from, const std::string& to, double GBps, double us) {
  return fmt::format(
      R"(, {{"from": "{}", "to": "{}", "bandwidth": "{} GB/s", "latency": "{} us", "type": "rdma"}})", from,
      to, GBps, us);
}

/// The network as one GPU and one NIC per host. The GPU's own link is too wide to matter.
Topology topology_of(const Network& network) {
  std::string devices = R"({"id": "spine", "kind": "switch"})";
  std::string links;
  const auto leaf_of = [&](std::size_t i) {
    return network.hosts_per_leaf == 0 ? std::string("spine")
                                       : fmt::format("leaf{}", i / network.hosts_per_leaf);
  };
  for (std::size_t i = 0; i < network.host_GBps.size(); ++i) {
    devices += fmt::format(
        R"(, {{"id": "g{0}", "kind": "gpu", "host": "h{0}"}}, {{"id": "n{0}", "kind": "nic", "host": "h{0}"}})",
        i);
    links += fmt::format(R"({}{{"from": "g{}", "to": "n{}", "bandwidth": "1 TB/s", "latency": "0 s"}})",
                         i == 0 ? "" : ", ", i, i);
    links += cable(fmt::format("n{}", i), leaf_of(i), network.host_GBps[i], network.latency_us);
    if (network.hosts_per_leaf == 0 || i % network.hosts_per_leaf != 0) continue;
    devices += fmt::format(R"(, {{"id": "{}", "kind": "switch"}})", leaf_of(i));
    links += cable(leaf_of(i), "spine", network.leaf_GBps, network.latency_us);
  }
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "net", "devices": [{}], "links": [{}]}})", devices, links));
}

double busbar_ring_all_reduce(const Network& network, std::int64_t bytes) {
  const std::string op = fmt::format(
      R"({{"id": "x", "op": "all_reduce", "stream": "s", "group": "all", "type": "fp32", "bytes": "{} B"}})",
      bytes);
  const auto ranks = static_cast<int>(network.host_GBps.size());
  return simulate_ideal(topology_of(network), trace_from(one_program(ranks, op))).step_time.seconds();
}

/// All sends at once: each rank posts its own, and the receives that match, as one batch.
double busbar_sends(const Network& network, const std::vector<Send>& sends) {
  std::vector<std::string> batches(network.host_GBps.size());
  const auto post = [&](std::size_t rank, const std::string& transfer) {
    batches[rank] += (batches[rank].empty() ? "" : ", ") + transfer;
  };
  for (const Send& s : sends) {
    post(s.from, fmt::format(R"({{"op": "send", "to": {}, "bytes": "{} B"}})", s.to, s.bytes));
    post(s.to, fmt::format(R"({{"op": "recv", "from": {}, "bytes": "{} B"}})", s.from, s.bytes));
  }
  std::string programs, bindings;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const std::string ops =
        batches[i].empty()
            ? ""
            : fmt::format(R"({{"id": "b", "op": "batch", "stream": "s", "ops": [{}]}})", batches[i]);
    programs += fmt::format(R"({}"p{}": {{"ops": [{}]}})", i == 0 ? "" : ", ", i, ops);
    bindings += fmt::format(R"({}{{"ranks": [{}], "program": "p{}"}})", i == 0 ? "" : ", ", i, i);
  }
  const StepTrace trace = trace_from(fmt::format(
      R"({{"schema": "busbar.trace/1", "programs": {{{}}}, "bindings": [{}]}})", programs, bindings));
  return simulate_ideal(topology_of(network), trace).step_time.seconds();
}

void expect_same(double busbar, double simgrid) {
  ASSERT_GT(simgrid, 0);
  EXPECT_NEAR(busbar, simgrid, kTolerance * simgrid);
}

void expect_same_sends(const Network& network, const std::vector<Send>& sends) {
  expect_same(busbar_sends(network, sends), simgrid_sends(network, sends));
}

TEST(SimGrid, AgreesOnARingAllReduce) {
  for (const std::size_t n : {2U, 3U, 4U, 8U, 16U}) {
    const Network star{.host_GBps = std::vector<double>(n, 50), .latency_us = 2};
    for (const std::int64_t per_rank : {4'000, 1'000'000, 100'000'000}) {
      const std::int64_t bytes = per_rank * static_cast<std::int64_t>(n);
      SCOPED_TRACE(testing::Message() << n << " ranks, " << bytes << " bytes");
      expect_same(busbar_ring_all_reduce(star, bytes), simgrid_ring_all_reduce(star, bytes));
    }
  }
}

TEST(SimGrid, AgreesOnARingWithOneSlowLink) {
  const Network star{.host_GBps = {50, 50, 50, 12.5, 50, 50}};
  expect_same(busbar_ring_all_reduce(star, 600'000'000), simgrid_ring_all_reduce(star, 600'000'000));
}

// Four flows of 50 GB/s over cables of 100 GB/s.
// it.
TEST(SimGrid, AgreesOnSendsThatShareTheSpine) {
  const Network network{.host_GBps = std::vector<double>(8, 50), .hosts_per_leaf = 4, .leaf_GBps = 100};
  std::vector<Send> sends;
  for (std::size_t i = 0; i < 4; ++i) sends.push_back({i, i + 4, 100'000'000});
  expect_same_sends(network, sends);
  // Unequal sizes end one after the other, and the rest speeds up each time; one stays under its leaf.
  sends = {
      {0, 4, 400'000'000}, {1, 5, 100'000'000}, {2, 6, 50'000'000}, {3, 2, 300'000'000}, {7, 0, 250'000'000}};
  expect_same_sends(network, sends);
}

TEST(SimGrid, AgreesOnSendsIntoOneHost) {
  const Network network{.host_GBps = {50, 25, 50, 10}, .latency_us = 1};
  expect_same_sends(network, {{1, 0, 100'000'000}, {2, 0, 100'000'000}, {3, 0, 100'000'000}});
}

std::vector<Send> all_pairs(std::size_t n,
                            const std::function<std::int64_t(std::size_t, std::size_t)>& bytes) {
  std::vector<Send> sends;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j) sends.push_back({i, j, bytes(i, j)});
  return sends;
}

TEST(SimGrid, AgreesOnEvenAllToAll) {
  for (const std::size_t n : {2U, 4U, 8U}) {
    const Network star{.host_GBps = std::vector<double>(n, 50), .latency_us = 1};
    expect_same_sends(star, all_pairs(n, [](std::size_t, std::size_t) { return 10'000'000; }));
  }
}

TEST(SimGrid, AgreesOnUnevenAllToAllOverUnequalHosts) {
  const Network star{.host_GBps = {50, 25, 50, 100, 10, 50}, .latency_us = 1};
  expect_same_sends(star, all_pairs(6, [](std::size_t i, std::size_t j) {
                      return static_cast<std::int64_t>(1'000'000 * (1 + i + 2 * j));
                    }));
}

TEST(SimGrid, AgreesOnAllToAllOverASharedSpine) {
  const Network network{
      .host_GBps = std::vector<double>(8, 50), .latency_us = 0, .hosts_per_leaf = 4, .leaf_GBps = 100};
  expect_same_sends(network, all_pairs(8, [](std::size_t, std::size_t) { return 10'000'000; }));
}

}  // namespace
}  // namespace busbar
