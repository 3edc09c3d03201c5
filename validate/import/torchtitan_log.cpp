#include "calibrate/import/text_scan.h"
#include "validate/import/training_log.h"

namespace busbar {

// All ranks may log; their lines are of one step each. Rates are of one GPU: tokens of a data-parallel rank
// over time and over the ranks that share them. Source: torchtitan, torchtitan/components/metrics.py ("tps"),
// and train.py of its first releases ("wps").
TrainingLog read_torchtitan_log(std::string_view text, const std::string& name) {
  TrainingLog log{.name = name, .format = "torchtitan log"};
  std::optional<std::string> first_rank;
  for_each_log_line(text, [&](std::string_view line, std::int64_t number) {
    if (line.find("out of memory") != std::string_view::npos && log.notes.empty())
      log.notes.push_back("the run went out of memory (line " + std::to_string(number) + ")");
    const auto step = number_after(line, "step:");
    if (!step || line.find("loss:") == std::string_view::npos) return;
    auto rate = number_after(line, "tps:", Comma::kThousands);
    if (!rate) rate = number_after(line, "wps:", Comma::kThousands);
    if (!rate) return;
    const std::string_view rank = line.starts_with("[rank") ? line.substr(0, line.find(']')) : "";
    if (!first_rank) first_rank = rank;
    log.iterations.push_back({.line = number,
                              .seconds = std::nullopt,
                              .tokens_per_s_per_gpu = rate,
                              .number = rank == *first_rank ? count_of(step).value_or(0) : 0});
  });
  return log;
}

}  // namespace busbar
