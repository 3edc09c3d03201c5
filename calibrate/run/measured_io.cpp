#include "calibrate/run/measured_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "sim/result/version.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

std::size_t hosts_of(const Machine& machine, const std::vector<std::uint32_t>& members) {
  std::set<std::string> hosts;
  for (const std::uint32_t member : members) hosts.insert(machine.ranks.at(member).host);
  return hosts.size();
}

Json row_json(const Machine& machine, const SweepPoint& point, const TimeSpread& times, bool isolated) {
  Json row{{"operation", name_of(point.operation)},
           {"size_bytes", point.size.count()},
           {"ranks", point.members.size()},
           {"members", point.members},
           {"hosts", hosts_of(machine, point.members)},
           {"type", "float"},
           {"time_s", times.median_s},
           {"p10_s", times.p10_s},
           {"p90_s", times.p90_s}};
  if (isolated) row["isolated"] = true;
  if (point.in_place) row["in_place"] = true;
  if (!point.choice.algorithm.empty()) row["algorithm"] = point.choice.algorithm;
  if (!point.choice.protocol.empty()) row["protocol"] = point.choice.protocol;
  return row;
}

Json collectives_json(const Machine& machine, std::vector<PointTimes> points) {
  const auto place = [](const PointTimes& t) {
    return std::tie(t.point.operation, t.point.members, t.point.choice, t.point.size, t.point.in_place);
  };
  std::stable_sort(points.begin(), points.end(),
                   [&](const PointTimes& a, const PointTimes& b) { return place(a) < place(b); });
  Json rows = Json::array();
  for (const PointTimes& times : points)
    rows.push_back(row_json(machine, times.point, times.back_to_back, false));
  for (const PointTimes& times : points)
    if (times.isolated) rows.push_back(row_json(machine, times.point, *times.isolated, true));
  return rows;
}

Json kernel_json(const MeasuredKernel& kernel) {
  Json entry;
  switch (kernel.kind) {
    case MeasuredKernelKind::kCopy:
      entry = {{"kind", "copy"}, {"bytes", kernel.bytes.count()}};
      break;
    case MeasuredKernelKind::kMatmul:
      entry = {{"kind", "matmul"}, {"shape", kernel.shape}, {"type", name_of(kernel.type)}};
      break;
    case MeasuredKernelKind::kLaunch:
      entry = {{"kind", "launch"}};
      break;
  }
  if (kernel.rank) entry["rank"] = *kernel.rank;
  entry["time_s"] = kernel.time.seconds();
  return entry;
}

Json machine_json(const Machine& machine) {
  Json ranks = Json::array();
  for (const RankPlace& place : machine.ranks)
    ranks.push_back({{"host", place.host}, {"device", place.device}, {"local", place.local}});
  return {{"library", machine.library}, {"ranks", std::move(ranks)}};
}

}  // namespace

std::string measured_json(const Machine& machine, const JournalContents& contents,
                          const std::vector<std::string>& notes) {
  Json file{{"schema", "busbar.measured/1"},
            {"source", fmt::format("calibrate {} with {}", kVersion, machine.library)},
            {"origin", "measured-here"},
            {"machine", machine_json(machine)},
            {"notes", notes},
            {"collectives", collectives_json(machine, contents.points)}};
  if (contents.kernels && !contents.kernels->empty()) {
    file["kernels"] = Json::array();
    for (const MeasuredKernel& kernel : *contents.kernels) file["kernels"].push_back(kernel_json(kernel));
  }
  return file.dump(1) + "\n";
}

}  // namespace busbar
