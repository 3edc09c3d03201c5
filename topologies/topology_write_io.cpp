#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/unit_text.h"
#include "topologies/host_type.h"
#include "topologies/topology_io.h"

namespace busbar {
namespace {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "[\n  a,\n  b\n]": one line per item, so that two files compare well.
std::string json_list(const std::vector<std::string>& items) {
  if (items.empty()) return "[]";
  return fmt::format("[\n    {}\n  ]", fmt::join(items, ",\n    "));
}

/// The shortest percentage that reads back as `share`; the nearest one where none does (a product of faults).
std::string percent_text(double share) {
  for (int digits = 1; digits <= 17; ++digits) {
    std::string text = fmt::format("{:.{}g}%", share * 100, digits);
    const auto parsed = parse_percent(text);
    if (const double* value = std::get_if<double>(&parsed); value != nullptr && *value == share) return text;
  }
  return fmt::format("{:.17g}%", share * 100);
}

/// Models of the table need no description.
bool is_known(const GpuModel& model) {
  const auto known = gpu_models();
  return std::find(known.begin(), known.end(), model) != known.end();
}

std::string gpu_model_text(const GpuModel& model) {
  std::vector<std::string> peaks;
  for (const auto& [type, peak] : model.peak) {
    peaks.push_back(fmt::format("\"{}\": \"{} FLOP/s\"", name_of(type), peak.flops()));
  }
  return fmt::format(
      R"({}: {{"peak": {{{}}}, "memory": "{}", "memory_bandwidth": "{}", "sms": {}, "compute_capability": {}{}, "source": {}}})",
      json_text(model.name), fmt::join(peaks, ", "), to_exact_text(model.memory),
      to_exact_text(model.memory_bandwidth), model.sms, model.compute_capability / 10.0,
      model.watts > 0 ? fmt::format(", \"power\": \"{} W\"", model.watts) : "", json_text(model.source));
}

std::vector<std::string> gpu_model_lines(const Topology& t) {
  std::vector<std::string> lines;
  for (const GpuModel& model : t.gpu_models()) {
    if (!is_known(model)) lines.push_back(gpu_model_text(model));
  }
  return lines;
}

std::string host_text(const Host& host, DeviceKind kind) {
  std::string text = fmt::format(R"(, "host": {})", json_text(host.name));
  if (kind == DeviceKind::kCpu && host.cpu != CpuVendor::kIntel)
    text += fmt::format(R"(, "vendor": "{}")", name_of(host.cpu));
  return text;
}

std::vector<std::string> device_lines(const Topology& t) {
  std::vector<std::string> lines;
  for (std::size_t d = 0; d < t.devices().size(); ++d) {
    const Device device = t.devices()[d];
    std::string line = fmt::format(R"({{"id": {}, "kind": "{}")",
                                   json_text(t.name_of(DeviceId::from_index(d))), name_of(device.kind));
    if (device.gpu_model >= 0) {
      const auto model = static_cast<std::size_t>(device.gpu_model);
      line += fmt::format(R"(, "model": {})", json_text(t.gpu_models()[model].name));
    }
    if (device.host != kNoHost) line += host_text(t.hosts()[device.host], device.kind);
    lines.push_back(line + "}");
  }
  return lines;
}

/// Two directions that stand together and mirror each other are one full-duplex link.
bool is_pair(const Link& a, const Link& b) {
  return a.from == b.to && a.to == b.from && a.bandwidth == b.bandwidth && a.latency == b.latency &&
         a.type == b.type && a.weight == b.weight;
}

std::string link_text(const Topology& t, const Link& link, const char* ending) {
  std::string line =
      fmt::format(R"({{"from": {}, "to": {}, "bandwidth": "{}")", json_text(t.name_of(link.from)),
                  json_text(t.name_of(link.to)), to_exact_text(link.bandwidth));
  if (link.latency) line += fmt::format(R"(, "latency": "{}")", to_exact_text(*link.latency));
  if (link.weight != 1) line += fmt::format(R"(, "weight": {})", link.weight);
  return line + fmt::format(R"(, "type": "{}"{}}})", name_of(link.type), ending);
}

std::vector<std::string> link_lines(const Topology& t) {
  std::vector<std::string> lines;
  for (std::size_t l = 0; l < t.links().size(); ++l) {
    const Link link = t.links()[l];
    const bool pair = l + 1 < t.links().size() && is_pair(link, t.links()[l + 1]);
    lines.push_back(link_text(t, link, pair ? "" : R"(, "directed": true)"));
    if (pair) ++l;
  }
  return lines;
}

/// Link faults are in the bandwidths already.
std::vector<std::string> fault_lines(const Topology& t) {
  std::vector<std::string> lines;
  for (std::size_t d = 0; d < t.devices().size(); ++d) {
    const Device device = t.devices()[d];
    if (device.compute == 1.0) continue;
    lines.push_back(fmt::format(R"({{"device": {}, "compute": "{}"}})",
                                json_text(t.name_of(DeviceId::from_index(d))), percent_text(device.compute)));
  }
  return lines;
}

/// Empty where ranks follow the file.
std::vector<std::string> rank_lines(const Topology& t) {
  std::vector<std::string> lines;
  if (std::is_sorted(t.ranks().begin(), t.ranks().end())) return lines;
  for (const DeviceId gpu : t.ranks()) lines.push_back(json_text(t.name_of(gpu)));
  return lines;
}

}  // namespace

std::string write_topology(const Topology& topology) {
  std::string text =
      fmt::format("{{\n  \"schema\": \"busbar.topology/1\",\n  \"name\": {},\n  \"source\": {}",
                  json_text(topology.name()), json_text(topology.source()));
  if (const auto models = gpu_model_lines(topology); !models.empty()) {
    text += fmt::format(",\n  \"gpus\": {{\n    {}\n  }}", fmt::join(models, ",\n    "));
  }
  text += ",\n  \"devices\": " + json_list(device_lines(topology));
  text += ",\n  \"links\": " + json_list(link_lines(topology));
  if (topology.routing().mode == RoutingMode::kStatic) text += ",\n  \"routing\": \"static\"";
  if (topology.in_network_reduction()) text += ",\n  \"sharp\": true";
  if (const auto faults = fault_lines(topology); !faults.empty())
    text += ",\n  \"faults\": " + json_list(faults);
  if (const auto ranks = rank_lines(topology); !ranks.empty())
    text += ",\n  \"rank_order\": " + json_list(ranks);
  return text + "\n}\n";
}

}  // namespace busbar
