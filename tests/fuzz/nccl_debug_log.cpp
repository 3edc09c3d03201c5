#include "calibrate/import/nccl_debug_log.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const NcclDebugLog result = read_nccl_debug_log(text_of(data, size), "debug.log");
    BUSBAR_CHECK(!result.log.tables.empty() || !result.log.calls.empty());
    for (const LoggedCall& call : result.log.calls)
      BUSBAR_CHECK(call.bytes.count() >= 0 && call.channels.value_or(1) > 0);
  });
  return 0;
}
