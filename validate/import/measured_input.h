// Anything that somebody measured, by its content: training steps or collectives.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/import/raw_table.h"
#include "sim/result/measured_step.h"
#include "sim/result/measurement.h"

namespace busbar {

struct MeasuredInput {
  std::vector<MeasuredStep> steps;
  Measurement collectives;
};

/// Traces of PyTorch's profiler (all of them ranks of one job), logs of training (training_log.h), the steps
/// of busbar.measured/1, and every file of measured collectives that read_measured knows; each may be packed
/// by gzip. Errors (Error, kInput): another file (the kinds that are known are named), or the reader's own.
[[nodiscard]] MeasuredInput read_measured_inputs(std::span<const std::string> paths,
                                                 const ImportHints& hints = {});

}  // namespace busbar
