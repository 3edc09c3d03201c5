// Topologies from text, and errors as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"
#include "topologies/topology_io.h"

namespace busbar::testing {

/// The file whose keys after "schema" are `keys`.
inline Topology topology_of(const std::string& keys, std::uint64_t seed = 0) {
  const std::string text = R"({"schema": "busbar.topology/1", )" + keys + "}";
  return read_topology(JsonDocument::parse(text, "t.json"), seed);
}

/// The error line that this file gives, or "no error".
inline std::string error_of(const std::string& keys) {
  try {
    (void)topology_of(keys);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// `count` hosts of a type on rails of non-blocking leaves, with more keys of "fabric" (", ...") if given.
inline Topology rails(int count, const std::string& type, const std::string& more = "") {
  return topology_of(R"("hosts": {"count": )" + std::to_string(count) + R"(, "type": ")" + type +
                     R"("}, "fabric": {"family": "rail-optimized")" + more + "}");
}

inline DeviceId device_called(const Topology& t, std::string_view id) {
  for (std::size_t d = 0; d < t.devices().size(); ++d) {
    if (t.name_of(DeviceId::from_index(d)) == id) return DeviceId::from_index(d);
  }
  ADD_FAILURE() << "no device " << id;
  return DeviceId();
}

/// The direction called "a->b".
inline Link link_called(const Topology& t, std::string_view name) {
  for (std::size_t l = 0; l < t.links().size(); ++l) {
    if (t.link_name(LinkId::from_index(l)) == name) return t.links()[l];
  }
  ADD_FAILURE() << "no link " << name;
  return t.links()[0];
}

inline std::vector<std::string> ids_of(const Topology& t, std::span<const DeviceId> devices) {
  std::vector<std::string> ids;
  for (const DeviceId d : devices) ids.push_back(t.name_of(d));
  return ids;
}

}  // namespace busbar::testing
