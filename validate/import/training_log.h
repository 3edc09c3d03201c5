// Logs of training runs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "validate/import/log_steps.h"

namespace busbar {

/// One row per kind of log. `is` looks at a line without colours.
struct LogFormat {
  std::string_view name;  // "Megatron-LM log"
  bool (*is)(std::string_view line);
  TrainingLog (*read)(std::string_view text, const std::string& name);
};
[[nodiscard]] std::span<const LogFormat> log_formats();  // THE table

/// The format of the first line that one of the table knows; nullptr: none does.
[[nodiscard]] const LogFormat* log_format_of(std::string_view text);

/// Megatron-LM, Megatron-DeepSpeed, Primus: " iteration 20/ 1000 | ... | elapsed time per iteration (ms):
/// 1354.9 | ...", and the arguments that they print.
TrainingLog read_megatron_log(std::string_view text, const std::string& name);
/// torchtitan: "step: 20  loss: ...  tps: 4,376 ..." ("wps" in older ones): tokens/s of one GPU.
TrainingLog read_torchtitan_log(std::string_view text, const std::string& name);
/// NeMo: "train_step_timing in s" of progress bars (NeMo 1) and lines (NeMo 2).
TrainingLog read_nemo_log(std::string_view text, const std::string& name);
/// NVIDIA's DLLogger: lines of "DLLL " and JSON, with NeMo's keys.
TrainingLog read_dllogger(std::string_view text, const std::string& name);
/// MLPerf: lines of ":::MLLOG " and JSON; times from blocks of samples.
TrainingLog read_mllog(std::string_view text, const std::string& name);

/// Each line without its colours and its number; what a carriage return overwrites on a terminal counts as a
/// line of its own with the same number.
void for_each_log_line(std::string_view text,
                       const std::function<void(std::string_view, std::int64_t)>& take);

}  // namespace busbar
