#include "sim/result/study.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace busbar {

std::string title_of(const ClusterRecord& c) {
  std::string text = fmt::format("{} GPUs of {}", c.gpus, printable(c.name));
  if (!c.variant.empty()) text += ", " + printable(c.variant);
  if (c.scaling == "weak") text += fmt::format(" (weak scaling, batch {})", c.global_batch);
  return text;
}

}  // namespace busbar
