#include "workloads/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.h"

namespace busbar {

std::vector<double> expert_shares(std::int64_t experts, const MoeSpec& moe) {
  BUSBAR_CHECK(experts >= 1);
  std::vector<double> shares(static_cast<std::size_t>(experts), 1.0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (!moe.histogram.empty()) shares[i] = moe.histogram[i];
    if (moe.zipf > 0) shares[i] = std::pow(static_cast<double>(i + 1), -moe.zipf);
  }
  if (moe.hot != 1 && experts > 1) {
    const double rest = (static_cast<double>(experts) - moe.hot) / static_cast<double>(experts - 1);
    std::fill(shares.begin(), shares.end(), rest);
    shares.front() = moe.hot;
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<double> expert_rank_shares(const Workload& workload) {
  const std::int64_t ep = workload.parallel.ep;
  if (!workload.model.transformer || !workload.model.transformer->experts || ep < 2) return {};
  const MoeSpec& moe = workload.moe;
  if (moe.histogram.empty() && moe.zipf == 0 && moe.hot == 1) return {};
  const std::int64_t experts = workload.model.transformer->experts->count;
  const std::vector<double> shares = expert_shares(experts, moe);
  std::vector<double> ranks(static_cast<std::size_t>(ep), 0.0);
  for (std::size_t e = 0; e < shares.size(); ++e)
    ranks[e * static_cast<std::size_t>(ep) / shares.size()] += shares[e];
  return ranks;
}

SplitMatrix expert_splits(const std::string& name, Bytes bytes, DataType type,
                          const std::vector<double>& shares, bool back) {
  SplitMatrix matrix{.name = name, .members = static_cast<std::uint32_t>(shares.size())};
  const std::size_t n = shares.size();
  const std::int64_t elements = bytes.count() / size_of(type);
  std::vector<Bytes> row;
  std::int64_t left = elements;
  for (std::size_t d = 0; d < n; ++d) {
    const std::int64_t part = d + 1 == n ? left
                                         : std::min(left, static_cast<std::int64_t>(std::llround(
                                                              static_cast<double>(elements) * shares[d])));
    left -= part;
    row.emplace_back(part * size_of(type));
  }
  matrix.bytes.resize(n * n);
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t d = 0; d < n; ++d) matrix.bytes[back ? d * n + s : s * n + d] = row[d];
  return matrix;
}

}  // namespace busbar
