#include "workloads/strategies/exchange.h"

#include "sim/base/error.h"

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

}  // namespace busbar
