// Devices by id: a hash table that keeps no text of its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace busbar {

/// Open addressing over device numbers; the ids stay with their owner, whose `name_at(number)` is handed in
/// with each call. A map of strings would hold every id twice, and a map of views would dangle when they
/// move.
class DeviceIndex {
 public:
  void reserve(std::size_t devices) {
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

  /// Enters `number` under `id`; false, and nothing entered, if an earlier device has it.
  template <class NameAt>
  [[nodiscard]] bool insert(std::string_view id, std::uint32_t number, const NameAt& name_at) {
    if (2 * (used_ + 1) > slots_.size()) reserve(2 * (used_ + 1));
    const std::uint32_t hash = hash_of(id);
    Slot& slot = slots_[place_of(id, hash, name_at)];
    if (slot.device != 0) return false;
    slot = {hash, number + 1};
    ++used_;
    return true;
  }

  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view id, const NameAt& name_at) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[place_of(id, hash_of(id), name_at)];
    if (slot.device == 0) return std::nullopt;
    return slot.device - 1;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t device = 0;  // number + 1; 0: free
  };
  static std::uint32_t hash_of(std::string_view id) {
    const std::size_t wide = std::hash<std::string_view>{}(id);
    return static_cast<std::uint32_t>(wide ^ (wide >> 32));
  }
  /// Where the device called `id` stands, or the free slot where it would.
  template <class NameAt>
  [[nodiscard]] std::size_t place_of(std::string_view id, std::uint32_t hash, const NameAt& name_at) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = hash & mask;
    while (slots_[place].device != 0) {
      if (slots_[place].hash == hash && name_at(slots_[place].device - 1) == id) return place;
      place = (place + 1) & mask;
    }
    return place;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace busbar
