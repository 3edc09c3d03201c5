// Input: a trace of one rank, a log of training, or steps of busbar.measured/1.
#include "tests/fuzz/fuzz.h"
#include "validate/import/measured_steps_json.h"
#include "validate/import/trace_events.h"
#include "validate/import/trace_steps.h"
#include "validate/import/training_log.h"

namespace busbar {
namespace {

void check(const MeasuredStep& step) {
  BUSBAR_CHECK(step.steps > 0 && (step.time || step.tokens_per_s_per_gpu));
  for (const MeasuredRank& rank : step.ranks) {
    const MeasuredSplit& s = rank.split;
    for (const Time part : {s.compute, s.communication, s.exposed, s.waiting, s.bubble, s.idle})
      BUSBAR_CHECK(part >= Time::zero() && part <= rank.step);
  }
}

}  // namespace
}  // namespace busbar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar;
  const std::string_view text = text_of(data, size);
  read_or_refuse([&] {
    std::vector<RankTrace> traces;
    traces.push_back(read_rank_trace_text(text, "rank0.json"));
    check(step_of(std::move(traces)));
  });
  read_or_refuse([&] {
    if (const LogFormat* const format = log_format_of(text)) check(step_of(format->read(text, "train.log")));
  });
  read_or_refuse([&] {
    for (const MeasuredStep& step : read_measured_steps(JsonDocument::parse(text, "measured.json")))
      check(step);
  });
  return 0;
}
