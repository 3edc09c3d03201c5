#include "sim/base/unit_text.h"

#include "tests/fuzz/fuzz.h"

namespace busbar {
namespace {

/// A quantity that is read comes back from its exact text; one that is not says what was expected.
template <class T>
void check(Parsed<T> (*parse)(std::string_view), std::string_view text) {
  const Parsed<T> parsed = parse(text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    BUSBAR_CHECK(!error->expected.empty());
    return;
  }
  const T value = std::get<T>(parsed);
  if constexpr (!std::is_same_v<T, double> && !std::is_same_v<T, FlopRate>) {
    const Parsed<T> again = parse(to_exact_text(value));
    BUSBAR_CHECK(std::get<T>(again) == value);
    BUSBAR_CHECK(!to_text(value).empty());
  }
}

}  // namespace
}  // namespace busbar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  const std::string_view text = text_of(data, size);
  read_or_refuse([&] {
    check(parse_time, text);
    check(parse_bytes, text);
    check(parse_bandwidth, text);
    check(parse_flop_rate, text);
    check(parse_percent, text);
    static_cast<void>(parse_nccl_size(text));
  });
  return 0;
}
