// From iterations as logs print them to one step that stands for them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/json_reader.h"
#include "sim/result/measured_step.h"

namespace busbar {

/// One line about one iteration, or about the mean of those since the line before.
struct LogIteration {
  std::int64_t line = 0;
  std::optional<double> seconds;
  std::optional<double> tokens_per_s_per_gpu;
  std::int64_t batch = 0;   // samples; 0: the line does not say
  std::int64_t number = 0;  // of the iteration in its run, counted once; 0: the line does not say
};

/// Lines slower than this many medians at the beginning of a log are warm-up: compilation, allocation,
/// autotuning. Our choice, between the 2.1 of a second iteration that still tuned its kernels and what noise
/// reaches.
inline constexpr double kWarmUp = 1.5;

/// What one log says, before it is summed up.
struct TrainingLog {
  std::string name, format;
  std::vector<LogIteration> iterations;
  std::vector<MeasuredSetting> settings;
  std::vector<std::string> notes;
  std::set<std::string, std::less<>> differing;  // settings that have been noted so

  /// Keeps the first of each key; a later one that differs is noted, but for the batch, which may grow.
  void set(std::string_view key, std::int64_t value, std::int64_t line);
};

/// Medians over the iterations that count: all with the batch of the last one, but the first, and but those
/// at the beginning that are slower than kWarmUp medians of what follows. A log of a single iteration keeps
/// it, with a note. Iterations whose numbers do not rise are noted: several runs in one log. The median of an
/// even number is the mean of the middle two. Errors (Error, kInput): no iteration has a time or a rate; the
/// log's notes say why.
[[nodiscard]] MeasuredStep step_of(TrainingLog log);

/// A line without the colours that terminals understand ("\x1b[32m").
[[nodiscard]] std::string without_colours(std::string_view line);

/// What a comma between digits is: a decimal one (before three digits: no number, as it may be either), or
/// one that may set three digits off (torchtitan's rates).
enum class Comma : std::uint8_t { kDecimal, kThousands };

/// The decimal number that follows the first `key` in `line`, past blanks, ':' and '='. none: no such key, or
/// no number there ("nan" is none).
[[nodiscard]] std::optional<double> number_after(std::string_view line, std::string_view key,
                                                 Comma comma = Comma::kDecimal);

/// The JSON of a line of a log: Python writes NaN and Infinity, which are read as null. none: the last line
/// of the text, cut; a note says so. Errors (Error, kInput): not JSON.
[[nodiscard]] std::optional<JsonDocument> json_of_line(TrainingLog& log, std::string_view json,
                                                       std::int64_t line, bool may_be_cut);

/// `value` as a count from 1 to 2^40; none: it is no such number.
[[nodiscard]] std::optional<std::int64_t> count_of(std::optional<double> value);

}  // namespace busbar
