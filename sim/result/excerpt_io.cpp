#include "sim/result/excerpt_io.h"

#include <nlohmann/json.hpp>
#include <string>

namespace busbar {

void add_excerpt(nlohmann::ordered_json& j, std::string_view name, const std::optional<Excerpt>& excerpt) {
  if (excerpt) j[std::string(name) + "_excerpt"] = {{"of", excerpt->of}, {"numbers", excerpt->numbers}};
}

}  // namespace busbar
