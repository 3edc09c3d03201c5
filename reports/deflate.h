// Compression for what is embedded in a page.
#pragma once

#include <string>
#include <string_view>

namespace busbar {

/// In zlib's format, which browsers' DecompressionStream("deflate") reads.
/// Source: RFC 1950. Errors (Error, kSystem): no memory for it.
[[nodiscard]] std::string deflated(std::string_view bytes);
/// Source: RFC 4648, section 4.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace busbar
