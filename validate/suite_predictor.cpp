#include "validate/suite_predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "sim/base/statistics.h"
#include "topologies/topology_io.h"

namespace busbar {

namespace {

constexpr std::int64_t kFrom = 1024;

std::vector<std::uint32_t> members_of(const SuiteTable& table, const Topology& topology) {
  std::vector<std::uint32_t> ranks = table.ranks;
  if (ranks.empty()) {
    ranks.resize(topology.ranks().size());
    std::iota(ranks.begin(), ranks.end(), 0U);
  }
  if (static_cast<std::int64_t>(ranks.size()) != table.members)
    throw Error({.where = table.file,
                 .expected = std::to_string(table.members) + " members",
                 .given = std::to_string(ranks.size()) + " ranks of " + *table.topology});
  return ranks;
}

}  // namespace

TableError error_of(std::span<const SuiteRow> rows, std::span<const double> predicted_s) {
  TableError e;
  std::vector<double> signed_errors;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].size.count() >= kFrom || rows.back().size.count() < kFrom)
      signed_errors.push_back(predicted_s[i] / rows[i].time_s - 1);
  std::vector<double> sizes;
  sizes.reserve(signed_errors.size());
  for (const double s : signed_errors) sizes.push_back(std::abs(s));
  e.rows = sizes.size();
  e.median = median_of(sizes);
  e.bias = median_of(signed_errors);
  e.worst = *std::max_element(sizes.begin(), sizes.end());
  e.plateau = sizes.back();
  return e;
}

SuitePredictor::SuitePredictor(std::vector<const SuiteTable*> tables, const Profile& profile)
    : tables_(std::move(tables)) {
  for (const SuiteTable* table : tables_) {
    if (!table->topology) throw Error({.where = table->file, .message = "its topology is not documented"});
    std::unique_ptr<Topology>& topology = topologies_[*table->topology];
    if (!topology)
      topology = std::make_unique<Topology>(read_topology(JsonDocument::load(*table->topology), 1));
    LoneCollective::Request request{.ranks = members_of(*table, *topology),
                                    .kind = table->operation,
                                    .type = table->type,
                                    .overrides = table->overrides,
                                    .calls = table->calls};
    collectives_.push_back(std::make_unique<LoneCollective>(*topology, profile, request));
  }
}

void SuitePredictor::profile_changed() {
  for (const auto& collective : collectives_) collective->profile_changed();
}

std::vector<double> SuitePredictor::predict(std::size_t table) {
  std::vector<double> predicted;
  for (const SuiteRow& row : tables_[table]->rows)
    predicted.push_back(collectives_[table]->time(row.size).seconds());
  return predicted;
}

}  // namespace busbar
