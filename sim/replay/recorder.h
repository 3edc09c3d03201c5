// Keeps what a timeline shows, while a step is replayed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/engine/strand_set.h"
#include "sim/replay/rendezvous.h"
#include "sim/result/timeline.h"
#include "topologies/topology.h"

namespace busbar {

class Replay;

/// Load of the busiest link of one class over time, in bounded memory: when full, neighbouring samples are
/// merged into their mean over time, so that the area under the curve stays.
class LoadCurve {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  void add(Time at, double share);
  [[nodiscard]] std::vector<LoadSample> take() { return std::move(samples_); }

 private:
  void thin();
  std::vector<LoadSample> samples_;
};

class Recorder {
 public:
  /// Errors (Error, kInput): a rank that the step does not have; more text than is useful.
  Recorder(const Replay& replay, const Topology& topology, const TimelineRequest& request);

  /// The operation at which the stream stands has ended; `node` is its place in the history.
  void end_op(const Replay& replay, std::uint32_t player, std::uint32_t stream, std::uint32_t node);
  /// `members`: the sender, then the receiver.
  void end_transfer(const Replay& replay, std::span<const Arrival> members, Time start);
  void sample(Time now, std::span<const StrandSet::LoadChange> changes);
  /// What was kept, with the choices of the plans that ran.
  [[nodiscard]] Timeline take(Replay& replay);

 private:
  [[nodiscard]] bool shows(std::uint32_t player) const { return track_of_[player] >= 0; }
  void choose_tracks(const Replay& replay, const TimelineRequest& request);
  void refuse_if_too_large(const Replay& replay) const;
  void describe_programs(const Replay& replay);
  void classify_links(const Topology& topology);

  Timeline timeline_;
  std::vector<std::int32_t> track_of_;  // by player; -1: not shown
  std::vector<std::uint32_t> class_of_link_;
  std::vector<double> load_of_link_;
  std::vector<std::map<double, std::uint32_t>> loads_;  // by class: how many links carry which load
  std::vector<LoadCurve> curves_;                       // by class
  std::vector<std::uint32_t> changed_;                  // classes, at this instant
};

}  // namespace busbar
