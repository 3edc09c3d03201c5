#include "workloads/jitter.h"

#include <cmath>
#include <numbers>

#include "workloads/rank_set.h"
#include "workloads/strategies/layout.h"

namespace busbar {

namespace {

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// In (0, 1]: 53 bits.
double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 1) * 0x1p-53; }

std::size_t draw_of(const Workload& w, const Place& place, std::uint32_t rank) {
  switch (w.jitter.per) {
    case JitterSpec::Per::kRank:
      return rank;
    case JitterSpec::Per::kReplica:
      return static_cast<std::size_t>(place.dp);
    case JitterSpec::Per::kRole:
      return static_cast<std::size_t>(place.pp);
  }
  return 0;
}

std::size_t draws(const Workload& w) {
  switch (w.jitter.per) {
    case JitterSpec::Per::kRank:
      return static_cast<std::size_t>(w.parallel.world());
    case JitterSpec::Per::kReplica:
      return static_cast<std::size_t>(w.parallel.dp);
    case JitterSpec::Per::kRole:
      return static_cast<std::size_t>(w.parallel.pp);
  }
  return 0;
}

}  // namespace

double lognormal_draw(std::uint64_t seed, std::uint64_t index, double sigma) {
  const std::uint64_t bits = mixed(mixed(seed) + index);
  const double z =
      std::sqrt(-2 * std::log(uniform(bits))) * std::cos(2 * std::numbers::pi * uniform(mixed(bits)));
  return std::exp(sigma * z);
}

std::vector<Slowdown> draw_slowdowns(const Workload& w) {
  if (w.jitter.lognormal == 0) return {};
  const Layout layout(w.parallel);
  std::vector<Slowdown> list(draws(w));
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i].factor = lognormal_draw(w.seed, i, w.jitter.lognormal);
  for (std::uint32_t rank = 0; rank < layout.world(); ++rank)
    append_rank(list[draw_of(w, layout.place_of(rank), rank)].ranks, rank);
  return list;
}

}  // namespace busbar
