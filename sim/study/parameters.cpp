#include "sim/study/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

using Kind = StudyParameter::Kind;

/// How people write what files call otherwise.
struct Spelling {
  std::string_view own, words;
};
constexpr std::array<Spelling, 7> kSpellings = {{{"nvlink", "NVLink"},
                                                 {"xgmi", "xGMI"},
                                                 {"c2c", "C2C"},
                                                 {"pcie", "PCIe"},
                                                 {"upi", "CPU to CPU"},
                                                 {"rdma", "RDMA"},
                                                 {"pcie peer", "PCIe peer-to-peer"}}};

std::string words_of(std::string_view own) {
  for (const Spelling& s : kSpellings)
    if (s.own == own) return std::string(s.words);
  return std::string(own);
}

// Of the first host that has NICs: all its cables.
double nics_of_a_host(const Topology& topology) {
  for (const Host& host : topology.hosts()) {
    double sum = 0;
    for (const DeviceId nic : host.nics)
      for (const LinkId link : topology.out_links(nic))
        if (is_network(topology.spec(link).type)) sum += topology.spec(link).nominal.Bps();
    if (sum > 0) return sum;
  }
  return 0;
}

StudyParameter bandwidth(const Topology& topology, const LinkClasses& classes, std::size_t number) {
  const std::string& name = classes.names[number];
  StudyParameter p{.kind = Kind::kBandwidth, .name = name + "-bandwidth", .link_class = name};
  const auto first = std::find(classes.of.begin(), classes.of.end(), number);
  p.value_Bps =
      topology.spec(LinkId::from_index(static_cast<std::size_t>(first - classes.of.begin()))).nominal.Bps();
  if (name != kNicClass) {
    p.words = words_of(name) + " bandwidth per link";
    return p;
  }
  p.words = "NIC bandwidth per host";
  if (const double host = nics_of_a_host(topology); host > 0) p.value_Bps = host;
  return p;
}

std::string dashed(std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

StudyParameter latency(Transport transport) {
  return {.kind = Kind::kLatency,
          .name = dashed(name_of(transport)) + "-latency",
          .words = words_of(name_of(transport)) + " latency per hop",
          .transport = transport};
}

// By the ways that the links offer; PCIe may be taken through the CPU's memory.
std::vector<Transport> transports_of(const Topology& topology) {
  std::array<bool, kTransports> has{};
  for (const LinkSpec& spec : topology.specs()) {
    has[static_cast<std::size_t>(transport_over(spec.type))] = true;
    if (spec.type == LinkType::kPcie) has[static_cast<std::size_t>(Transport::kHostMemory)] = true;
  }
  std::vector<Transport> list;
  for (std::size_t t = 0; t < kTransports; ++t)
    if (has[t]) list.push_back(static_cast<Transport>(t));
  return list;
}

}  // namespace

void StudyParameter::apply(Scales& scales, double factor) const {
  switch (kind) {
    case Kind::kBandwidth:
      scales.bandwidth[link_class] = factor;
      return;
    case Kind::kLatency:
      scales.latency[static_cast<std::size_t>(transport)] = factor;
      return;
    case Kind::kCompute:
      scales.compute = factor;
      return;
    case Kind::kMemory:
      scales.memory = factor;
      return;
    case Kind::kLaunch:
      scales.launch = factor;
      return;
    case Kind::kChannel:
      scales.channel = factor;
      return;
  }
}

Scales StudyParameter::at(double factor) const {
  Scales scales;
  apply(scales, factor);
  return scales;
}

std::vector<StudyParameter> study_parameters(const Topology& topology) {
  std::vector<StudyParameter> list;
  const LinkClasses classes = link_classes(topology);
  for (std::size_t c = 0; c < classes.names.size(); ++c) list.push_back(bandwidth(topology, classes, c));
  list.push_back({.kind = Kind::kCompute, .name = "compute-efficiency", .words = "speed of kernels"});
  list.push_back({.kind = Kind::kMemory,
                  .name = "memory-bandwidth",
                  .words = "memory bandwidth that communication takes part of"});
  list.push_back({.kind = Kind::kChannel,
                  .name = "channel-rate",
                  .words = "rate of channels and protocols whatever the links"});
  for (const Transport t : transports_of(topology)) list.push_back(latency(t));
  list.push_back(
      {.kind = Kind::kLaunch, .name = "launch-cost", .words = "launch cost of operations and kernels"});
  return list;
}

StudyParameter find_parameter(std::span<const StudyParameter> parameters, const std::string& name,
                              const std::string& where) {
  std::vector<std::string_view> names;
  for (const StudyParameter& p : parameters) {
    if (p.name == name) return p;
    names.push_back(p.name);
  }
  throw Error({.where = where,
               .expected = one_of(names),
               .given = quoted(name),
               .suggestion = did_you_mean(name, names)});
}

std::string value_text(const StudyParameter& parameter, double factor) {
  if (parameter.value_Bps) return fmt::format("{:.4g} GB/s", *parameter.value_Bps * factor / 1e9);
  return "";
}

}  // namespace busbar
