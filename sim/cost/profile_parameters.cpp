// A profile's numbers as one flat list, for fits.
#include "sim/cost/profile.h"

namespace busbar {

namespace {

// How far a constant may plausibly lie from its default: spread of its logarithm.
constexpr double kLatency = 0.6, kRate = 0.1, kShare = 0.3, kSize = 0.6, kExponent = 0.25, kNarrow = 0.01;

constexpr std::string_view kProtocol[] = {"LL", "LL128", "Simple"};

class Collector {
 public:
  void add(std::string name, double& value, double spread) {
    list_.push_back({std::move(name), &value, spread});
  }
  void add(const std::string& name, ByProtocol& values, double spread) {
    for (std::size_t p = 0; p < kNcclProtocols; ++p)
      add(name + "." + std::string(kProtocol[p]), values[p], spread);
  }
  void add_shares(const std::string& name, ByProtocol& values) {  // of Simple, which is 1
    add(name + ".LL", values[0], kShare);
    add(name + ".LL128", values[1], kRate);
  }
  void add(const std::string& name, HostTransport& t) {
    add(name + ".hop_us", t.hop_us, kLatency);
    add(name + ".efficiency", t.efficiency, kRate);
    add_shares(name + ".share", t.share);
    add(name + ".ll_channel_GBps", t.ll_channel_GBps, kShare);
    add(name + ".half_kib", t.half_kib, kSize);
    add(name + ".half_exponent", t.half_exponent, kExponent);
    add(name + ".tail_all_reduce", t.tail_all_reduce, kShare);
    add(name + ".tail_gather", t.tail_gather, kShare);
    add(name + ".tail_floor", t.tail_floor, kShare);
  }
  void add(const std::string& name, SwitchReduction& s) {
    add(name + ".base_us", s.base_us, kLatency);
    add(name + ".efficiency", s.efficiency, kRate);
    add(name + ".half_MB", s.half_MB, kSize);
    add(name + ".half_exponent", s.half_exponent, kExponent);
    add(name + ".chunk_kib", s.chunk_kib, kSize);
  }
  void add(const std::string& name, GroupedSends& s) {
    add(name + ".base_us", s.base_us, kLatency);
    add(name + ".half_us", s.half_us, kSize);
    add(name + ".half_exponent", s.half_exponent, kExponent);
    add(name + ".channel_GBps", s.channel_GBps, kLatency);
    add(name + ".network_channel_GBps", s.network_channel_GBps, kShare);
  }
  void add(const std::string& name, NetworkTransport& t) {
    add(name + ".base_us", t.base_us, kShare);
    add(name + ".ring_hop_us", t.ring_hop_us, kLatency);
    add(name + ".tree_hop_us", t.tree_hop_us, kShare);
    add(name + ".nvls_tree_hop_us", t.nvls_tree_hop_us, kLatency);
    add(name + ".efficiency", t.efficiency, kNarrow);
    add_shares(name + ".share", t.share);
    add(name + ".ll_cap_GBps", t.ll_cap_GBps, kShare);
    add(name + ".half_kib", t.half_kib, kSize);
    add(name + ".half_exponent", t.half_exponent, kExponent);
    add(name + ".tree_half_MB", t.tree_half_MB, kSize);
    add(name + ".sends_share", t.sends_share, kRate);
    add(name + ".sends_half_MB", t.sends_half_MB, kSize);
    add(name + ".sends_half_exponent", t.sends_half_exponent, kExponent);
  }
  [[nodiscard]] std::vector<ParameterRef> take() { return std::move(list_); }

 private:
  std::vector<ParameterRef> list_;
};

}  // namespace

std::vector<ParameterRef> parameters(Profile& profile) {
  Collector c;
  for (Generation& g : profile.generations) {
    const std::string name(g.name);
    c.add(name + ".base_us", g.base_us, kLatency);
    c.add(name + ".links", g.links);
    c.add(name + ".nvls", g.nvls);
    c.add(name + ".sends", g.sends);
    c.add(name + ".launch_us", g.launch_us, kShare);
  }
  c.add("pcie_peer", profile.pcie_peer);
  c.add("host_memory", profile.host_memory);
  for (const Transport t : {Transport::kRdma, Transport::kSlingshot, Transport::kTcp, Transport::kEfa})
    c.add(std::string(name_of(t)), profile.network(t));
  return c.take();
}

std::vector<ParameterRef> other_parameters(Profile& profile) {
  Collector c;
  for (Generation& g : profile.generations) {
    const std::string name = "kernels." + std::string(g.name);
    c.add(name + ".memory_efficiency", g.memory_efficiency, kRate);
    c.add(name + ".matmul_share", g.matmul_share, kRate);
    c.add(name + ".own_share", g.own_share, kRate);
  }
  c.add("shared.isolated_us", profile.isolated_us, kLatency);
  return c.take();
}

}  // namespace busbar
