// Input: a file of measured collectives, of any kind; read as a log too, whatever it looks like.
#include "calibrate/import/nccl_tests_log.h"
#include "calibrate/import/read_measured.h"
#include "tests/fuzz/fuzz.h"

namespace busbar {
namespace {

void check(const Measurement& measurement) {
  BUSBAR_CHECK(!measurement.tables.empty());
  for (const MeasuredTable& table : measurement.tables) {
    BUSBAR_CHECK(!table.rows.empty() && table.ranks >= 0);
    for (const MeasuredRow& row : table.rows)
      BUSBAR_CHECK(row.size.count() > 0 && row.time > Time::zero() && row.operation == table.operation);
  }
}

}  // namespace
}  // namespace busbar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  const std::string_view text = text_of(data, size);
  read_or_refuse([&] { check(read_measured_text(text, "all_reduce.txt", {.ranks = 8})); });
  read_or_refuse([&] { check(read_nccl_tests_log(text, "log.txt")); });
  return 0;
}
