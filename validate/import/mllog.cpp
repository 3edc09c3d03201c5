#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "calibrate/import/text_scan.h"
#include "sim/base/json_reader.h"
#include "validate/import/training_log.h"

namespace busbar {

namespace {

constexpr double kMost = 1e18;

std::optional<double> number_at(const std::optional<JsonValue>& object, std::string_view key) {
  if (!object || !object->is_object()) return std::nullopt;
  const auto value = object->find(key);
  return value && value->is_number() ? std::optional(value->number(-kMost, kMost)) : std::nullopt;
}

/// What a run says on the way to its times.
struct Run {
  std::optional<double> global_batch;
  std::map<double, double> blocks;  // samples at the beginning of a block -> ms
  // Several ranks may log: the first to begin and the first to end one count.
  std::optional<double> evaluating_since;
  double in_evaluation = 0;  // ms
};

std::optional<double> samples_of(const std::optional<JsonValue>& metadata) {
  for (const std::string_view key : {"samples_count", "epoch_num", "first_epoch_num"})
    if (const auto count = number_at(metadata, key)) return count;
  return std::nullopt;
}

// Blocks of training: between the beginnings of two of them lie as many samples as their metadata differ by,
// and an evaluation, which is taken off.
void take(TrainingLog& log, Run& run, const JsonValue& root, std::int64_t line) {
  const auto key = root.find("key");
  if (!key || !key->is_string()) return;
  const std::string name = key->string();
  const auto value = root.find("value"), metadata = root.find("metadata");
  const auto time = number_at(root, "time_ms");
  if (name == "global_batch_size" && value && value->is_number()) {
    run.global_batch = value->number(0, kMost);
    if (const auto batch = count_of(run.global_batch)) log.set("batch.global", *batch, line);
  } else if (name == "max_sequence_length" && value && value->is_number()) {
    if (const auto length = count_of(value->number(0, kMost))) log.set("batch.sequence", *length, line);
  } else if (time && name == "eval_start") {
    if (!run.evaluating_since) run.evaluating_since = time;
  } else if (time && name == "eval_stop") {
    if (run.evaluating_since) run.in_evaluation += *time - *std::exchange(run.evaluating_since, std::nullopt);
  } else if (time && (name == "block_start" || name == "block_stop")) {
    if (const auto samples = samples_of(metadata))
      run.blocks.try_emplace(*samples, *time - run.in_evaluation);
  }
}

void add_iterations(TrainingLog& log, const Run& run) {
  if (!run.global_batch || *run.global_batch < 1) return;
  for (auto next = run.blocks.begin(), last = next; next != run.blocks.end(); last = next++) {
    if (next == last) continue;
    const double steps = (next->first - last->first) / *run.global_batch;
    const double ms = next->second - last->second;
    if (steps > 0 && ms > 0) log.iterations.push_back({.line = 0, .seconds = ms * 1e-3 / steps});
  }
}

}  // namespace

TrainingLog read_mllog(std::string_view text, const std::string& name) {
  constexpr std::string_view kMark = ":::MLLOG ";
  TrainingLog log{.name = name, .format = "MLPerf log"};
  Run run;
  LineScanner lines(text);
  while (lines.next()) {
    const std::size_t at = lines.line().find(kMark);
    if (at == std::string_view::npos) continue;
    const auto document = json_of_line(log, lines.line().substr(at + kMark.size()), lines.number(),
                                       lines.at_end() && !text.ends_with('\n'));
    if (document) take(log, run, document->root(), lines.number());
  }
  add_iterations(log, run);
  log.notes.emplace_back(
      log.iterations.empty()
          ? "times come from block_start and block_stop with samples_count, and global_batch_size"
          : "mean times of blocks of samples, evaluations taken off");
  return log;
}

}  // namespace busbar
