#include "sim/replay/ring_search.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace busbar {
namespace {

using Order = std::vector<std::uint32_t>;

constexpr std::size_t kMaxRings = 32;  // NCCL's limit for a ring graph
constexpr std::int64_t kStepsPerTry = 2'000;
constexpr std::int64_t kTriesPerSpeed = 200;
constexpr std::int64_t kStepsInAll = 2'000'000;

/// SplitMix64. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
class HashSequence {
 public:
  explicit HashSequence(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t state_;
};

/// How many rings of one speed each link still carries.
struct Slots {
  std::uint32_t size = 0;
  std::vector<std::int64_t> left;
  std::int64_t& at(std::uint32_t from, std::uint32_t to) { return left[std::size_t{from} * size + to]; }
  /// No more rings than this go through the GPU with the fewest links in or out.
  [[nodiscard]] std::size_t most_rings() {
    std::int64_t most = kMaxRings;
    for (std::uint32_t a = 0; a < size; ++a) {
      std::int64_t out = 0, in = 0;
      for (std::uint32_t b = 0; b < size; ++b) {
        out += at(a, b);
        in += at(b, a);
      }
      most = std::min({most, out, in});
    }
    return static_cast<std::size_t>(most);
  }
};

Slots slots_at(const DirectLinks& links, double speed) {
  Slots slots{links.size, {}};
  for (const double rate : links.Bps) {
    const auto whole = static_cast<std::int64_t>(rate / speed * (1 + 1e-9));
    slots.left.push_back(std::min<std::int64_t>(whole, kMaxRings));
  }
  return slots;
}

/// One search for `target` rings; keeps the most that it held at once.
class Try {
 public:
  Try(const Slots& slots, std::size_t target, std::uint64_t seed)
      : slots_(slots), target_(target), hashes_(seed) {
    next_ring();
  }
  [[nodiscard]] const std::vector<Order>& best() const { return best_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  bool next_ring() {
    if (rings_.size() == target_) return true;
    if (slots_.most_rings() < target_ - rings_.size()) return false;
    path_ = {0};
    seen_.assign(slots_.size, false);
    seen_[0] = true;
    return extend();
  }

  bool close() {
    std::int64_t& last = slots_.at(path_.back(), 0);
    if (last == 0) return false;
    --last;
    rings_.push_back(path_);
    if (rings_.size() > best_.size()) best_ = rings_;
    const Order path = path_;
    if (next_ring()) return true;
    path_ = path;
    seen_.assign(slots_.size, true);
    rings_.pop_back();
    ++last;
    return false;
  }

  /// Over the links with the most slots first.
  bool extend() {
    if (++steps_ > kStepsPerTry) return false;
    if (path_.size() == slots_.size) return close();
    const std::uint32_t last = path_.back();
    for (const std::uint32_t next : candidates(last)) {
      seen_[next] = true;
      path_.push_back(next);
      --slots_.at(last, next);
      if (extend()) return true;
      ++slots_.at(last, next);
      path_.pop_back();
      seen_[next] = false;
      if (steps_ > kStepsPerTry) return false;
    }
    return false;
  }

  Order candidates(std::uint32_t last) {
    std::vector<std::tuple<std::int64_t, std::uint64_t, std::uint32_t>> ranked;
    for (std::uint32_t next = 0; next < slots_.size; ++next) {
      if (!seen_[next] && slots_.at(last, next) > 0)
        ranked.emplace_back(-slots_.at(last, next), hashes_.next(), next);
    }
    std::sort(ranked.begin(), ranked.end());
    Order order;
    for (const auto& [slots, hash, next] : ranked) order.push_back(next);
    return order;
  }

  Slots slots_;
  std::size_t target_;
  HashSequence hashes_;
  std::vector<Order> rings_, best_;
  Order path_;
  std::vector<bool> seen_;
  std::int64_t steps_ = 0;
};

/// Fastest first.
std::vector<double> speeds_of(const DirectLinks& links) {
  std::vector<double> speeds;
  for (const double rate : links.Bps) {
    if (rate <= 0) continue;
    speeds.push_back(rate);
    speeds.push_back(rate / 2);
  }
  std::sort(speeds.begin(), speeds.end(), std::greater<>());
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
  return speeds;
}

}  // namespace

RingSet find_rings(const DirectLinks& links) {
  RingSet best;
  if (links.size < 2 || links.size > kMaxRingGpus) return best;
  const auto total = [&best] { return static_cast<double>(best.rings.size()) * best.speed.Bps(); };
  std::int64_t steps_left = kStepsInAll;
  for (const double speed : speeds_of(links)) {
    Slots slots = slots_at(links, speed);
    const std::size_t target = slots.most_rings();
    for (std::int64_t i = 0; i < kTriesPerSpeed && steps_left > 0; ++i) {
      if (static_cast<double>(target) * speed <= total() * (1 + 1e-9)) break;
      const Try attempt(slots, target, static_cast<std::uint64_t>(i));
      steps_left -= attempt.steps();
      if (static_cast<double>(attempt.best().size()) * speed > total() * (1 + 1e-9))
        best = {attempt.best(), Bandwidth::bytes_per_second(speed)};
    }
  }
  return best;
}

}  // namespace busbar
