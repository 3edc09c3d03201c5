// What a collective algorithm may know of the machine: for each channel, the hops and the resources they cross.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/ids.h"
#include "sim/base/strand.h"
#include "sim/base/units.h"

namespace busbar {

/// The kinds of link, by name as in topology.json.
enum class LinkType : std::uint8_t { kNvlink, kXgmi, kC2c, kPcie, kUpi, kRdma, kSlingshot, kTcp, kEfa };
inline constexpr std::size_t kLinkTypes = 9;
[[nodiscard]] std::string_view name_of(LinkType type);
[[nodiscard]] bool is_network(LinkType type);

/// One hop of a ring or chain: member `from` sends to member `to` (numbers within the group).
struct Hop {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  LinkType link = LinkType::kNvlink;  // the slowest class it crosses: decides protocol and latency constants
  Time latency;                       // sum of its links' own latencies
  Bandwidth narrowest;                // the smallest capacity on the way
};

/// One channel's ring through all members, in order, with what it crosses. hops[i] goes from order[i] to order[i+1].
/// A group of one has no hop. `multiplicity`: identical channels.
struct RingChannel {
  std::vector<std::uint32_t> order;
  std::vector<Hop> hops;
  std::vector<ResourceUse> usage;  // all hops together, merged by resource
  std::string name;                // "rail 3" where it has one
};

/// All routes of one group. Sizes are linear in members x distinct channels.
struct GroupRoutes {
  std::uint32_t ranks = 0;
  std::uint32_t hosts = 0;
  std::vector<RingChannel> rings;  // one per distinct channel: one per rail between hosts, one inside a host
  Bandwidth intra;                 // GPU's fastest in-host attachment (0 for one rank per host)
  Bandwidth inter;                 // all NICs of one host that the group uses, together (0 on one host)
  std::uint32_t nics_per_host = 0;
};

}  // namespace busbar
