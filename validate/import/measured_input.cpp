#include "validate/import/measured_input.h"

#include <fmt/format.h>

#include <utility>

#include "calibrate/import/measured_json.h"
#include "calibrate/import/read_measured.h"
#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/input.h"
#include "sim/base/json_reader.h"
#include "validate/import/measured_steps_json.h"
#include "validate/import/trace_events.h"
#include "validate/import/trace_steps.h"
#include "validate/import/training_log.h"

namespace busbar {

namespace {

constexpr std::size_t kHead = 64U << 10U;

std::string head_of(const std::string& path) {
  InputStream in(path);
  std::string head(kHead, '\0');
  std::size_t size = 0;
  while (size < head.size()) {
    const std::size_t got = in.read(std::span(head).subspan(size));
    if (got == 0) break;
    size += got;
  }
  head.resize(size);
  return head;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A list of events, or an object with what Kineto writes before them.
bool is_trace(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  if (head[begin] == '[') return contains(head, "\"ph\"");
  if (head[begin] != '{' || contains(head, "\"busbar.")) return false;
  for (const std::string_view key :
       {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"distributedInfo\""})
    if (contains(head, key)) return true;
  return false;
}

bool is_measured_json(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (head[begin] == '{' || head[begin] == '/') &&
         contains(head, "\"busbar.measured/");
}

void append(Measurement& all, Measurement more) {
  for (MeasuredTable& table : more.tables) all.tables.push_back(std::move(table));
  for (MeasuredKernel& kernel : more.kernels) all.kernels.push_back(std::move(kernel));
}

void read_json(MeasuredInput& input, const std::string& path, const ImportHints& hints) {
  const JsonDocument document = JsonDocument::parse(load_text(path), path);
  read_measured_head(document.root());
  std::vector<MeasuredStep> steps = read_measured_steps(document);
  if (steps.empty() || document.root().find("collectives"))
    append(input.collectives, read_measured_json(document, hints));
  for (MeasuredStep& step : steps) input.steps.push_back(std::move(step));
}

void read_text(MeasuredInput& input, const std::string& path, const ImportHints& hints) {
  const std::string text = load_text(path);
  if (const LogFormat* const format = log_format_of(text)) {
    input.steps.push_back(step_of(format->read(text, path)));
    return;
  }
  try {
    append(input.collectives, read_measured_text(text, path, hints));
  } catch (const Error& e) {
    if (e.parts().given != "something else") throw;
    throw Error({.where = path,
                 .expected =
                     "what was measured: a trace of PyTorch's profiler, a log of Megatron-LM, Primus, "
                     "torchtitan, NeMo, DLLogger or MLPerf, busbar.measured/1, or collectives (nccl-tests, "
                     "rccl-tests, OSU, CSV)",
                 .given = e.parts().given});
  }
}

}  // namespace

MeasuredInput read_measured_inputs(std::span<const std::string> paths, const ImportHints& hints) {
  MeasuredInput input;
  std::vector<RankTrace> traces;
  for (const std::string& path : paths) {
    const std::string head = head_of(path);
    if (is_trace(head))
      traces.push_back(read_rank_trace(path));
    else if (is_measured_json(head))
      read_json(input, path, hints);
    else
      read_text(input, path, hints);
  }
  if (!traces.empty()) input.steps.push_back(step_of(std::move(traces)));
  return input;
}

}  // namespace busbar
