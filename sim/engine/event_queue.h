// Pending events in order of (time, sequence): a 4-ary heap of plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/units.h"

namespace busbar {

/// What happens: the owner gives `kind`, `index` and `stamp` their meaning. An event that was rescheduled is
/// left in the queue with an old stamp, and its owner drops it when it comes up.
struct Event {
  std::uint32_t kind = 0;
  std::uint32_t index = 0;
  std::uint32_t stamp = 0;
};

/// A priority queue of events. Equal times come out in the order they were pushed, so that a run never
/// depends on the heap's layout. Cost: O(log4 n) a push or pop; no allocation beyond the vector's growth.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] Time next_time() const { return Time::picoseconds(heap_.front().time); }
  [[nodiscard]] std::uint64_t pushed() const { return sequence_; }
  void reserve(std::size_t n) { heap_.reserve(n); }

  void push(Time at, Event event) {
    Entry entry{at.ps(), sequence_++, event};
    std::size_t hole = heap_.size();
    heap_.push_back(entry);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(entry, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = entry;
  }

  /// Requires: not empty.
  Event pop() {
    BUSBAR_CHECK(!heap_.empty());
    const Event result = heap_.front().event;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
    return result;
  }

 private:
  struct Entry {
    std::int64_t time;
    std::uint64_t sequence;
    Event event;
  };
  static bool before(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.sequence < b.sequence;
  }
  void sift_down(const Entry& entry) {
    const std::size_t n = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = 4 * hole + 1;
      if (first >= n) break;
      std::size_t best = first;
      const std::size_t end = first + 4 < n ? first + 4 : n;
      for (std::size_t child = first + 1; child < end; ++child)
        if (before(heap_[child], heap_[best])) best = child;
      if (!before(heap_[best], entry)) break;
      heap_[hole] = heap_[best];
      hole = best;
    }
    heap_[hole] = entry;
  }

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace busbar
