#include "sim/study/load_step.h"

#include "sim/replay/host_ranks.h"
#include "workloads/trace_io.h"
#include "workloads/workload_io.h"

namespace busbar {

bool is_trace(const JsonDocument& document) {
  const JsonValue schema = document.root().at("schema");
  if (schema.string() == "busbar.trace/1") return true;
  if (schema.string() != "busbar.workload/1") schema.fail("\"busbar.workload/1\" or \"busbar.trace/1\"");
  return false;
}

LoadedStep load_step(const JsonDocument& document, const Topology& topology, std::uint64_t seed) {
  if (is_trace(document)) return {read_trace(document), std::nullopt};
  Workload workload = read_workload(document);
  workload.seed = seed;
  workload.parallel.host_ranks = host_ranks_of(topology);
  StepTrace trace = expand(workload);
  return {std::move(trace), std::move(workload)};
}

}  // namespace busbar
