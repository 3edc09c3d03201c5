#include "validate/import/training_log.h"

#include <array>

#include "calibrate/import/text_scan.h"

namespace busbar {

namespace {

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool is_megatron(std::string_view line) {
  return contains(line, "elapsed time per iteration") ||
         (contains(line, "using world size:") && contains(line, "model-parallel size:"));
}
bool is_torchtitan(std::string_view line) {
  return contains(line, "step:") && contains(line, "loss:") &&
         (contains(line, "tps:") || contains(line, "wps:"));
}
bool is_nemo(std::string_view line) { return contains(line, "train_step_timing in s"); }
bool is_dllogger(std::string_view line) { return line.starts_with("DLLL {"); }
bool is_mllog(std::string_view line) { return contains(line, ":::MLLOG {"); }

// DLLogger's lines have NeMo's keys: it comes first.
constexpr std::array<LogFormat, 5> kFormats = {{
    {"DLLogger log", is_dllogger, read_dllogger},
    {"MLPerf log", is_mllog, read_mllog},
    {"Megatron-LM log", is_megatron, read_megatron_log},
    {"NeMo log", is_nemo, read_nemo_log},
    {"torchtitan log", is_torchtitan, read_torchtitan_log},
}};

}  // namespace

std::span<const LogFormat> log_formats() { return kFormats; }

const LogFormat* log_format_of(std::string_view text) {
  LineScanner lines(text);
  while (lines.next()) {
    const std::string line = without_colours(lines.line().substr(0, kMaxLineBytes));
    for (const LogFormat& format : kFormats)
      if (format.is(line)) return &format;
  }
  return nullptr;
}

void for_each_log_line(std::string_view text,
                       const std::function<void(std::string_view, std::int64_t)>& take) {
  LineScanner lines(text);
  while (lines.next()) {
    std::string_view rest = lines.line();
    for (;;) {
      const std::size_t end = rest.find('\r');
      take(without_colours(rest.substr(0, end)), lines.number());
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }
}

}  // namespace busbar
