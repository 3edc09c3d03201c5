#include "calibrate/import/nccl_env.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const NcclEnvironment environment = read_nccl_env(text_of(data, size), "nccl.env");
    const NcclSettings& s = environment.settings;
    BUSBAR_CHECK(s.min_channels.value_or(1) <= s.max_channels.value_or(1024));
    for (const IgnoredVariable& variable : environment.ignored) BUSBAR_CHECK(!variable.reason.empty());
  });
  return 0;
}
