// The exchanges inside a layer, as collectives on communicators.
#pragma once

#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "workloads/workload.h"

namespace busbar {

/// "tp", "cp", "ep", "etp": the communicator of an exchange, also its stream and its kind in reports.
[[nodiscard]] const char* slot_of(LayerExchange exchange);
[[nodiscard]] CollectiveKind collective_of(LayerExchange exchange);

/// One collective of those that an exchange of a layer is made of, in order.
struct ExchangeLeg {
  std::string slot, suffix;  // communicator, also its stream; ".rail": of the operation's name
  Bytes bytes;
  bool follows = false;  // the one before, on the same stream; else they begin together
};

/// The context ring is cp - 1 of them. Dispatch under a limit on hosts is two: of a rank's rows, one copy a
/// host goes to the member of the same number there, D = min(limit, hosts, top_k) hosts a token, from where
/// each expert's row goes on inside the host. Combine sums inside the host and sends the sums back; backward
/// mirrors both. Tokens pass on as they come, so that the two run beside each other.
///     rail: bytes x D / top_k over the hosts,   host: bytes over the members of a host
/// Everything else is one. Sizes are rounded up to whole elements for each member.
/// Source: DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, sections 2.1.2 and 3.2.2.
/// Not modelled: rows of one token for several experts of a rank, which could travel once; the way of the
/// first tokens, before the second leg has any.
[[nodiscard]] std::vector<ExchangeLeg> legs_of(const LayerCommunication& communication,
                                               const Workload& workload);

}  // namespace busbar
