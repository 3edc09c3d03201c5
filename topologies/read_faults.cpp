// "faults": links and GPUs that are slower than the file says elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "sim/base/unit_text.h"
#include "topologies/topology_readers.h"

namespace busbar {
namespace {

/// The share that a fault leaves, above 0 and at most 1.
double read_share(const JsonValue& value) {
  const double share = value.percent();
  if (!(share > 0 && share <= 1)) value.fail("a percentage above 0% and at most 100%");
  return share;
}

/// What an unknown link's name may have meant: one of its ends misspelt, or another link of its first end.
std::string similar_link(const TopologyBuilder& builder, const std::string& name) {
  const auto split = std::min(name.find("--"), name.find("->"));
  if (split == name.npos) return "a link is called \"from--to\", or \"from->to\" in one direction";
  const std::string first = name.substr(0, split);
  const std::string second = name.substr(split + 2);
  const auto from = builder.find_device(first);
  if (!from) return similar_device(builder, first);
  if (!builder.find_device(second)) return similar_device(builder, second);
  std::vector<std::string> names;
  for (const Link& link : builder.links()) {
    if (link.from == *from) names.push_back(first + name.substr(split, 2) + builder.name_of(link.to));
  }
  return did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
}

void set_bandwidth(const JsonValue& value, LinkId link, TopologyBuilder& builder) {
  const Bandwidth whole = builder.links()[link.index()].bandwidth;
  const Bandwidth left = value.bandwidth();
  if (left > whole) value.fail("at most the link's own " + to_text(whole));
  builder.set_bandwidth(link, left);
}

void read_link_fault(const JsonValue& fault, TopologyBuilder& builder) {
  fault.only_keys({"link", "bandwidth"});
  const JsonValue link = fault.at("link");
  const std::string name = link.string();
  const auto directions = builder.find_links(name);
  if (directions.empty()) link.fail("the name of a link", similar_link(builder, name));
  const JsonValue left = fault.at("bandwidth");
  const bool is_share = left.is_string() && left.string().ends_with('%');
  for (const LinkId direction : directions) {
    if (is_share)
      builder.scale_link(direction, read_share(left));
    else
      set_bandwidth(left, direction, builder);
  }
}

// "a--b" and "b--a" are one link.
std::string canonical(const std::string& name) {
  const std::size_t at = name.find("--");
  if (at == std::string::npos) return name;
  const std::string a = name.substr(0, at);
  const std::string b = name.substr(at + 2);
  return a < b ? name : b + "--" + a;
}

void read_device_fault(const JsonValue& fault, TopologyBuilder& builder) {
  fault.only_keys({"device", "compute"});
  const JsonValue named = fault.at("device");
  const std::string id = named.string();
  const auto device = builder.find_device(id);
  if (!device) named.fail("the id of a device", similar_device(builder, id));
  if (builder.devices()[device->index()].kind != DeviceKind::kGpu) {
    named.fail_because(fmt::format("only a GPU computes, and {} is none", quoted(id)));
  }
  builder.scale_compute(*device, read_share(fault.at("compute")));
}

}  // namespace

void read_faults(const JsonValue& faults, TopologyBuilder& builder) {
  std::unordered_set<std::string> hit;
  for (const JsonValue& fault : faults.items()) {
    fault.only_keys({"link", "bandwidth", "device", "compute"});
    const auto link = fault.find("link");
    const auto device = fault.find("device");
    if (link.has_value() == device.has_value())
      fault.fail_because("a fault names either a 'link' or a 'device'");
    if (link)
      read_link_fault(fault, builder);
    else
      read_device_fault(fault, builder);
    const JsonValue target = link ? *link : *device;
    if (!hit.insert(canonical(target.string())).second)
      target.fail_because(quoted(target.string()) + " has two faults");
  }
}

}  // namespace busbar
