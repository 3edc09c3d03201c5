// The CSV file of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/nccl_types.h"

namespace busbar {

/// What the calls to be predicted are: rules for other calls never match and are left out.
struct TunerCalls {
  std::int64_t grouped = 1;         // operations in one group call (numPipeOps)
  bool registered_buffers = false;  // (regBuff)
};

/// Lines `collective, least bytes, most bytes, algorithm, protocol, channels, hosts, ranks[, numPipeOps[,
/// regBuff]]`; '#' comments and blank lines. -1 stands for any (hosts, ranks, numPipeOps, regBuff, either
/// size) and for NCCL's own number (channels). Rules keep their order: the first that matches wins.
/// numPipeOps and regBuff: rules whose value is -1 or that of `calls` are taken, others cannot match and are
/// dropped.
/// Stricter than the plugin, which takes unknown names for allreduce, ring and simple without a word: every
/// field is checked. Throws Error (kInput) with file, line, expected, given and suggestion.
/// Source: NVIDIA/nccl ext-tuner/example/plugin.c, release 2.28.
[[nodiscard]] std::vector<TunerRule> read_tuner_csv(std::string_view text, const std::string& name,
                                                    const TunerCalls& calls = {});
[[nodiscard]] std::vector<TunerRule> load_tuner_csv(const std::string& path, const TunerCalls& calls = {});

}  // namespace busbar
