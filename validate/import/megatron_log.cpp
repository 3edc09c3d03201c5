#include <fmt/format.h>

#include <array>
#include <utility>

#include "calibrate/import/text_scan.h"
#include "validate/import/training_log.h"

namespace busbar {

namespace {

// Megatron's arguments, in a workload's terms. Source: Megatron-LM, megatron/training/arguments.py.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kArguments = {{
    {"world_size", "gpus"},
    {"data_parallel_size", "parallel.dp"},
    {"tensor_model_parallel_size", "parallel.tp"},
    {"pipeline_model_parallel_size", "parallel.pp"},
    {"context_parallel_size", "parallel.cp"},
    {"expert_model_parallel_size", "parallel.ep"},
    {"micro_batch_size", "batch.micro"},
    {"global_batch_size", "batch.global"},
    {"seq_length", "batch.sequence"},
    {"num_layers", "model.layers"},
    {"hidden_size", "model.hidden"},
    {"num_attention_heads", "model.heads"},
}};

// "  micro_batch_size ................................ 1", with what a launcher writes before it.
void take_argument(TrainingLog& log, std::string_view line, std::int64_t number) {
  const std::size_t dots = line.find(" ...");
  if (dots == std::string_view::npos) return;
  const std::vector<std::string_view> before = words_of(line.substr(0, dots));
  const std::vector<std::string_view> after = words_of(line.substr(dots));
  if (before.empty() || after.size() < 2) return;
  const auto value = parse_whole(after[1]);
  if (!value || *value < 1) return;
  for (const auto& [argument, key] : kArguments)
    if (before.back() == argument) log.set(key, *value, number);
}

// "using world size: 16, data-parallel-size: 1, ...": before the arguments, and where they are not printed.
void take_layout(TrainingLog& log, std::string_view line, std::int64_t number) {
  if (const auto size = count_of(number_after(line, "using world size:"))) log.set("gpus", *size, number);
}

void take_iteration(TrainingLog& log, std::string_view line, std::int64_t number) {
  const std::size_t at = line.find("elapsed time per iteration");
  if (at == std::string_view::npos || line.find("iteration ") >= at) return;
  if (line.find('|', at) == std::string_view::npos) return;  // cut: a bar follows each figure
  LogIteration iteration{.line = number};
  // Primus prints "6381.4/6381.4": of this iteration, and on average. Others the mean since the line before.
  if (const auto ms = number_after(line, "elapsed time per iteration (ms)"); ms && *ms > 0)
    iteration.seconds = *ms * 1e-3;
  iteration.number = count_of(number_after(line, "iteration ")).value_or(0);
  iteration.batch = count_of(number_after(line, "global batch size:")).value_or(0);
  if (const auto tokens = number_after(line, "tokens per GPU (tokens/s/GPU):"); tokens && *tokens > 0)
    iteration.tokens_per_s_per_gpu = tokens;
  log.iterations.push_back(iteration);
}

double count_after(std::string_view line, std::string_view key) {
  return number_after(line, key).value_or(0);
}

}  // namespace

TrainingLog read_megatron_log(std::string_view text, const std::string& name) {
  TrainingLog log{.name = name, .format = "Megatron-LM log"};
  double skipped = 0, nan = 0;
  std::int64_t memory = 0;
  for_each_log_line(text, [&](std::string_view line, std::int64_t number) {
    take_iteration(log, line, number);
    take_argument(log, line, number);
    take_layout(log, line, number);
    skipped += count_after(line, "number of skipped iterations:");
    nan += count_after(line, "number of nan iterations:");
    if (memory == 0 && line.find("out of memory") != std::string_view::npos) memory = number;
  });
  if (!log.iterations.empty() && log.iterations.back().batch > 0)
    log.set("batch.global", log.iterations.back().batch, log.iterations.back().line);
  if (memory > 0) log.notes.push_back(fmt::format("the run went out of memory (line {})", memory));
  if (skipped > 0)
    log.notes.push_back(
        fmt::format("{} iterations skipped their optimizer (loss scale), and count as they are", skipped));
  if (nan > 0) log.notes.push_back(fmt::format("{} iterations with a loss that is no number", nan));
  return log;
}

}  // namespace busbar
