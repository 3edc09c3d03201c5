#include "sim/study/study_search.h"

#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/study/study_quantities.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

constexpr std::int64_t kMostSimulated = 1'000'000;
constexpr std::size_t kDefaultSimulated = 48;

std::optional<std::vector<std::int64_t>> read_numbers(const JsonValue& parent, const char* key) {
  const auto value = parent.find(key);
  if (!value) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const JsonValue& item : value->items()) numbers.push_back(item.integer(1, kMaxRanks));
  if (numbers.empty()) value->fail("a list of whole numbers such as [1, 2, 4]");
  return numbers;
}

/// Values of an enumeration by the names that `name_of` gives them.
template <class Enum, std::size_t count>
void read_names(const JsonValue& parent, const char* key, const std::array<Enum, count>& known,
                std::vector<Enum>& chosen) {
  const auto value = parent.find(key);
  if (!value) return;
  std::vector<std::string_view> names;
  names.reserve(known.size());
  for (const Enum k : known) names.push_back(name_of(k));
  chosen.clear();
  for (const JsonValue& item : value->items()) {
    const std::string text = item.string();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) item.fail(one_of(names), did_you_mean(text, names));
    chosen.push_back(known[static_cast<std::size_t>(found - names.begin())]);
  }
  if (chosen.empty()) value->fail("a list that is not empty");
}

void read_orders(const JsonValue& parent, std::vector<bool>& outside) {
  const auto value = parent.find("order");
  if (!value) return;
  outside.clear();
  for (const JsonValue& item : value->items()) {
    const std::string text = item.string();
    if (text != "tp-cp-dp-pp" && text != "tp-cp-pp-dp") item.fail("\"tp-cp-dp-pp\" or \"tp-cp-pp-dp\"");
    outside.push_back(text == "tp-cp-dp-pp");
  }
  if (outside.empty()) value->fail("a list that is not empty");
}

}  // namespace

std::size_t read_search_space(const JsonValue& value, SearchSpace& space) {
  value.only_keys({"tp", "cp", "pp", "ep", "virtual_stages", "micro", "sharding", "recompute", "schedule",
                   "order", "most_micro", "least_context_tokens", "simulate"});
  space.tp = read_numbers(value, "tp");
  space.cp = read_numbers(value, "cp");
  space.pp = read_numbers(value, "pp");
  space.ep = read_numbers(value, "ep");
  space.virtual_stages = read_numbers(value, "virtual_stages");
  space.micro = read_numbers(value, "micro");
  using S = Sharding;
  read_names(value, "sharding",
             std::array{S::kNone, S::kZero1, S::kZero2, S::kZero3, S::kFsdp, S::kHsdp, S::kDistributed},
             space.sharding);
  read_names(value, "recompute", std::array{Recompute::kNone, Recompute::kSelective, Recompute::kFull},
             space.recompute);
  using P = PipelineSchedule;
  read_names(value, "schedule",
             std::array{P::kGpipe, P::k1f1b, P::kInterleaved, P::kZeroBubbleH1, P::kZeroBubble2p},
             space.schedules);
  read_orders(value, space.stages_outside);
  if (const auto most = value.find("most_micro")) space.most_micro = most->integer(1, kMaxRanks);
  if (const auto least = value.find("least_context_tokens"))
    space.least_context_tokens = least->integer(1, kMostSimulated * 1000);
  const auto simulate = value.find("simulate");
  return simulate ? static_cast<std::size_t>(simulate->integer(1, kMostSimulated)) : kDefaultSimulated;
}

FailureSpec read_failures(const JsonValue& value) {
  value.only_keys({"mtbf", "storage", "staging", "checkpoint", "bytes_per_parameter", "mode", "interval",
                   "interval_steps", "restart", "repair", "spares"});
  FailureSpec f;
  if (const auto mtbf = value.find("mtbf")) f.gpu_mtbf_s = read_mean_time_between_failures(*mtbf);
  if (const auto storage = value.find("storage")) f.storage_Bps = storage->bandwidth().Bps();
  if (const auto staging = value.find("staging")) f.staging_Bps = staging->bandwidth().Bps();
  if (const auto size = value.find("checkpoint")) {
    f.checkpoint_bytes = size->bytes().as_double();
    if (*f.checkpoint_bytes <= 0) size->fail("a size above 0 B, or no \"checkpoint\"");
  }
  if (const auto each = value.find("bytes_per_parameter")) f.bytes_per_parameter = each->number(0.1, 1000);
  if (const auto mode = value.find("mode")) {
    static constexpr std::array<std::string_view, 2> kModes = {"synchronous", "asynchronous"};
    const std::string text = mode->string();
    if (text != kModes[0] && text != kModes[1]) mode->fail(one_of(kModes), did_you_mean(text, kModes));
    f.asynchronous = text == kModes[1];
  }
  if (const auto interval = value.find("interval")) f.interval_s = read_duration(*interval);
  if (const auto steps = value.find("interval_steps"))
    f.interval_steps = steps->integer(1, kMostSimulated * 1000);
  if (const auto restart = value.find("restart")) f.restart_s = read_duration(*restart);
  if (const auto repair = value.find("repair")) f.repair_s = read_duration(*repair);
  if (const auto spares = value.find("spares")) f.spares = spares->integer(0, kMaxRanks);
  if (!f.storage_Bps)
    value.fail_because("checkpoints need \"storage\", the bandwidth of all hosts together to it");
  if (f.asynchronous && !f.staging_Bps)
    value.fail_because("asynchronous checkpoints need \"staging\", a host's bandwidth to where they wait");
  if (f.interval_s && f.interval_steps) value.fail_because("one of interval and interval_steps");
  return f;
}

}  // namespace busbar
