#include "topologies/device_index.h"

#include <bit>
#include <functional>

#include "topologies/topology.h"

namespace busbar {
namespace {

std::uint32_t hash_of(std::string_view id) {
  const std::size_t wide = std::hash<std::string_view>{}(id);
  return static_cast<std::uint32_t>(wide ^ (wide >> 32));
}

}  // namespace

void DeviceIndex::reserve(std::size_t devices) {
  const std::size_t wanted = std::bit_ceil(2 * devices + 16);
  if (wanted <= slots_.size()) return;
  std::vector<Slot> grown(wanted);
  for (const Slot& slot : slots_) {
    if (slot.device == 0) continue;
    std::size_t place = slot.hash & (wanted - 1);
    while (grown[place].device != 0) place = (place + 1) & (wanted - 1);
    grown[place] = slot;
  }
  slots_ = std::move(grown);
}

/// Where the device called `id` stands, or the free slot where it would.
std::size_t DeviceIndex::place_of(std::string_view id, std::uint32_t hash,
                                  std::span<const Device> devices) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t place = hash & mask;
  while (slots_[place].device != 0) {
    if (slots_[place].hash == hash && devices[slots_[place].device - 1].id == id) return place;
    place = (place + 1) & mask;
  }
  return place;
}

bool DeviceIndex::insert_last(std::span<const Device> devices) {
  if (2 * (used_ + 1) > slots_.size()) reserve(2 * (used_ + 1));
  const std::string_view id = devices.back().id;
  const std::uint32_t hash = hash_of(id);
  Slot& slot = slots_[place_of(id, hash, devices)];
  if (slot.device != 0) return false;
  slot = {hash, static_cast<std::uint32_t>(devices.size())};
  ++used_;
  return true;
}

std::optional<DeviceId> DeviceIndex::find(std::string_view id, std::span<const Device> devices) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[place_of(id, hash_of(id), devices)];
  if (slot.device == 0) return std::nullopt;
  return DeviceId(slot.device - 1);
}

}  // namespace busbar
