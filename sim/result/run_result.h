// What a simulated step is: plain records, filled by replay, read by reports and writers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/units.h"
#include "sim/result/drawing.h"
#include "sim/result/explanation.h"
#include "sim/result/timeline.h"

namespace busbar {

/// One line of provenance: a parameter, its value, and whether it was measured, fitted or is a default.
struct ParameterRecord {
  std::string name, value, origin, source;
};

/// Where a rank's step went. The five parts add up to `step` exactly (integers of picoseconds).
struct TimeSplit {
  Time step;            // from 0 to the end of its last operation
  Time compute;         // a kernel runs
  Time exposed;         // no kernel runs, a transfer whose members have all arrived is under way
  Time bubble;          // neither, and it waits for a pipeline peer
  Time straggler_wait;  // neither, and it waits for a member of a collective
  Time idle;            // none of these
  Time communication;   // transfers are under way, kernels or not
  std::map<std::string, Time> exposed_by_group;
};

/// All operations of one kind, size, group kind and choice, over the whole step.
struct CollectiveRecord {
  std::string operation, group;
  std::uint32_t ranks = 0;
  Bytes bytes;
  std::string algorithm, protocol;
  std::int64_t channels = 0;
  std::int64_t count = 0;    // per member rank
  std::uint64_t groups = 1;  // distinct ones that run it
  Time time;                 // mean of one operation, from the last arrival to the end
  Time exposed;              // of all of them, mean over member ranks
  double algbw_Bps = 0, busbw_Bps = 0;
  double attainable_busbw_Bps = 0;  // with the machine to itself; 0: not known
};

/// Of one rank.
struct RankSplit {
  std::uint32_t rank = 0;
  TimeSplit split;
};

/// Links that carried the same, under one name.
struct LinkRecord {
  std::string name, link_class;
  std::uint64_t members = 1;  // links of this class with the same capacity, bytes and peak
  double capacity_Bps = 0;    // sustained
  double nominal_Bps = 0;
  double bytes = 0;
  double busy_fraction = 0;  // bytes / (capacity x step)
  double peak_fraction = 0;
};

struct CriticalSegment {
  std::uint32_t rank = 0;
  std::string operation;  // the operation's id
  std::string what;       // "compute" or the collective's name
  std::string phase;      // "forward", ...; may be empty
  std::string waits_for;  // what started it: an operation, "rank 3 to arrive", or "the start"
  Time start, end;
};

struct TimelineEntry {
  std::string stream, operation, what;
  std::string group;        // of a communication; may be empty
  Time arrive, start, end;  // a collective arrives, then starts when all have come
};

struct RankTimeline {
  std::uint32_t rank = 0;
  std::string program;
  std::vector<TimelineEntry> entries;
};

/// What the ranks of one program (a pipeline stage, a place among experts) spend on average.
struct RoleRecord {
  std::string program;
  std::uint32_t ranks = 0;
  Time compute, bubble;
};

struct Warning {
  std::string code, text;
};

/// What the step time does when one parameter changes and nothing else: d ln(step time) / d ln(parameter).
struct SensitivityRecord {
  std::string parameter;         // "nic-bandwidth"
  std::string words;             // "NIC bandwidth per host"
  std::string value;             // as it is: "400 GB/s"; empty: not one figure
  bool less_is_better = false;   // times: latencies, costs
  bool is_load = false;          // more work: the batch; neither is better
  double elasticity = 0;         // over both sides
  double up = 0, down = 0;       // of a step to more alone, and to less
  std::optional<double> better;  // change of the step time, as a share of it, with the parameter 10 % better
};

struct MemoryRecord {
  Bytes parameters, gradients, optimizer, activations, buffers, total;
  std::optional<Bytes> capacity;
  std::optional<bool> fits;
};

struct InputRecord {
  std::string topology, topology_digest, workload, workload_digest, profile;
  std::vector<std::pair<std::string, std::string>> settings;  // effective, in file terms
  std::uint64_t seed = 0;
};

/// An earlier step beside this one: its parts in seconds, under the names of the file (step_time_s, ...).
struct ComparedStep {
  std::string name;
  std::vector<std::pair<std::string, double>> times_s;
};

struct RunResult {
  InputRecord inputs;
  std::string step_name;
  std::string cluster_name;
  std::uint32_t ranks = 0, hosts = 0;
  Time step_time;
  std::optional<std::pair<Time, Time>> step_time_interval;  // 95 %, of a profile that has draws
  std::uint32_t last_rank = 0;                              // ends last; ties: the lowest
  TimeSplit split;                                          // of last_rank
  std::vector<RankSplit> rank_splits;                       // of the ranks asked for
  double tokens = 0, model_flops = 0;                       // per step, all ranks; 0: unknown
  /// FLOPs of all kernels, per step, all ranks: the model's, what is recomputed (also inside fused
  /// attention's backward), and padding. 0: unknown, as where a kernel is given by its duration.
  double hardware_flops = 0;
  std::optional<double> peak_flops;    // mean of the GPUs in the matmul type, for MFU
  std::optional<MemoryRecord> memory;  // largest over programs
  std::vector<RoleRecord> roles;       // in the order of programs
  std::vector<CollectiveRecord> collectives;
  std::vector<LinkRecord> links;  // busiest first
  std::optional<Drawing> layout;  // if asked for
  std::vector<CriticalSegment> critical_path;
  std::vector<RankTimeline> timeline;  // if asked for
  std::vector<ParameterRecord> parameters;
  std::vector<std::string> assumptions;
  std::vector<SensitivityRecord> sensitivity;  // if asked for; what helps most first
  std::vector<Warning> warnings;
  std::vector<Explanation> explanations;  // if asked for; the longest in all first
  std::vector<ComparedStep> compared;
  std::optional<Timeline> full_timeline;  // if asked for
  std::uint64_t events = 0, solves = 0, classes = 0;
  double wall_s = 0;  // set by the program, not by the simulation
};

/// Picoseconds that the five parts miss of the step: always 0.
[[nodiscard]] inline Time unaccounted(const TimeSplit& s) {
  return s.step - s.compute - s.exposed - s.bubble - s.straggler_wait - s.idle;
}

/// Bubble by both definitions of the field: its share of the step, and what it adds to the rest of the step
/// (the ideal time). 1F1B with m microbatches on p equal stages: (p-1)/(m+p-1) and (p-1)/m.
/// Source: Huang et al., GPipe, 2019, section 2.3; Narayanan et al., SC 2021, section 2.2.1.
[[nodiscard]] inline double bubble_of_step(const TimeSplit& s) {
  return s.step > Time::zero() ? s.bubble.seconds() / s.step.seconds() : 0;
}
[[nodiscard]] inline double bubble_of_ideal(const TimeSplit& s) {
  return s.step > s.bubble ? s.bubble.seconds() / (s.step - s.bubble).seconds() : 0;
}

/// The role whose ranks compute longest, and its time over the mean of all ranks. 1: all alike, or no
/// kernels.
struct ComputeBalance {
  std::size_t busiest = 0;  // of `roles`
  double imbalance = 1;
};
[[nodiscard]] inline ComputeBalance compute_balance(const std::vector<RoleRecord>& roles) {
  ComputeBalance balance;
  double sum = 0, ranks = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    sum += roles[i].compute.seconds() * roles[i].ranks;
    ranks += roles[i].ranks;
    if (roles[i].compute > roles[balance.busiest].compute) balance.busiest = i;
  }
  if (sum > 0) balance.imbalance = roles[balance.busiest].compute.seconds() * ranks / sum;
  return balance;
}

}  // namespace busbar
