// NCCL_* variables from a file (--env FILE).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/nccl_types.h"

namespace busbar {

/// A variable that does not change a prediction, and why in a word: "logging", "topology" (the topology file
/// says it), "startup", "--tuner" (that
/// option says it), "not modelled", "not NCCL's".
struct IgnoredVariable {
  std::string name;
  std::string_view reason;
};

struct NcclEnvironment {
  NcclSettings settings;
  std::vector<IgnoredVariable> ignored;
};

/// Lines NAME=value, as a shell or an NCCL_CONF_FILE has them: '#' comments, blank lines, a leading "export
/// ", single or double quotes around the value. Of two lines with one name the later counts. An empty value
/// is the variable's default. Later names and their older aliases (CTAS, NRINGS) are one setting: the tighter
/// bound counts.
/// NCCL_ALGO and NCCL_PROTO: "ring,tree", "^nvls", "allreduce:tree;broadcast:ring"; functions that such a
/// list does not name keep every choice. Throws Error (kInput) with the line: no '=', an NCCL_ name that no
/// NCCL has, a value out of its range. Source: NVIDIA/nccl v2.28.9, NCCL_PARAM, ncclGetEnv, parseList in
/// src/graph/tuning.cc.
[[nodiscard]] NcclEnvironment read_nccl_env(std::string_view text, const std::string& name);
[[nodiscard]] NcclEnvironment load_nccl_env(const std::string& path);

namespace detail {

/// One variable, where it stands, for errors.
struct Variable {
  std::string where, name, value;
};

/// NCCL_ALGO and NCCL_PROTO. Throws Error (kInput).
void apply_algorithms(const Variable& variable, NcclSettings& settings);
void apply_protocols(const Variable& variable, NcclSettings& settings);

/// Why a known name has no effect, "" for an unknown one; and all such names, for suggestions.
[[nodiscard]] std::string_view reason_without_effect(std::string_view name);
void append_names_without_effect(std::vector<std::string_view>& names);

}  // namespace detail

}  // namespace busbar
