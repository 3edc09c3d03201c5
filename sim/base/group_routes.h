// What a collective algorithm may know of the machine: for each channel, the hops and the resources they
// cross.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/ids.h"
#include "sim/base/strand.h"
#include "sim/base/units.h"

namespace busbar {

/// The kinds of link, by name as in topology.json.
/// Their order is from fast to slow.
enum class LinkType : std::uint8_t { kNvlink, kXgmi, kC2c, kPcie, kUpi, kRdma, kSlingshot, kTcp, kEfa };
inline constexpr std::size_t kLinkTypes = 9;
[[nodiscard]] std::string_view name_of(LinkType type);
[[nodiscard]] constexpr bool is_network(LinkType type) { return type >= LinkType::kRdma; }

/// How data gets from one GPU to the next, slow ones last: what decides latency and efficiency constants.
/// kPciePeer: through PCIe switches from GPU to GPU; kHostMemory: through a buffer in the CPU's memory (what
/// NCCL calls SHM), where the path crosses a CPU or the cards have no peer access.
enum class Transport : std::uint8_t {
  kNvlink,
  kXgmi,
  kC2c,
  kPciePeer,
  kHostMemory,
  kRdma,
  kSlingshot,
  kTcp,
  kEfa
};
inline constexpr std::size_t kTransports = 9;
[[nodiscard]] std::string_view name_of(Transport transport);
[[nodiscard]] constexpr bool is_network(Transport transport) { return transport >= Transport::kRdma; }
/// Over one link; PCIe as through switches alone.
[[nodiscard]] Transport transport_over(LinkType type);

/// NCCL's classes of path between two devices, best to worst. Source: NVIDIA/nccl src/graph/topo.h v2.28.9.
enum class PathType : std::uint8_t { kLoc, kNvl, kNvb, kC2c, kPix, kPxb, kP2c, kPxn, kPhb, kSys, kNet };
[[nodiscard]] std::string_view name_of(PathType type);

enum class CpuVendor : std::uint8_t { kIntel, kAmd, kArm, kOther };
inline constexpr std::size_t kCpuVendors = 4;
[[nodiscard]] std::string_view name_of(CpuVendor vendor);

/// What NCCL's choice of algorithm may know of a group of ranks: the hardware, in this library's units.
struct GroupFacts {
  std::uint32_t ranks = 0;
  std::uint32_t hosts = 0;        // NVLink domains count as one
  std::uint32_t local_least = 0;  // ranks on the host with the fewest, and with the most
  std::uint32_t local_most = 0;
  int cc_least = 90;  // compute capability x 10, over the members' GPUs
  int cc_most = 90;
  PathType intra_path = PathType::kNvl;  // worst on the rings inside a host
  PathType inter_path =
      PathType::kPix;             // worst from a member to the NIC that it uses, PXN where NCCL takes it
  Bandwidth intra;                // nominal, of one GPU's links to the other GPUs of its host; 0: none
  std::uint32_t intra_rings = 0;  // of direct links (no switch): edge-disjoint rings that were found
  Bandwidth intra_ring;           // nominal rate of one of those
  bool nvswitch = false;
  std::uint32_t nics = 0;  // NICs that the group uses on the host with the fewest
  Bandwidth nic;           // nominal, of one
  Transport network = Transport::kRdma;
  bool nics_at_cpu_bridge = false;
  bool in_network_reduction = false;  // the fabric can reduce (SHARP)
  CpuVendor cpu = CpuVendor::kIntel;
};

/// One hop from member `from` to member `to` (numbers within the group).
struct Hop {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  LinkType link = LinkType::kNvlink;         // the slowest class that it crosses
  Transport transport = Transport::kNvlink;  // the slowest way that it takes: decides the latency constants
  std::optional<Time> latency;  // sum of the latencies that its links state; none: the profile's for `link`
};

/// One channel's ring through all members in order, with what it crosses: hops[i] goes from order[i] to
/// order[i+1]. A chain is a ring without its last hop. A group of one has no hop.
struct RingChannel {
  std::string name;  // "rail 3", "ring 2", "rail 3 ring 2"; "" for the one inside a host
  std::vector<std::uint32_t> order;
  std::vector<Hop> hops;
  std::vector<ResourceUse> usage;  // all hops together, by resource
  Bandwidth lone_rate;             // what one flow round it gets on the idle machine
};

/// One channel that is a pipeline other than a ring: a tree, or a reduction inside switches. A whole flow of
/// it carries `share` of the operation's bytes; heavier and lighter ones are weighted in `usage`.
struct PipelineChannel {
  std::string name;       // "tree 0, rail 3"
  std::vector<Hop> path;  // the longest way that a byte goes, hop by hop
  std::vector<ResourceUse> usage;
  double share = 1;
};

/// A transfer between two members, alone.
struct PairRoute {
  Hop hop;
  std::vector<ResourceUse> usage;
};

/// Transfers that happen together; `times` such rounds follow each other. A full flow carries `share` of the
/// operation's bytes per round; lighter ones are weighted in `usage`. Hops are listed once per distinct
/// latency.
struct RoundRoutes {
  std::vector<Hop> hops;
  std::vector<ResourceUse> usage;
  double share = 0;
  std::uint32_t times = 1;
};

/// What all operations of one group share. Sizes are linear in members x distinct channels.
struct GroupRoutes {
  std::uint32_t ranks = 0;
  std::uint32_t hosts = 0;
  /// Distinct channels. Inside a host one; between hosts one per rail. Where GPUs have direct links, as many
  /// (per rail) as it takes to use the links in the host.
  std::vector<RingChannel> rings;
  std::vector<std::vector<std::uint32_t>> by_host;  // member numbers of each host
  GroupFacts facts;
  Bandwidth intra;      // what a GPU's in-host links carry together, nominal; 0 for one rank per host
  Bandwidth inter;      // what the NICs that the group uses on one host carry, nominal; 0 on one host
  Bandwidth inter_nic;  // one of those NICs
  LinkType intra_link = LinkType::kNvlink;
  LinkType inter_link = LinkType::kRdma;
  Transport intra_transport = Transport::kNvlink;  // the slowest hop of the rings inside a host
  Transport inter_transport = Transport::kRdma;
};

}  // namespace busbar
