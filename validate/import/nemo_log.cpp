#include <array>
#include <utility>

#include "calibrate/import/text_scan.h"
#include "sim/base/json_reader.h"
#include "validate/import/training_log.h"

namespace busbar {

namespace {

constexpr std::string_view kTime = "train_step_timing in s";

// NeMo's settings, in a workload's terms. Source: NeMo,
// examples/nlp/language_modeling/conf/megatron_gpt_config.yaml.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSettings = {{
    {"cfg/micro_batch_size", "batch.micro"},
    {"cfg/global_batch_size", "batch.global"},
    {"cfg/encoder_seq_length", "batch.sequence"},
    {"cfg/tensor_model_parallel_size", "parallel.tp"},
    {"cfg/pipeline_model_parallel_size", "parallel.pp"},
    {"cfg/context_parallel_size", "parallel.cp"},
    {"cfg/num_layers", "model.layers"},
    {"cfg/hidden_size", "model.hidden"},
    {"cfg/num_attention_heads", "model.heads"},
}};

// Numbers come as numbers or as text.
std::optional<double> number_of(const std::optional<JsonValue>& value) {
  if (!value) return std::nullopt;
  if (value->is_number()) return value->number(-1e300, 1e300);
  return value->is_string() ? parse_decimal(value->string()) : std::nullopt;
}

void take_settings(TrainingLog& log, const JsonValue& data, std::int64_t line) {
  for (const auto& [setting, key] : kSettings)
    if (const auto value = count_of(number_of(data.find(setting)))) log.set(key, *value, line);
  const auto hosts = number_of(data.find("trainer/num_nodes")),
             each = number_of(data.find("trainer/devices"));
  if (hosts && each)
    if (const auto gpus = count_of(*hosts * *each)) log.set("gpus", *gpus, line);
}

}  // namespace

TrainingLog read_nemo_log(std::string_view text, const std::string& name) {
  TrainingLog log{.name = name, .format = "NeMo log"};
  double last_step = -1;
  for_each_log_line(text, [&](std::string_view line, std::int64_t number) {
    const auto seconds = number_after(line, kTime);
    if (!seconds) return;
    // A progress bar is drawn again and again: one time per step counts, the first.
    const auto step = number_after(line, "global_step");
    if (step && *step == last_step) return;
    last_step = step.value_or(-1);
    LogIteration iteration{.line = number, .seconds = seconds, .number = count_of(step).value_or(0)};
    if (const auto batch = count_of(number_after(line, "global_batch_size:"))) {
      iteration.batch = *batch;
      log.set("batch.global", iteration.batch, number);
    }
    log.iterations.push_back(iteration);
  });
  return log;
}

TrainingLog read_dllogger(std::string_view text, const std::string& name) {
  constexpr std::string_view kMark = "DLLL ";
  TrainingLog log{.name = name, .format = "DLLogger log"};
  LineScanner lines(text);
  while (lines.next()) {
    if (!lines.line().starts_with(kMark)) continue;
    const auto document = json_of_line(log, lines.line().substr(kMark.size()), lines.number(),
                                       lines.at_end() && !text.ends_with('\n'));
    if (!document) continue;
    const auto data = document->root().find("data");
    if (!data || !data->is_object()) continue;
    take_settings(log, *data, lines.number());
    if (const auto seconds = number_of(data->find(kTime)); seconds && *seconds > 0)
      log.iterations.push_back({.line = lines.number(),
                                .seconds = seconds,
                                .number = count_of(number_of(document->root().find("step"))).value_or(0)});
  }
  return log;
}

}  // namespace busbar
