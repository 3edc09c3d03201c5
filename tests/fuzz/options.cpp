// Input: what follows --sizes, and on a second line --ranks.
#include <algorithm>

#include "sim/cli/simulate_options.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  const std::string_view text = text_of(data, size);
  const std::size_t split = std::min(text.find('\n'), text.size());
  read_or_refuse([&] { BUSBAR_CHECK(!parse_sizes(text.substr(0, split)).empty()); });
  read_or_refuse([&] {
    const auto ranks = parse_ranks(text.substr(std::min(split + 1, text.size())), 4096);
    BUSBAR_CHECK(!ranks.empty() && ranks.size() <= 4096);
  });
  return 0;
}
