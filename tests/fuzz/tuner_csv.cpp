#include "calibrate/import/tuner_csv.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  read_or_refuse([&] {
    for (const TunerRule& rule : read_tuner_csv(text_of(data, size), "tuner.csv"))
      BUSBAR_CHECK(rule.least.count() >= 0 && rule.least <= rule.most && rule.channels.value_or(1) > 0);
  });
  return 0;
}
