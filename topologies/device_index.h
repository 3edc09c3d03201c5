// Devices by id: a hash table that keeps no text of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/ids.h"

namespace busbar {

struct Device;

/// Open addressing over device numbers; the ids stay in the devices, which are handed in with each call. A
/// map of strings would hold every id twice, and a map of views would dangle when the vector of devices
/// grows.
class DeviceIndex {
 public:
  void reserve(std::size_t devices);
  /// Enters devices.back(); false, and nothing entered, if an earlier device has its id.
  [[nodiscard]] bool insert_last(std::span<const Device> devices);
  [[nodiscard]] std::optional<DeviceId> find(std::string_view id, std::span<const Device> devices) const;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t device = 0;  // number + 1; 0: free
  };
  [[nodiscard]] std::size_t place_of(std::string_view id, std::uint32_t hash,
                                     std::span<const Device> devices) const;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace busbar
