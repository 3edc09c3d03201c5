// Input: a JSON text, then lines of key.path=value, as --set gives them.
#include <algorithm>

#include "sim/base/json_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {

constexpr std::string_view kSeparator = "\n---\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  std::string_view text = text_of(data, size);
  const std::size_t split = std::min(text.find(kSeparator), text.size());
  std::string_view sets = text.substr(std::min(split + kSeparator.size(), text.size()));
  read_or_refuse([&] {
    JsonDocument document = JsonDocument::parse(text.substr(0, split), "fuzz.json");
    while (!sets.empty()) {
      const std::string_view line = sets.substr(0, sets.find('\n'));
      sets.remove_prefix(std::min(line.size() + 1, sets.size()));
      const std::size_t equals = line.find('=');
      if (equals != std::string_view::npos)
        document = document.with(line.substr(0, equals), line.substr(equals + 1));
    }
    const std::string written = document.dump();
    BUSBAR_CHECK(JsonDocument::parse(written, "again.json").dump() == written);
  });
  return 0;
}
