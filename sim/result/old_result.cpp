// What a comparison needs of an older result.
#include "sim/result/run_result_io.h"

namespace busbar {

OldResult read_old_result(const JsonDocument& document) {
  const JsonValue root = document.root();
  const std::string schema = root.at("schema").string();
  OldResult old{.name = document.name()};
  if (const auto cluster = root.find("cluster")) old.cluster = cluster->string();
  constexpr double kLongest = 1e9, kFastest = 1e18;
  if (schema == "busbar.result/1") {
    for (const auto& [key, unused] : times_of(RunResult{}))
      if (const auto value = root.find(key)) old.times_s.emplace_back(key, value->number(0, kLongest));
    return old;
  }
  if (schema != "busbar.sweep/1") root.at("schema").fail("\"busbar.result/1\" or \"busbar.sweep/1\"");
  const auto text = [](const JsonValue& row, const char* key) {
    const auto value = row.find(key);
    return value ? value->string() : std::string();
  };
  for (const JsonValue& row : root.at("rows").items()) {
    old.operation = row.at("operation").string();
    const auto busbw = row.find("busbw_Bps");
    old.rows.push_back({.size = Bytes(row.at("size_bytes").integer(0, INT64_MAX)),
                        .time_s = row.at("time_s").number(0, kLongest),
                        .busbw_Bps = busbw ? busbw->number(0, kFastest) : 0,
                        .algorithm = text(row, "algorithm"),
                        .protocol = text(row, "protocol")});
  }
  return old;
}

}  // namespace busbar
