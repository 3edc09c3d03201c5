#include "sim/base/json_reader.h"
#include "tests/fuzz/fuzz.h"
#include "topologies/topology_io.h"

namespace busbar {
namespace {

constexpr std::int64_t kMostHosts = 64;

/// The limit of 2^24 devices is legal and takes gigabytes: clusters beyond a few racks are left out.
bool is_large(const JsonValue& group) {
  const auto count = group.is_object() ? group.find("count") : std::nullopt;
  return count && count->is_number() && count->number(-1e300, 1e300) > kMostHosts;
}

bool is_large(const JsonDocument& document) {
  const auto hosts = document.root().is_object() ? document.root().find("hosts") : std::nullopt;
  if (!hosts) return false;
  if (!hosts->is_array()) return is_large(*hosts);
  for (const JsonValue& group : hosts->items())
    if (is_large(group)) return true;
  return false;
}

}  // namespace
}  // namespace busbar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const JsonDocument document = JsonDocument::parse(text_of(data, size), "fuzz.json");
    if (is_large(document)) return;
    const Topology topology = read_topology(document, 1);
    const std::string written = write_topology(topology);
    BUSBAR_CHECK(write_topology(read_topology(JsonDocument::parse(written, "again.json"), 1)) == written);
  });
  return 0;
}
