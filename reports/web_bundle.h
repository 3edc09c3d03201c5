// The script and the style sheet of the pages, as reports/web/ is bundled when Busbar is built.
#pragma once

#include <string>
#include <string_view>

namespace busbar {

struct WebBundle {
  std::string_view script, style;
  std::string missing;  // why there is none; "" if there is
};

/// Written by the build: reports/web/bundle.cmake.
[[nodiscard]] WebBundle web_bundle();

}  // namespace busbar
