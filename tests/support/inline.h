// Topologies, traces and workloads given inline, in the real input language.
#pragma once

#include <fmt/format.h>

#include <string>

#include "sim/base/json_reader.h"
#include "sim/replay/simulate.h"
#include "topologies/topology_io.h"
#include "workloads/trace_io.h"
#include "workloads/workload_io.h"

namespace busbar {

inline Topology topology_from(const std::string& text) {
  return read_topology(JsonDocument::parse(text, "topology"), 1);
}
inline StepTrace trace_from(const std::string& text) {
  return read_trace(JsonDocument::parse(text, "trace"));
}
inline StepTrace workload_from(const std::string& text) {
  return expand(read_workload(JsonDocument::parse(text, "workload")));
}

inline RunResult simulate_ideal(const Topology& topology, const StepTrace& trace) {
  return simulate(topology, trace, ideal_profile(), {});
}

/// n GPUs on one switch, each with a full-duplex link.
inline Topology star(int n, const std::string& bandwidth, const std::string& latency = "0 s") {
  std::string devices;
  std::string links;
  for (int i = 0; i < n; ++i) {
    devices += fmt::format(R"({{"id": "g{}", "kind": "gpu", "host": "h"}}, )", i);
    links +=
        fmt::format(R"({}{{"from": "g{}", "to": "s", "bandwidth": "{}", "latency": "{}", "type": "nvlink"}})",
                    i == 0 ? "" : ", ", i, bandwidth, latency);
  }
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "star", "devices": [{}{{"id": "s", "kind": "nvswitch", "host": "h"}}], "links": [{}]}})",
      devices, links));
}

/// Every rank of `ranks` runs the same program; one group "all" of them, bound where the program uses it.
inline std::string one_program(int ranks, const std::string& ops) {
  const bool communicates = ops.find("\"group\": \"all\"") != std::string::npos;
  return fmt::format(R"({{"schema": "busbar.trace/1", "name": "t", "groups": {{"all": "0-{}"}},
    "programs": {{"p": {{"ops": [{}]}}}},
    "bindings": [{{"ranks": "0-{}", "program": "p"{}}}]}})",
                     ranks - 1, ops, ranks - 1, communicates ? R"(, "groups": {"all": "all"})" : "");
}

}  // namespace busbar
