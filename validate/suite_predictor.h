// Predictions for the tables of a suite, again and again as a profile's numbers change.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/replay/lone_collective.h"
#include "topologies/topology.h"
#include "validate/suite.h"

namespace busbar {

/// How far a table is off. Errors are predicted / measured - 1 of the time.
struct TableError {
  double median = 0;   // of |error| over rows from 1 KiB on
  double bias = 0;     // median of the signed ones
  double worst = 0;    // largest |error|
  double plateau = 0;  // |error| of the largest size
  std::size_t rows = 0;
};
/// Requires: as many predictions as rows. Rows below 1 KiB do not count; without others all do.
[[nodiscard]] TableError error_of(std::span<const SuiteRow> rows, std::span<const double> predicted_s);

/// Borrows tables and profile. A table whose topology is not documented, or has no rows, is refused.
class SuitePredictor {
 public:
  SuitePredictor(std::vector<const SuiteTable*> tables, const Profile& profile);
  [[nodiscard]] std::span<const SuiteTable* const> tables() const { return tables_; }
  /// The profile's numbers have changed.
  void profile_changed();
  /// predicted[row] of one table, seconds.
  [[nodiscard]] std::vector<double> predict(std::size_t table);
  /// The generation of the slowest member: which constants a table depends on.
  [[nodiscard]] std::string_view generation(std::size_t table) const {
    return collectives_[table]->generation().name;
  }
  [[nodiscard]] Choice choice(std::size_t table, Bytes bytes) const {
    return collectives_[table]->choice(bytes);
  }
  /// How its GPUs talk inside a host and between hosts.
  [[nodiscard]] Transport inside(std::size_t table) const {
    return collectives_[table]->routes().intra_transport;
  }
  [[nodiscard]] Transport network(std::size_t table) const {
    return collectives_[table]->routes().inter_transport;
  }
  /// Number of hosts (NVLink domains) that the table's ranks are on.
  [[nodiscard]] std::uint32_t hosts(std::size_t table) const { return collectives_[table]->routes().hosts; }

 private:
  std::vector<const SuiteTable*> tables_;
  std::map<std::string, std::unique_ptr<Topology>> topologies_;  // by path
  std::vector<std::unique_ptr<LoneCollective>> collectives_;
};

}  // namespace busbar
