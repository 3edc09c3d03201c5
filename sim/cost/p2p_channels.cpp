#include "sim/cost/p2p_channels.h"

#include <algorithm>

namespace busbar {

namespace {

constexpr std::int64_t kSlotBytes = 512 << 10;  // of the Simple protocol
constexpr std::int64_t kSlots = 8;

}  // namespace

// One host: parts of slot/8 to 32 slots. Several: slot/2 to one slot. The least number of channels falls
// until all peers' together fit the communicator's P2P channels.
std::int64_t p2p_channels(Bytes message, const GroupFacts& facts, const NcclGraphs& graphs,
                          const NcclSettings& settings) {
  const std::int64_t slot = settings.buffer_bytes.value_or(kSlotBytes * kSlots) / kSlots;
  const bool one_host = facts.hosts <= 1;
  const std::int64_t least_part = std::max<std::int64_t>(1, one_host ? slot / 8 : slot / 2);
  const std::int64_t most_part = one_host ? 32 * slot : slot;
  const std::int64_t most = std::max<std::int64_t>(1, graphs.p2p_channels_per_peer);
  std::int64_t least = most;
  while (least > 1 && least * std::int64_t{facts.ranks} > graphs.p2p_channels) least /= 2;
  const std::int64_t bytes = message.count();
  std::int64_t channels = std::clamp<std::int64_t>((bytes + least_part - 1) / least_part, 1, least);
  while (channels * 2 <= most && bytes > channels * most_part) channels *= 2;
  return channels;
}

}  // namespace busbar
