// What happened when, for a timeline viewer: plain records, filled by replay when a trace is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// Which ranks a timeline shows; none named: the lowest rank of each program, which speaks for the others.
struct TimelineRequest {
  std::vector<std::uint32_t> ranks;
};

/// What all occurrences of one operation of a program share.
struct TimelineOperation {
  std::string id, what, phase, group;  // "f3", "all_gather", "forward", "dp"; the last two may be empty
  std::uint32_t stream = 0;
  std::int32_t layer = -1, microbatch = -1;  // -1: none
  Bytes bytes;                               // communicated
  double flops = 0;                          // computed
  double busbw_factor = 0;                   // busbw / algbw
};

struct TimelineProgram {
  std::string name;
  std::vector<std::string> streams;
  std::vector<TimelineOperation> operations;
};

/// How a communication ran.
struct TimelineChoice {
  std::string algorithm, protocol;
  std::int64_t channels = 0;
  std::uint32_t ranks = 0;
};

/// An operation of a program on a rank.
struct OperationOnRank {
  std::uint32_t rank = 0, program = 0, operation = 0;
};

/// One occurrence. Slices of one stream follow each other: none arrives before the one before it has ended.
struct TimelineSlice {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t operation = 0;         // of the track's program
  std::uint32_t choice = kNone;        // communications only
  std::uint32_t last_rank = kNone;     // the member that came last, for which it waited until `start`
  OperationOnRank cause{kNone, 0, 0};  // what let it arrive; rank kNone: the start of the step
  Time arrive, start, end;
};

struct TimelineTrack {
  std::uint32_t rank = 0, program = 0;
  std::uint64_t alike = 1;  // ranks that run the same program, this one included
  std::vector<TimelineSlice> slices;
};

/// A message between two ranks that are both shown.
struct TimelineMessage {
  std::uint32_t from = 0, from_stream = 0, to = 0, to_stream = 0;
  Bytes bytes;
  Time start, end;
};

/// Load of the busiest link of one class, as a share of what it sustains, from `at` to the next sample.
struct LoadSample {
  Time at;
  double share = 0;
};
struct TimelineCounter {
  std::string link_class;
  std::vector<LoadSample> samples;
};

struct Timeline {
  std::vector<TimelineProgram> programs;
  std::vector<TimelineChoice> choices;
  std::vector<TimelineTrack> tracks;  // by rank
  std::vector<TimelineMessage> messages;
  std::vector<TimelineCounter> counters;
};

/// Text that one slice takes at most, for refusing timelines before they are made.
inline constexpr double kTimelineBytesPerSlice = 500;
inline constexpr double kLargestTimeline = 1e9;  // bytes of text

}  // namespace busbar
