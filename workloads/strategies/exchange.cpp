#include "workloads/strategies/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "workloads/strategies/layout.h"

namespace busbar {

const char* slot_of(LayerExchange exchange) {
  switch (exchange) {
    case LayerExchange::kTensorAllReduce:
    case LayerExchange::kTensorGather:
    case LayerExchange::kTensorScatter:
      return "tp";
    case LayerExchange::kContextRing:
    case LayerExchange::kContextGather:
    case LayerExchange::kContextScatter:
    case LayerExchange::kContextAllToAll:
      return "cp";
    case LayerExchange::kExpertAllToAll:
      return "ep";
    case LayerExchange::kExpertGather:
    case LayerExchange::kExpertScatter:
    case LayerExchange::kExpertAllReduce:
      return "etp";
  }
  BUSBAR_CHECK(false);
}

CollectiveKind collective_of(LayerExchange exchange) {
  switch (exchange) {
    case LayerExchange::kTensorAllReduce:
    case LayerExchange::kExpertAllReduce:
      return CollectiveKind::kAllReduce;
    case LayerExchange::kTensorGather:
    case LayerExchange::kContextGather:
    case LayerExchange::kExpertGather:
      return CollectiveKind::kAllGather;
    case LayerExchange::kTensorScatter:
    case LayerExchange::kContextScatter:
    case LayerExchange::kExpertScatter:
      return CollectiveKind::kReduceScatter;
    case LayerExchange::kContextRing:
      return CollectiveKind::kSendRecv;
    case LayerExchange::kContextAllToAll:
    case LayerExchange::kExpertAllToAll:
      return CollectiveKind::kAllToAll;
  }
  BUSBAR_CHECK(false);
}

namespace {

Bytes whole_elements(std::int64_t bytes, DataType type, std::int64_t members) {
  const std::int64_t unit = members * size_of(type);
  return Bytes((bytes + unit - 1) / unit * unit);
}

std::vector<ExchangeLeg> limited_legs(const LayerCommunication& c, const Workload& w, std::int64_t hosts) {
  const std::int64_t top_k = w.model.transformer->experts->top_k;
  const std::int64_t visited = std::min({*w.moe.node_limit, hosts, top_k});
  const std::int64_t rail = checked_mul(c.bytes.count(), visited, "a dispatch") / top_k;
  const std::int64_t local = w.parallel.ep / hosts;
  std::vector<ExchangeLeg> legs = {{"ep.rail", ".rail", whole_elements(rail, c.type, hosts)}};
  if (local > 1) legs.push_back({"ep.host", ".host", whole_elements(c.bytes.count(), c.type, local)});
  return legs;
}

}  // namespace

std::vector<ExchangeLeg> legs_of(const LayerCommunication& c, const Workload& w) {
  const std::string slot = slot_of(c.exchange);
  if (c.exchange == LayerExchange::kExpertAllToAll && w.moe.node_limit)
    if (const std::int64_t hosts = Layout(w.parallel).size("ep.rail"); hosts > 1)
      return limited_legs(c, w, hosts);
  if (c.exchange == LayerExchange::kExpertAllToAll)
    return {{slot, "", whole_elements(c.bytes.count(), c.type, w.parallel.ep)}};
  if (c.exchange != LayerExchange::kContextRing || w.parallel.cp < 3) return {{slot, "", c.bytes}};
  std::vector<ExchangeLeg> legs;
  for (std::int64_t i = 0; i + 1 < w.parallel.cp; ++i)
    legs.push_back({slot, fmt::format(".{}", i), c.bytes, true});
  return legs;
}

}  // namespace busbar
