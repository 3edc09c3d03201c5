#include "sim/study/study.h"

#include <algorithm>

#include "sim/study/sweep.h"
#include "tests/fuzz/fuzz.h"

namespace busbar {
namespace {

/// Clusters of 2^24 GPUs and a million points of sweeps are legal: these are read, and not built.
bool is_small(const StudySpec& spec) {
  std::size_t points = 1;
  for (const auto& [key, values] : spec.sweeps) points *= std::min<std::size_t>(values.size(), 1000);
  return points <= 4 && std::all_of(spec.clusters.begin(), spec.clusters.end(), [](const ClusterSpec& c) {
           return c.gpus.size() <= 4 && c.gpus.back() <= 64;
         });
}

}  // namespace
}  // namespace busbar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const JsonDocument document = JsonDocument::parse(text_of(data, size), "fuzz.json");
    const StudySpec spec = read_study(document);
    BUSBAR_CHECK(!spec.clusters.empty() && spec.base.batch.global >= 1);
    if (!is_small(spec)) return;
    static const Profile profile = default_profile();
    BUSBAR_CHECK(!cells_of(document, spec, profile, "default").empty());
  });
  return 0;
}
