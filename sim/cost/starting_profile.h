// The constants that fits start from, part by part: the default profile keeps those that no table moves.
#pragma once

#include "sim/cost/profile.h"

namespace busbar {

[[nodiscard]] HostTransport starting_links();
[[nodiscard]] SwitchReduction starting_nvls();
[[nodiscard]] GroupedSends starting_sends();
/// `more_us`: a hop of this network beyond InfiniBand's.
[[nodiscard]] NetworkTransport starting_network(double more_us);

}  // namespace busbar
