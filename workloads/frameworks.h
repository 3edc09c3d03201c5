// What a training framework makes of a GPU's kernels, and the host that launches them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace busbar {

/// One set per framework; nothing per model or layout.
struct Framework {
  std::string_view name;  // "megatron-core"
  std::string_view help;
  double block_forward_us = 0;   // of the host, to launch one block's forward
  double block_backward_us = 0;  // and backward; recomputation adds another forward
  /// What its kernels reach inside a step of what they reach alone; none: the profile's share.
  std::optional<double> kernel_share = std::nullopt;
};

[[nodiscard]] std::span<const Framework> frameworks();  // THE table; the first row is the default
[[nodiscard]] const Framework& framework_called(std::string_view name);

}  // namespace busbar
