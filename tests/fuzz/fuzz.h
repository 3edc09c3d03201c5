// What every fuzz target shares: bad input is an Error of one line, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace busbar {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs `read`, which may refuse the input. Any other exception leaves the target, which ends the fuzzer.
template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string_view line = error.what();
    BUSBAR_CHECK(error.kind() == ErrorKind::kInput);
    BUSBAR_CHECK(!line.empty() && line.find('\n') == std::string_view::npos);
  }
}

}  // namespace busbar
