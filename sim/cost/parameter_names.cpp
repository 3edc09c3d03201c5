#include "sim/cost/parameter_names.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

using enum ParameterUnit;

struct Word {
  std::string_view own, readable;
  ParameterUnit unit;
  std::string_view pinned_by;
};

constexpr std::string_view kSmallSizes =
    "small sizes (1 to 64 KiB) on 2, 4 and 8 ranks, each protocol forced";
constexpr std::string_view kMiddleSizes = "all_reduce by rings, Simple forced, 64 KiB to 64 MiB";
constexpr std::string_view kLargeSizes = "large sizes (64 MiB and more), each protocol forced";
constexpr std::string_view kGroupedSends = "all_to_all and send_recv, 1 KiB to 1 GiB";
constexpr std::string_view kSwitch = "all_reduce with nvls forced, 64 KiB to 1 GiB";
constexpr std::string_view kTrees = "all_reduce by trees on several hosts, 1 KiB to 64 MiB";

constexpr std::array<Word, 33> kWords = {{
    {"base_us", "base_latency", kMicroseconds, kSmallSizes},
    {"hop_us", "hop_latency", kMicroseconds, kSmallSizes},
    {"efficiency", "efficiency", kNone, kLargeSizes},
    {"share", "rate_share", kNone, kLargeSizes},
    {"ll_channel_GBps", "ll_channel_rate", kGigabytesPerSecond, "LL forced, 64 KiB to 16 MiB"},
    {"half_kib", "half_rate_chunk", kKibibytes, kMiddleSizes},
    {"half_exponent", "half_rate_exponent", kNone, kMiddleSizes},
    {"tail_all_reduce", "closing_copy_all_reduce", kNone, "all_reduce by rings, 1 MiB to 1 GiB"},
    {"tail_gather", "closing_copy_gathers", kNone, "all_gather and reduce_scatter, 1 MiB to 1 GiB"},
    {"tail_floor", "closing_copy_left", kNone, "all_gather and all_reduce at 1 GiB and more"},
    {"half_MB", "half_rate_message", kMegabytes, kSwitch},
    {"chunk_kib", "halving_chunk", kKibibytes, kSwitch},
    {"half_us", "half_rate_time", kMicroseconds, kGroupedSends},
    {"channel_GBps", "channel_rate", kGigabytesPerSecond, "send_recv between two GPUs of a host"},
    {"network_channel_GBps", "network_channel_rate", kGigabytesPerSecond, "send_recv between hosts"},
    {"launch_us", "launch_latency", kMicroseconds, "small sizes of a process that drives several GPUs"},
    {"ring_hop_us", "ring_hop_latency", kMicroseconds,
     "small sizes by rings on 2, 3 and 4 hosts, each protocol forced"},
    {"tree_hop_us", "tree_hop_latency", kMicroseconds,
     "small sizes by trees on 2, 4 and 8 hosts, each protocol forced"},
    {"nvls_tree_hop_us", "nvls_tree_hop_latency", kMicroseconds, "all_reduce with nvls-tree forced"},
    {"ll_cap_GBps", "ll_rate_limit", kGigabytesPerSecond, "LL forced on several hosts, 1 to 64 MiB"},
    {"tree_half_MB", "tree_half_rate_message", kMegabytes, kTrees},
    {"sends_share", "sends_share", kNone, kGroupedSends},
    {"sends_half_MB", "sends_half_rate_message", kMegabytes, kGroupedSends},
    {"sends_half_exponent", "sends_half_rate_exponent", kNone, kGroupedSends},
    {"memory_efficiency", "memory_efficiency", kNone, "a copy in the GPU's memory"},
    {"matmul_share", "matmul_share", kNone, "matmuls of several shapes"},
    {"own_share", "step_speed", kNone, "a training step (validate --solve compute-efficiency)"},
    {"isolated_us", "isolated_latency", kMicroseconds, "isolated beside back-to-back times of small sizes"},
    {"LL", "LL", kNone, ""},
    {"LL128", "LL128", kNone, ""},
    {"Simple", "Simple", kNone, ""},
    {"nvls", "nvls", kNone, ""},
    {"sends", "sends", kNone, ""},
}};

const Word* find_word(std::string_view own) {
  for (const Word& w : kWords)
    if (w.own == own) return &w;
  return nullptr;
}

// What a person reads is grouped: the sends of a GPU generation and the switch have their own measurements.
std::string_view measurement_of(std::string_view parameter, const Word& word) {
  if (parameter.find(".nvls.") != std::string_view::npos) return kSwitch;
  if (parameter.find(".sends.") != std::string_view::npos && !word.own.ends_with("_GBps"))
    return kGroupedSends;
  return word.pinned_by;
}

double to_digits(double value, int digits) {
  const std::string text = fmt::format("{:.{}g}", value, digits);
  double parsed = 0;
  std::from_chars(text.data(), text.data() + text.size(), parsed);
  return parsed;
}

double bytes_of(double value, ParameterUnit unit) {
  return std::max(1.0, std::round(value * (unit == kKibibytes ? 1024 : 1e6)));
}

}  // namespace

ParameterLabel label_of(std::string_view parameter) {
  ParameterLabel label;
  std::size_t begin = 0;
  while (begin <= parameter.size()) {
    const std::size_t end = std::min(parameter.find('.', begin), parameter.size());
    const std::string_view part = parameter.substr(begin, end - begin);
    const Word* word = find_word(part);
    if (begin > 0) label.name += '.';
    label.name += word != nullptr ? word->readable : part;
    if (word != nullptr && !word->pinned_by.empty()) {
      label.unit = word->unit;
      label.pinned_by = measurement_of(parameter, *word);
    }
    begin = end + 1;
  }
  BUSBAR_CHECK(!label.pinned_by.empty());
  return label;
}

bool is_share_of_hardware(std::string_view parameter) {
  return parameter.ends_with("efficiency") || parameter.find(".share.") != std::string_view::npos ||
         parameter.ends_with(".sends_share");
}

double rounded_value(double value, ParameterUnit unit) {
  switch (unit) {
    case kNone:
    case kGigabytesPerSecond:
      return to_digits(value, 5);
    case kMicroseconds:
      return std::max(1.0, std::round(to_digits(value, 5) * 1e6)) / 1e6;
    case kKibibytes:
      return bytes_of(value, unit) / 1024;
    case kMegabytes:
      return bytes_of(value, unit) / 1e6;
  }
  BUSBAR_CHECK(false);
}

std::string value_text(double value, ParameterUnit unit) {
  const double rounded = rounded_value(value, unit);
  switch (unit) {
    case kNone:
      return fmt::format("{}", rounded);
    case kGigabytesPerSecond:
      return fmt::format("{} GB/s", rounded);
    case kMicroseconds:
      return fmt::format("{} us", rounded);
    case kKibibytes:
    case kMegabytes:
      return fmt::format("{:.0f} B", bytes_of(value, unit));
  }
  BUSBAR_CHECK(false);
}

std::string value_for_people(double value, ParameterUnit unit) {
  switch (unit) {
    case kNone:
      return fmt::format("{:.3f}", value);
    case kGigabytesPerSecond:
      return fmt::format("{:.3g} GB/s", value);
    case kMicroseconds:
      return fmt::format("{:.3g} us", value);
    case kKibibytes:
      return fmt::format("{:.3g} KiB", value);
    case kMegabytes:
      return fmt::format("{:.3g} MB", value);
  }
  BUSBAR_CHECK(false);
}

}  // namespace busbar
