#include "validate/import/log_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/statistics.h"

namespace busbar {

namespace {

// What an iteration takes, in any unit that compares within one log.
std::optional<double> cost(const LogIteration& i) {
  if (i.seconds) return i.seconds;
  if (i.tokens_per_s_per_gpu && *i.tokens_per_s_per_gpu > 0) return 1 / *i.tokens_per_s_per_gpu;
  return std::nullopt;
}

double median_cost(const std::vector<LogIteration>& iterations, std::size_t from) {
  std::vector<double> costs;
  for (std::size_t i = from; i < iterations.size(); ++i) costs.push_back(cost(iterations[i]).value());
  return median_of(std::move(costs));
}

void drop_without_time(TrainingLog& log) {
  const std::size_t before = log.iterations.size();
  std::erase_if(log.iterations, [](const LogIteration& i) { return !cost(i); });
  if (const std::size_t lost = before - log.iterations.size(); lost > 0)
    log.notes.push_back(fmt::format("{} line{} without a time (nan) left out", lost, lost == 1 ? "" : "s"));
}

// A batch that grows during the run is another step each time.
void keep_last_batch(TrainingLog& log) {
  const std::int64_t batch = log.iterations.back().batch;
  if (batch == 0) return;
  const auto lost =
      std::erase_if(log.iterations, [&](const LogIteration& i) { return i.batch != 0 && i.batch != batch; });
  if (lost > 0)
    log.notes.push_back(
        fmt::format("{} lines with another global batch than the last one's {} left out", lost, batch));
}

void drop_warm_up(TrainingLog& log) {
  if (log.iterations.size() == 1) {
    log.notes.emplace_back("a single line with a time: it may be warm-up");
    return;
  }
  std::size_t first = 1;
  const auto goes_on = [&](std::size_t i) {
    return log.iterations[i].number == 0 || log.iterations[i].number > log.iterations[i - 1].number;
  };
  while (first + 1 < log.iterations.size() && goes_on(first) &&
         *cost(log.iterations[first]) > kWarmUp * median_cost(log.iterations, first + 1))
    ++first;
  if (first < log.iterations.size() && !goes_on(first)) first = 1;  // a whole run is no warm-up
  log.notes.push_back(
      fmt::format("the first {}left out as warm-up",
                  first == 1 ? "line with a time " : fmt::format("{} lines with a time ", first)));
  log.iterations.erase(log.iterations.begin(), log.iterations.begin() + static_cast<std::ptrdiff_t>(first));
}

// A run counts its iterations upwards. One that is started again goes back.
void note_several_runs(TrainingLog& log) {
  const LogIteration* before = nullptr;
  for (const LogIteration& i : log.iterations) {
    if (i.number == 0) continue;
    if (before != nullptr && i.number <= before->number) {
      log.notes.push_back(fmt::format(
          "iteration {} ({}) comes after iteration {} ({}): several runs, or one that was started "
          "again, in one log; all of them count",
          i.number, at_line(log.name, i.line), before->number, at_line(log.name, before->line)));
      return;
    }
    before = &i;
  }
}

std::size_t digits_at(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

std::string with_null_for_nan(std::string_view json) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"' && (i == 0 || json[i - 1] != '\\')) quoted = !quoted;
    std::size_t length = 0;
    if (!quoted)
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
        if (length == 0 && json.substr(i).starts_with(word)) length = word.size();
    if (length == 0) {
      text += json[i];
      continue;
    }
    text += "null";
    i += length - 1;
  }
  return text;
}

template <class Get>
std::vector<double> values_of(const TrainingLog& log, Get get) {
  std::vector<double> values;
  for (const LogIteration& i : log.iterations)
    if (const auto value = get(i)) values.push_back(*value);
  return values;
}

}  // namespace

void TrainingLog::set(std::string_view key, std::int64_t value, std::int64_t line) {
  const auto known =
      std::find_if(settings.begin(), settings.end(), [&](const MeasuredSetting& s) { return s.key == key; });
  if (known == settings.end()) {
    settings.push_back({std::string(key), value, at_line(name, line)});
    return;
  }
  if (known->value == value || key == "batch.global" || !differing.emplace(key).second) return;
  notes.push_back(fmt::format("{} is {} ({}) and {} ({}): several runs in one log? The first is taken", key,
                              known->value, known->where, value, at_line(name, line)));
}

MeasuredStep step_of(TrainingLog log) {
  drop_without_time(log);
  if (log.iterations.empty())
    throw Error({.where = log.name,
                 .message = fmt::format("a {} without a single iteration that has a time", log.format),
                 .suggestion = joined(log.notes)});
  note_several_runs(log);
  keep_last_batch(log);
  drop_warm_up(log);
  MeasuredStep step{.source = log.name, .format = log.format, .steps = log.iterations.size()};
  const auto seconds = values_of(log, [](const LogIteration& i) { return i.seconds; });
  const auto rates = values_of(log, [](const LogIteration& i) { return i.tokens_per_s_per_gpu; });
  if (!seconds.empty()) {
    step.time = Time::from_seconds(median_of(seconds));
    step.p10 = Time::from_seconds(quantile(seconds, 0.1));
    step.p90 = Time::from_seconds(quantile(seconds, 0.9));
  }
  if (!rates.empty()) {
    step.tokens_per_s_per_gpu = median_of(rates);
    step.rate_p10 = quantile(rates, 0.1);
    step.rate_p90 = quantile(rates, 0.9);
  }
  step.settings = std::move(log.settings);
  step.notes = std::move(log.notes);
  return step;
}

// ECMA-48: an escape, '[', parameters, and a letter that ends it.
std::string without_colours(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b' || i + 1 >= line.size() || line[i + 1] != '[') {
      text += line[i];
      continue;
    }
    i += 2;
    while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
  }
  return text;
}

std::optional<double> number_after(std::string_view line, std::string_view key, Comma comma) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  while (!line.empty() && (is_blank(line.front()) || line.front() == ':' || line.front() == '='))
    line.remove_prefix(1);
  std::string number;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool exponent = (c == 'e' || c == 'E') && !number.empty() && i + 1 < line.size();
    const bool sign =
        (c == '-' || c == '+') && (number.empty() || number.back() == 'e' || number.back() == 'E');
    const std::size_t after = c == ',' ? digits_at(line.substr(i + 1)) : 0;
    if (is_digit(c) || c == '.' || exponent || sign)
      number += c;
    else if (after == 0)
      break;
    else if (comma == Comma::kDecimal && after == 3)
      return std::nullopt;  // 1,600 may be either
    else if (comma == Comma::kDecimal || after != 3)
      number += '.';
  }
  return parse_decimal(number);
}

std::optional<JsonDocument> json_of_line(TrainingLog& log, std::string_view json, std::int64_t line,
                                         bool may_be_cut) {
  try {
    return JsonDocument::parse(with_null_for_nan(json), at_line(log.name, line));
  } catch (const Error&) {
    if (!may_be_cut) throw;
    log.notes.push_back(fmt::format("line {}, the last one, is cut and left out", line));
    return std::nullopt;
  }
}

std::optional<std::int64_t> count_of(std::optional<double> value) {
  constexpr double kMost = static_cast<double>(std::int64_t{1} << 40);
  if (!value || !(*value >= 1 && *value <= kMost)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace busbar
