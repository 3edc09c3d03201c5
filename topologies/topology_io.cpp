#include "topologies/topology_io.h"

#include <algorithm>

#include "topologies/fabric.h"
#include "topologies/topology_readers.h"

namespace busbar {
namespace {

constexpr std::string_view kKeys[] = {"schema", "name",    "source", "hosts", "fabric", "devices",
                                      "links",  "routing", "sharp",  "gpus",  "faults", "rank_order"};
constexpr std::string_view kSchema = "busbar.topology/1";

void read_graph(const JsonValue& root, TopologyBuilder& builder) {
  const auto has = [&root](std::string_view key) { return root.find(key).has_value(); };
  const bool short_form = has("hosts") || has("fabric");
  const bool long_form = has("devices") || has("links");
  if (short_form && long_form) {
    root.fail_because(
        "'hosts' and 'fabric' (short form) exclude 'devices' and 'links' (long form); give one pair");
  }
  if (!short_form && !long_form) {
    root.fail_because(
        "nothing is described: give 'hosts' and 'fabric' (short form) or 'devices' and 'links' (long form)");
  }
  if (const auto routing = root.find("routing"); routing && short_form)
    routing->fail_because("'routing' stands in 'fabric' in the short form");
  if (const auto sharp = root.find("sharp")) {
    if (short_form) sharp->fail_because("'sharp' stands in 'fabric' in the short form");
    builder.set_in_network_reduction(sharp->boolean());
  }
  if (short_form)
    read_short_form(root, builder);
  else
    read_long_form(root, builder);
}

/// The seed picks the paths of static routing, so that a file gives the same ones again.
Routing routing_of(const JsonValue& root, std::uint64_t seed) {
  const auto fabric = root.find("fabric");
  const auto mode = fabric ? fabric->find("routing") : root.find("routing");
  return {mode ? read_routing(*mode) : RoutingMode::kAdaptive, seed};
}

}  // namespace

std::span<const std::string_view> topology_keys() { return kKeys; }

std::string similar_device(const TopologyBuilder& builder, std::string_view id) {
  std::vector<std::string> ids;
  for (std::size_t d = 0; d < builder.devices().size(); ++d)
    ids.push_back(builder.name_of(DeviceId::from_index(d)));
  return did_you_mean(id, std::vector<std::string_view>(ids.begin(), ids.end()));
}

Topology read_topology(const JsonDocument& document, std::uint64_t seed) {
  const JsonValue root = document.root();
  root.only_keys(kKeys);
  if (const JsonValue schema = root.at("schema"); schema.string() != kSchema) {
    schema.fail("\"" + std::string(kSchema) + "\"");
  }
  const auto text_of = [&root](std::string_view key, std::string otherwise) {
    const auto value = root.find(key);
    return value ? value->string() : std::move(otherwise);
  };
  TopologyBuilder builder(text_of("name", document.name()), text_of("source", ""));
  if (const auto gpus = root.find("gpus")) read_gpu_models(*gpus, builder);
  read_graph(root, builder);
  builder.set_routing(routing_of(root, seed));
  if (const auto faults = root.find("faults")) read_faults(*faults, builder);
  if (const auto order = root.find("rank_order")) read_rank_order(*order, builder, seed);
  return at_place(root, [&] { return std::move(builder).build(); });
}

}  // namespace busbar
