#include "reports/thinning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace busbar {

namespace {

constexpr std::size_t kExtremes = 4;  // one in so many places is for the largest errors

template <class Entry>
void keep(std::vector<Entry>& list, const std::vector<std::size_t>& numbers, Excerpt& excerpt) {
  excerpt = {.of = list.size(), .numbers = numbers};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (i != numbers[i]) list[i] = std::move(list[numbers[i]]);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(numbers.size()), list.end());
}

// Places of the `most` largest, the largest first.
template <class Entry, class Size>
std::vector<std::size_t> largest(const std::vector<Entry>& list, std::size_t most, Size size) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(list[a]) > size(list[b]); });
  order.resize(std::min(most, order.size()));
  return order;
}

template <class Entry, class Value>
void add_ends(std::vector<std::size_t>& wanted, const std::vector<Entry>& list, Value value) {
  const auto [low, high] = std::minmax_element(
      list.begin(), list.end(), [&](const Entry& a, const Entry& b) { return value(a) < value(b); });
  wanted.insert(wanted.begin(), {static_cast<std::size_t>(low - list.begin()),
                                 static_cast<std::size_t>(high - list.begin())});
}

bool same_choice(const SweepRow& a, const SweepRow& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

// Shares of `most` for clusters that hold `counts` layouts: what the small ones leave goes to the others.
std::size_t share_of(const std::vector<ClusterRecord>& clusters, std::size_t most) {
  std::size_t low = 1, high = most;
  while (low < high) {
    const std::size_t each = (low + high + 1) / 2;
    std::size_t sum = 0;
    for (const ClusterRecord& c : clusters) sum += std::min(each, c.search.ranked.size());
    (sum <= most ? low : high) = sum <= most ? each : each - 1;
  }
  return low;
}

}  // namespace

std::vector<std::size_t> thinned(std::size_t count, std::size_t most, std::span<const std::size_t> wanted) {
  std::vector<bool> taken(count, count <= most);
  std::size_t left = count <= most ? 0 : most;
  for (const std::size_t i : wanted)
    if (left > 0 && !taken[i]) {
      taken[i] = true;
      --left;
    }
  // Of those that are left, every k-th, so that they are spread over the whole list.
  const auto others = static_cast<std::size_t>(std::count(taken.begin(), taken.end(), false));
  std::size_t seen = 0;
  for (std::size_t i = 0; i < count && left > 0; ++i) {
    if (taken[i]) continue;
    taken[i] = seen * left / others != (seen + 1) * left / others;
    ++seen;
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i)
    if (taken[i]) numbers.push_back(i);
  return numbers;
}

Validation thinned(Validation v, std::size_t most) {
  if (v.rows.size() > most) {
    auto wanted =
        largest(v.rows, most / kExtremes, [](const ValidationRow& r) { return std::abs(r.error()); });
    add_ends(wanted, v.rows, [](const ValidationRow& r) { return r.measured; });
    add_ends(wanted, v.rows, [](const ValidationRow& r) { return r.gpus; });
    keep(v.rows, thinned(v.rows.size(), most, wanted), v.rows_excerpt.emplace());
  }
  if (v.not_simulated.size() > most)
    keep(v.not_simulated, thinned(v.not_simulated.size(), most, {}), v.not_simulated_excerpt.emplace());
  return v;
}

CalibrationReport thinned(CalibrationReport r, std::size_t most) {
  if (r.points.size() <= most) return r;
  auto wanted = largest(r.points, most / kExtremes, [](const CalibratedPoint& p) {
    return std::abs(std::log(p.fitted_s / p.measured_s));
  });
  for (std::size_t i = 0; i < r.points.size(); ++i)
    if (r.points[i].outlier) wanted.push_back(i);
  add_ends(wanted, r.points, [](const CalibratedPoint& p) { return p.size; });
  keep(r.points, thinned(r.points.size(), most, wanted), r.points_excerpt.emplace());
  return r;
}

Sweep thinned(Sweep s, std::size_t most) {
  if (s.rows.size() <= most) return s;
  std::vector<std::size_t> wanted;
  if (s.comparison)
    wanted = largest(s.rows, most / kExtremes,
                     [](const SweepRow& r) { return r.measured ? std::abs(r.measured->error) : 0; });
  for (std::size_t i = 1; i < s.rows.size(); ++i)
    if (!same_choice(s.rows[i - 1], s.rows[i])) wanted.insert(wanted.begin(), {i - 1, i});
  add_ends(wanted, s.rows, [](const SweepRow& r) { return r.size; });
  add_ends(wanted, s.rows, [](const SweepRow& r) { return r.busbw_Bps; });
  keep(s.rows, thinned(s.rows.size(), most, wanted), s.rows_excerpt.emplace());
  s.explanations.clear();  // by row
  return s;
}

Study thinned(Study study, std::size_t most) {
  std::size_t all = 0;
  for (const ClusterRecord& c : study.clusters) all += c.search.ranked.size();
  if (all <= most) return study;
  const std::size_t each = share_of(study.clusters, most);
  for (std::size_t i = 0; i < study.clusters.size(); ++i) {
    ClusterRecord& c = study.clusters[i];
    if (c.search.ranked.size() <= each) continue;
    std::vector<std::size_t> wanted{0};
    for (const FrontPoint& p : study.front)
      if (p.cluster == i) wanted.push_back(p.layout);
    const auto numbers = thinned(c.search.ranked.size(), each, wanted);
    Excerpt same;
    keep(c.search.ranked, numbers, c.ranked_excerpt.emplace());
    keep(c.figures, numbers, same);
  }
  return study;
}

}  // namespace busbar
