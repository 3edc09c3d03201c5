// What a training framework costs beside its kernels: the host that launches them.
#pragma once

#include <span>
#include <string_view>

namespace busbar {

/// One set per framework; nothing per model or layout.
struct Framework {
  std::string_view name;  // "megatron-deepspeed"
  std::string_view help;
  double block_forward_us;   // of the host, to launch one block's forward
  double block_backward_us;  // and backward; recomputation adds another forward
};

[[nodiscard]] std::span<const Framework> frameworks();  // THE table; the first row is the default

}  // namespace busbar
