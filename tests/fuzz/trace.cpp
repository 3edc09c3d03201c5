#include "sim/base/json_reader.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/trace_io.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const StepTrace trace = read_trace(JsonDocument::parse(text_of(data, size), "fuzz.json"));
    const std::string written = write_trace(trace);
    BUSBAR_CHECK(write_trace(read_trace(JsonDocument::parse(written, "again.json"))) == written);
  });
  return 0;
}
