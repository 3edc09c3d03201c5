// Dense integer ids that do not convert into each other.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace busbar {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}
  [[nodiscard]] static constexpr Id from_index(std::size_t index) {
    return Id(static_cast<std::uint32_t>(index));
  }
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t value_ = 0;
};

using RankId = Id<struct RankTag>;          // a training process: one GPU of the job
using GroupId = Id<struct GroupTag>;        // a communicator
using DeviceId = Id<struct DeviceTag>;      // a vertex of the topology
using LinkId = Id<struct LinkTag>;          // one direction of a link (an arc of the topology)
using ResourceId = Id<struct ResourceTag>;  // what the engine shares: link directions, numbered like LinkId
using StrandId = Id<struct StrandTag>;

}  // namespace busbar

template <class Tag>
struct std::hash<busbar::Id<Tag>> {
  std::size_t operator()(busbar::Id<Tag> id) const noexcept { return id.index(); }
};
