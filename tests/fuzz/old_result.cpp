// What --compare reads.
#include "sim/base/json_reader.h"
#include "sim/result/run_result_io.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    const OldResult old = read_old_result(JsonDocument::parse(text_of(data, size), "fuzz.json"));
    for (const auto& [key, seconds] : old.times_s) BUSBAR_CHECK(seconds >= 0);
    for (const auto& row : old.rows) BUSBAR_CHECK(row.size.count() >= 0 && row.time_s >= 0);
  });
  return 0;
}
