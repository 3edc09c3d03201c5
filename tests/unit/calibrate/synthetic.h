// Tables "measured" on a machine whose true numbers are known, with noise.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "calibrate/observed.h"
#include "sim/cost/profile.h"
#include "tests/support/inline.h"

namespace busbar {

inline Topology one_dgx() {
  return topology_from(R"({"schema": "busbar.topology/1", "name": "one host",
    "hosts": {"count": 1, "type": "dgx-h100"}, "fabric": {"family": "none"}})");
}

/// The default profile with each number of `part` moved by `spreads` standard deviations of its logarithm,
/// drawn with `seed`.
inline Profile moved_profile(const std::string& part, double spreads, std::uint64_t seed) {
  Profile truth = default_profile();
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  for (const ParameterRef& p : parameters(truth)) {
    const double z = std::clamp(normal(engine), -2.0, 2.0);
    if (p.name.starts_with(part + ".")) *p.value *= std::exp(spreads * std::max(p.spread, 0.25) * z);
  }
  return truth;
}

inline MeasuredTable empty_table(CollectiveKind kind, std::int64_t ranks, std::int64_t from, std::int64_t to) {
  MeasuredTable table{.source = "synthetic", .operation = kind, .ranks = ranks};
  for (std::int64_t size = from; size <= to; size *= 2)
    table.rows.push_back(
        {.operation = kind, .size = Bytes(size), .ranks = ranks, .time = Time::from_seconds(1)});
  return table;
}

/// Fills the tables with what `truth` predicts.
inline void fill(std::vector<MeasuredTable>& tables, const Topology& topology, const Profile& truth) {
  Observed observed(topology, tables, truth);
  std::vector<double> times(observed.rows().size());
  observed.predict(times);
  std::size_t at = 0;
  for (MeasuredTable& table : tables)
    for (MeasuredRow& row : table.rows) row.time = Time::from_seconds(times[at++]);
}

struct Noise {
  double share = 0.03;         // standard deviation of log(time)
  double outliers = 0.05;      // so many rows
  double outlier_factor = 2;   // take so many times as long
  std::uint64_t seed = 1;
};

inline void add_noise(std::vector<MeasuredTable>& tables, const Noise& noise) {
  std::mt19937_64 engine(noise.seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  for (MeasuredTable& table : tables)
    for (MeasuredRow& row : table.rows) {
      const double factor = std::exp(noise.share * normal(engine)) *
                            (uniform(engine) < noise.outliers ? noise.outlier_factor : 1);
      row.time = Time::from_seconds(row.time.seconds() * factor);
    }
}

/// all_reduce and all_gather on 8 and on 4 ranks, 1 KiB to 1 GiB.
inline std::vector<MeasuredTable> usual_tables() {
  std::vector<MeasuredTable> tables;
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather})
    for (const std::int64_t ranks : {8, 4}) tables.push_back(empty_table(kind, ranks, 1024, 1 << 30));
  return tables;
}

inline std::vector<double> predicted(std::vector<MeasuredTable> tables, const Topology& topology,
                                     const Profile& profile) {
  Observed observed(topology, tables, profile);
  std::vector<double> times(observed.rows().size());
  observed.predict(times);
  return times;
}

}  // namespace busbar
