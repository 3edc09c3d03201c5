// Measured tables beside the simulator's own predictions of them, again and again as a profile's numbers
// change.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/replay/lone_collective.h"
#include "sim/result/measurement.h"
#include "topologies/topology.h"

namespace busbar {

/// The ranks of `topology` that a table was measured on: its members, or the first ranks of as few hosts as
/// it takes (of as many as the table says). Errors (Error, kInput): the table says no number of ranks, or
/// more than the topology has.
[[nodiscard]] std::vector<std::uint32_t> members_of(const MeasuredTable& table, const Topology& topology);

/// Whether the table itself says who took part: by ranks, or by hosts that the topology has.
[[nodiscard]] bool names_members(const MeasuredTable& table, const Topology& topology);

/// Of a table's elements: by its name, else by its size; fp32 where the source does not say.
[[nodiscard]] DataType element_type(const MeasuredTable& table);

struct ObservedRow {
  std::size_t table = 0;
  Bytes size;  // whole elements per rank
  double time_s = 0;
};

struct ObservedTable {
  std::string name;  // "log.txt:12, all_reduce on 8 ranks"
  const MeasuredTable* measured = nullptr;
  std::vector<std::uint32_t> members;
  std::int64_t hosts = 1;
  std::string links;                // "nvlink", "nvlink+rdma", "rdma"
  bool forced = false;              // the source names the algorithm or protocol of its rows
  std::size_t first = 0, rows = 0;  // in Observed::rows()
};

/// A table and the cluster that it was measured on.
struct MeasuredOn {
  const Topology* topology = nullptr;
  const MeasuredTable* table = nullptr;
};

/// How what was measured is predicted.
struct ObservedOptions {
  NcclSettings nccl;           // --env, --tuner, --nccl-log: as NCCL was set up
  bool version_given = false;  // in `nccl`; else each table's own counts
  std::size_t threads = 1;
};

/// Rows of 1 KiB and more (all where a table has none), with what the simulator says of each. Borrows
/// everything; `profile`'s numbers, not its lists, may change between predictions.
class Observed {
 public:
  Observed(std::span<const MeasuredOn> tables, const Profile& profile, ObservedOptions options = {});
  Observed(const Topology& topology, std::span<const MeasuredTable> tables, const Profile& profile,
           ObservedOptions options = {});
  [[nodiscard]] std::span<const ObservedRow> rows() const { return rows_; }
  [[nodiscard]] std::span<const ObservedTable> tables() const { return tables_; }
  /// By row, seconds, for the numbers that stand in the profile now.
  void predict(std::span<double> predicted_s);
  /// On machines with other factors from here on.
  void rescale(const Scales& scales);
  /// What the model takes for a row: "ring/Simple".
  [[nodiscard]] std::string choice(std::size_t row) const;
  [[nodiscard]] std::span<const std::string> notes() const { return notes_; }

 private:
  /// One size of one collective: what is predicted once, however many rows measured it.
  struct Prediction {
    std::size_t collective = 0;
    Bytes size;
    double time_s = 0;
  };
  void add(const Topology& topology, const MeasuredTable& table, const Profile& profile);
  std::size_t collective_of(const Topology& topology, const MeasuredTable& table, const MeasuredRow& row,
                            const Profile& profile, const std::vector<std::uint32_t>& members);
  std::size_t prediction_of(std::size_t collective, Bytes size);

  ObservedOptions options_;
  std::vector<ObservedRow> rows_;
  std::vector<ObservedTable> tables_;
  std::vector<std::unique_ptr<LoneCollective>> collectives_;
  std::map<std::string, std::size_t> known_collectives_;  // by all that they depend on
  std::vector<std::vector<std::size_t>> of_collective_;   // its predictions
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> known_predictions_;
  std::vector<Prediction> predictions_;
  std::vector<std::size_t> of_row_;  // its prediction
  std::vector<std::string> notes_;
};

}  // namespace busbar
