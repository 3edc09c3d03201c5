#include "workloads/workload.h"

#include "sim/base/json_reader.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/settings.h"
#include "workloads/workload_io.h"

namespace busbar {
namespace {

/// kMaxOps operations are legal and take half a gigabyte: steps beyond some thousands are read, not expanded.
bool is_large(const Workload& workload) {
  constexpr std::int64_t kMost = 64, kRanks = 1024;
  const std::int64_t layers = workload.model.transformer
                                  ? workload.model.transformer->layers
                                  : static_cast<std::int64_t>(workload.model.parameters.size());
  return workload.parallel.world() > kRanks || layers > kMost ||
         workload.batch.global / workload.batch.micro / workload.parallel.dp > kMost;
}

}  // namespace
}  // namespace busbar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const Workload workload = read_workload(JsonDocument::parse(text_of(data, size), "fuzz.json"));
    BUSBAR_CHECK(!effective_settings(workload).empty());
    if (!is_large(workload)) BUSBAR_CHECK(!expand(workload).programs.empty());
  });
  return 0;
}
