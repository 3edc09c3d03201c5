// Whether this program was built with the address sanitizer: tests that repeat for long then do a part.
#pragma once

namespace busbar {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace busbar
