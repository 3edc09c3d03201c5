#include "calibrate/import/measured_kernels.h"

#include <fmt/format.h>

#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/base/named_table.h"
#include "sim/base/rank_range.h"

namespace busbar {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
constexpr std::int64_t kLongestSide = std::int64_t{1} << 31;
constexpr double kLongest_s = 86400;
constexpr std::string_view kKinds[] = {"copy", "matmul", "launch"};

MeasuredKernelKind kind_of(const JsonValue& value) {
  const std::string name = value.string();
  for (std::size_t i = 0; i < std::size(kKinds); ++i)
    if (kKinds[i] == name) return static_cast<MeasuredKernelKind>(i);
  value.fail("one of " + one_of(kKinds), did_you_mean(name, kKinds));
}

void read_shape(const JsonValue& entry, MeasuredKernel& kernel) {
  const JsonValue shape = entry.at("shape"), type = entry.at("type");
  const std::vector<JsonValue> sides = shape.items();
  if (sides.size() != 3) shape.fail("[m, n, k]");
  for (std::size_t i = 0; i < 3; ++i) kernel.shape[i] = sides[i].integer(1, kLongestSide);
  const auto parsed = parse_data_type(type.string());
  if (!parsed)
    type.fail("one of " + one_of(data_type_names()), did_you_mean(type.string(), data_type_names()));
  kernel.type = *parsed;
}

MeasuredKernel read_kernel(const JsonValue& entry) {
  MeasuredKernel kernel{.where = entry.where(), .kind = kind_of(entry.at("kind"))};
  switch (kernel.kind) {
    case MeasuredKernelKind::kCopy:
      entry.only_keys({"kind", "rank", "bytes", "time_s"});
      kernel.bytes = Bytes(entry.at("bytes").integer(1, kMostBytes));
      break;
    case MeasuredKernelKind::kMatmul:
      entry.only_keys({"kind", "rank", "shape", "type", "time_s"});
      read_shape(entry, kernel);
      break;
    case MeasuredKernelKind::kLaunch:
      entry.only_keys({"kind", "rank", "time_s"});
      break;
  }
  if (const auto rank = entry.find("rank"))
    kernel.rank = static_cast<std::uint32_t>(rank->integer(0, kMaxRanks - 1));
  const JsonValue time = entry.at("time_s");
  kernel.time = Time::from_seconds(time.number(0, kLongest_s));
  if (kernel.time <= Time::zero()) time.fail("a time above 0");
  return kernel;
}

}  // namespace

std::vector<std::uint32_t> read_members(const JsonValue& value) {
  if (value.is_string()) {
    const std::optional<RankRange> range = parse_rank_range(value.string());
    if (!range || last_rank(*range) >= kMaxRanks) value.fail("ranks such as [0, 1], \"0-7\" or \"0-15:2\"");
    return expand({*range});
  }
  std::vector<std::uint32_t> ranks;
  std::set<std::uint32_t> seen;
  for (const JsonValue& item : value.items()) {
    ranks.push_back(static_cast<std::uint32_t>(item.integer(0, kMaxRanks - 1)));
    if (!seen.insert(ranks.back()).second) item.fail("each rank once");
  }
  if (ranks.empty()) value.fail("at least one rank");
  return ranks;
}

std::vector<MeasuredKernel> read_measured_kernels(const JsonValue& list) {
  const std::vector<JsonValue> entries = list.items();
  if (entries.size() > kMaxRows) list.fail(fmt::format("at most {} kernels", kMaxRows));
  std::vector<MeasuredKernel> kernels;
  kernels.reserve(entries.size());
  for (const JsonValue& entry : entries) kernels.push_back(read_kernel(entry));
  return kernels;
}

}  // namespace busbar
