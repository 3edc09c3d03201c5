// Why an operation takes the time it takes: plain records, filled by replay when an explanation is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// One quantity of the formula, with the numbers put in: "cap", "B / c / (1 + ...) = 20.6 GB/s".
struct FormulaTerm {
  std::string name, text;
};

/// What holds the rate of an operation that has the machine to itself.
struct RateLimit {
  std::string what;         // a link class, "protocol" (a channel's own ceiling), "latency" or "nothing"
  std::string link;         // a link of that class that is full
  double capacity_Bps = 0;  // of that link, sustained
  double flows = 0;         // of the operation that share it
  Time lifted;              // time of the operation if that were no limit
  std::string next;         // what would limit it then
};

/// What an operation moves over one class of links.
struct ClassTraffic {
  std::string link_class;
  std::uint64_t links = 0;   // that it uses, on one group
  double bytes = 0;          // over the step: the sum over links, all groups
  double bytes_per_gpu = 0;  // the same over the GPUs that take part
  std::string busiest;       // a link
  double busiest_share = 0;  // of what that link sustains, at the peak, with the machine to itself
};

/// Waiting that one member caused by coming last.
struct MemberWait {
  std::uint32_t rank = 0;
  Time caused;  // summed over the members that waited
};

/// What let the last member arrive.
struct StartCause {
  std::string what;  // "backward compute"
  std::uint64_t count = 0;
};

/// Of two participants, ranks unless they are switches, which are numbered from 0: those inside the hosts in
/// the hosts' order, then the network's.
struct ExplainedSend {
  std::uint32_t from = 0, to = 0;
  std::uint32_t chunk = 0;
  bool reduce = false;
  std::vector<std::uint32_t> holds;  // whose contributions the receiver then has of the chunk
  bool from_switch = false, to_switch = false;
};

struct ExplainedRound {
  std::vector<ExplainedSend> sends;
};

/// One cell of NCCL's table: what it reckons an algorithm with a protocol takes.
struct PricedChoice {
  std::string algorithm, protocol;
  bool available = false;    // else the figures are 0
  double bandwidth_Bps = 0;  // the algorithm's: message size over time
  double latency_s = 0, estimate_s = 0;
  bool chosen = false;
};

/// By which NCCL chose: all algorithms, the protocols of each in a row. Empty where NCCL has no choice.
struct PricedChoices {
  std::string decided_by;  // version, and what overruled the estimates
  std::vector<PricedChoice> cells;
};

/// How data gets from GPU to GPU, and what a hop then costs.
struct TransportUse {
  std::string where;  // "in a host", "between hosts"
  std::string transport;
  Time hop_latency;       // of the profile, where the links state none
  double efficiency = 0;  // sustained / nominal
};

/// All operations of one kind, size, group kind and choice: what CollectiveRecord counts, explained.
struct Explanation {
  std::string operation, group, algorithm, protocol;
  std::string words;  // what the algorithm does
  std::uint32_t ranks = 0;
  std::int64_t channels = 0, count = 0;  // count: per member rank
  Bytes bytes;
  Time time;   // mean, from the last arrival to the end
  Time alone;  // with the machine to itself: latency + transfer + tail
  Time latency, transfer, tail;
  std::vector<FormulaTerm> terms;
  PricedChoices choices;
  std::vector<TransportUse> transports;
  std::string beyond;  // why busbw may exceed the line rate of the links, where it may
  RateLimit limit;
  Time waited;                         // per member and over the step, from its arrival to the last one's
  std::vector<MemberWait> waited_for;  // most first
  std::vector<StartCause> started_by;  // most first
  std::vector<ClassTraffic> crosses;   // most bytes first
  double chunk_bytes = 0;
  std::vector<ExplainedRound> rounds;  // the steps; small groups of a lone collective only
};

}  // namespace busbar
