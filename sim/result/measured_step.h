// What somebody measured of a training step: the plain record that traces and logs are read into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// A setting that the source prints, in the workload's terms: "gpus", "batch.global", "parallel.tp".
struct MeasuredSetting {
  std::string key;
  std::int64_t value = 0;
  std::string where;  // "log.txt:14"
};

/// Where a rank's step went, as the result of a simulation has it (TimeSplit): the parts are unions of spans,
/// and a moment counts as the first of these that holds in it. Medians over steps, means over ranks, so that
/// they add up to the step only nearly.
struct MeasuredSplit {
  Time compute;        // a kernel runs that is no communication
  Time communication;  // transfers are under way, kernels or not; waiting included if not separated
  Time exposed;        // no other kernel runs, a transfer is under way; waiting included if not separated
  Time waiting;        // neither, and members of a collective are waited for
  Time bubble;         // the same for the peer of a send or receive
  Time idle;           // none of these
};

/// One process group.
struct MeasuredGroup {
  std::string name;        // as the source calls it: "default_pg"; "" where it does not say
  std::int64_t ranks = 0;  // 0: the source does not say
  Time exposed;            // of `MeasuredSplit::exposed`
};

/// The collectives of one step that are alike. `time` is the mean of one, as the prediction has it, without
/// waiting where that could be told apart.
struct MeasuredCollective {
  std::optional<CollectiveKind> operation;  // none: a kernel that does not say
  std::string group;                        // as in MeasuredGroup
  std::int64_t ranks = 0;                   // 0: the source does not say
  std::optional<Bytes> bytes;               // nccl-tests' size; none: the source does not say
  /// Where it does not: the number of the call among those of its operation and group in a step, from 0.
  std::optional<std::size_t> position;
  double count = 0;  // per step and rank that takes part
  Time time;
  std::string kernel;  // what ran: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"; may be empty
};

/// What one rank's file says.
struct MeasuredRank {
  std::int64_t rank = 0;
  Time step;  // median
  MeasuredSplit split;
};

struct MeasuredStep {
  std::string source;        // a file, or the first of several
  std::string format;        // "PyTorch trace", "Megatron-LM log"
  std::size_t steps = 0;     // that count
  std::optional<Time> time;  // median
  std::optional<Time> p10, p90;
  std::optional<double> tokens_per_s_per_gpu;  // of logs that print no time
  std::optional<double> rate_p10, rate_p90;    // of it
  std::optional<MeasuredSplit> split;
  bool waiting_separated = false;  // from transfers: the files of several members of each group are read
  std::vector<MeasuredRank> ranks;
  std::vector<MeasuredGroup> groups;            // by name and ranks
  std::vector<MeasuredCollective> collectives;  // those that take longest in all first
  std::vector<MeasuredSetting> settings;
  std::vector<std::string> notes;  // what was left out, repaired or doubted, a sentence each
};

}  // namespace busbar
