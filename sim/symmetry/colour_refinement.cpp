#include "sim/symmetry/colour_refinement.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace busbar {

namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

Partition partition_by(const std::vector<std::uint64_t>& colours) {
  Partition partition;
  partition.class_of.reserve(colours.size());
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  std::uint64_t last_colour = 0;
  std::uint32_t last = kNone;
  for (std::uint32_t v = 0; v < colours.size(); ++v) {
    if (last == kNone || colours[v] != last_colour) {
      const auto [it, is_new] = known.try_emplace(colours[v], static_cast<std::uint32_t>(known.size()));
      if (is_new) partition.first.push_back(v);
      last = it->second;
      last_colour = colours[v];
    }
    partition.class_of.push_back(last);
  }
  return partition;
}

Partition single_vertices(std::size_t vertices) {
  Partition partition{std::vector<std::uint32_t>(vertices), {}};
  std::iota(partition.class_of.begin(), partition.class_of.end(), 0U);
  partition.first = partition.class_of;
  return partition;
}

/// Classes as ranges of one list of vertices.
class Refiner {
 public:
  Refiner(const ColouredGraph& graph, const Neighbours& neighbours)
      : neighbours_(neighbours), sums_(graph.colours.size(), 0), is_touched_(graph.colours.size(), 0) {
    for (const std::uint64_t label : graph.labels) label_hashes_.push_back(mix(label, 0x6c6162656cU));
    Partition start = partition_by(graph.colours);
    class_of_ = std::move(start.class_of);
    classes_.resize(start.first.size());
    for (const std::uint32_t c : class_of_) ++classes_[c].size;
    std::uint32_t next = 0;
    for (Class& c : classes_) {
      c.begin = c.fill = next;
      next += c.size;
    }
    order_.resize(class_of_.size());
    place_.resize(class_of_.size());
    for (std::uint32_t v = 0; v < class_of_.size(); ++v) put(v, classes_[class_of_[v]].fill++);
    for (std::uint32_t c = 0; c < classes_.size(); ++c) enqueue(c);
  }

  Partition run() {
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      classes_[queue_[next]].queued = false;
      split_by(queue_[next]);
    }
    return partition_by_class();
  }

 private:
  struct Class {
    std::uint32_t begin = 0, size = 0, fill = 0;
    bool queued = false;
    // While one splitter works:
    std::uint32_t touched = 0;
    std::uint64_t sum = 0;  // of the first touched
    bool mixed = false;     // others have other sums
  };

  void put(std::uint32_t vertex, std::uint32_t place) {
    order_[place] = vertex;
    place_[vertex] = place;
  }
  void enqueue(std::uint32_t c) {
    if (classes_[c].queued) return;
    classes_[c].queued = true;
    queue_.push_back(c);
  }

  void split_by(std::uint32_t splitter) {
    add_up(splitter);
    for (const std::uint32_t v : touched_) {
      Class& c = classes_[class_of_[v]];
      if (c.touched++ == 0) {
        c.sum = sums_[v];
        touched_classes_.push_back(class_of_[v]);
      } else if (c.sum != sums_[v]) {
        c.mixed = true;
      }
    }
    bool any = false;
    for (const std::uint32_t c : touched_classes_) any = any || classes_[c].mixed || classes_[c].touched < classes_[c].size;
    if (any) split_touched();
    for (const std::uint32_t v : touched_) {
      sums_[v] = 0;
      is_touched_[v] = 0;
    }
    for (const std::uint32_t c : touched_classes_) {
      classes_[c].touched = 0;
      classes_[c].mixed = false;
    }
    touched_.clear();
    touched_classes_.clear();
  }

  // Sums over a vertex's edges do not depend on their order.
  void add_up(std::uint32_t splitter) {
    const Class c = classes_[splitter];
    for (std::uint32_t i = c.begin; i < c.begin + c.size; ++i)
      for (const Neighbours::End& end : neighbours_.of(order_[i])) {
        if (is_touched_[end.vertex] == 0) {
          is_touched_[end.vertex] = 1;
          touched_.push_back(end.vertex);
        }
        sums_[end.vertex] += label_hashes_[end.label];
      }
  }

  // Touched vertices of the classes that break move to the front of their class, sorted by sum.
  void split_touched() {
    for (const std::uint32_t c : touched_classes_) classes_[c].fill = classes_[c].begin;
    for (const std::uint32_t v : touched_) {
      Class& c = classes_[class_of_[v]];
      if (!c.mixed && c.touched == c.size) continue;
      const std::uint32_t to = c.fill++, from = place_[v];
      put(order_[to], from);
      put(v, to);
    }
    for (const std::uint32_t c : touched_classes_)
      if (classes_[c].mixed || classes_[c].touched < classes_[c].size) split(c);
  }

  void split(std::uint32_t number) {
    const Class whole = classes_[number];
    const auto front = order_.begin() + whole.begin;
    if (whole.mixed) {
      std::sort(front, front + whole.touched,
                [this](std::uint32_t a, std::uint32_t b) { return sums_[a] < sums_[b]; });
      for (std::uint32_t i = 0; i < whole.touched; ++i) place_[order_[whole.begin + i]] = whole.begin + i;
    }
    parts_.clear();
    for (std::uint32_t i = 0; i < whole.touched; ++i)
      if (i == 0 || sums_[order_[whole.begin + i]] != sums_[order_[whole.begin + i - 1]])
        parts_.push_back(whole.begin + i);
    if (whole.touched < whole.size) parts_.push_back(whole.begin + whole.touched);
    parts_.push_back(whole.begin + whole.size);
    std::size_t largest = 0;
    for (std::size_t p = 0; p + 1 < parts_.size(); ++p)
      if (parts_[p + 1] - parts_[p] > parts_[largest + 1] - parts_[largest]) largest = p;
    for (std::size_t p = 0; p + 1 < parts_.size(); ++p) {
      if (p == largest) continue;
      const auto fresh = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back({.begin = parts_[p], .size = parts_[p + 1] - parts_[p]});
      for (std::uint32_t i = parts_[p]; i < parts_[p + 1]; ++i) class_of_[order_[i]] = fresh;
      enqueue(fresh);
    }
    // The largest part keeps the number, and its place in the queue if it has one.
    classes_[number].begin = parts_[largest];
    classes_[number].size = parts_[largest + 1] - parts_[largest];
  }

  Partition partition_by_class() const {
    Partition partition{std::vector<std::uint32_t>(class_of_.size()), {}};
    std::vector<std::uint32_t> number(classes_.size(), kNone);
    for (std::uint32_t v = 0; v < class_of_.size(); ++v) {
      std::uint32_t& n = number[class_of_[v]];
      if (n == kNone) {
        n = static_cast<std::uint32_t>(partition.first.size());
        partition.first.push_back(v);
      }
      partition.class_of[v] = n;
    }
    return partition;
  }

  const Neighbours& neighbours_;
  std::vector<std::uint64_t> label_hashes_;
  std::vector<std::uint32_t> class_of_, order_, place_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint8_t> is_touched_;
  std::vector<std::uint32_t> touched_, touched_classes_, parts_;
};

/// How many edges of each label a vertex has into each class, compared with those of its class's first.
class EdgeCounts {
 public:
  EdgeCounts(const Neighbours& neighbours, const Partition& partition)
      : neighbours_(neighbours), partition_(partition) {}

  void learn(std::uint32_t first) {
    keys_.clear();
    for (const Neighbours::End& end : neighbours_.of(first)) keys_.push_back(key_of(end));
    std::sort(keys_.begin(), keys_.end());
    counts_.clear();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i == 0 || keys_[i] != keys_[kept - 1]) {
        keys_[kept++] = keys_[i];
        counts_.push_back(0);
      }
      ++counts_.back();
    }
    keys_.resize(kept);
    seen_.assign(kept, 0);
  }

  bool agrees(std::uint32_t vertex) {
    std::fill(seen_.begin(), seen_.end(), 0U);
    hint_ = 0;
    for (const Neighbours::End& end : neighbours_.of(vertex)) {
      const std::size_t k = place_of(end);
      if (k == keys_.size()) return false;
      ++seen_[k];
    }
    return seen_ == counts_;
  }

 private:
  [[nodiscard]] std::uint64_t key_of(const Neighbours::End& end) const {
    return (std::uint64_t{end.label} << 32) | partition_.class_of[end.vertex];
  }
  // Edges of one sort mostly follow each other.
  std::size_t place_of(const Neighbours::End& end) {
    const std::uint64_t key = key_of(end);
    if (hint_ < keys_.size() && keys_[hint_] == key) return hint_;
    const auto it = std::lower_bound(keys_.begin(), keys_.end(), key);
    if (it == keys_.end() || *it != key) return keys_.size();
    return hint_ = static_cast<std::size_t>(it - keys_.begin());
  }

  const Neighbours& neighbours_;
  const Partition& partition_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_, seen_;
  std::size_t hint_ = 0;
};

}  // namespace

Neighbours::Neighbours(const ColouredGraph& graph)
    : first(graph.colours.size() + 1, 0), ends(2 * graph.edges.size()) {
  for (const ColouredGraph::Edge& e : graph.edges) {
    ++first[e.a];
    ++first[e.b];
  }
  std::exclusive_scan(first.begin(), first.end(), first.begin(), 0U);
  for (const ColouredGraph::Edge& e : graph.edges) {
    ends[first[e.a]++] = {e.b, e.label};
    ends[first[e.b]++] = {e.a, e.label};
  }
  // Each row's begin has moved to its end, which is the next row's begin.
  std::move_backward(first.begin(), first.end() - 1, first.end());
  first.front() = 0;
}

Partition refine(const ColouredGraph& graph, const Neighbours& neighbours) {
  Partition partition = Refiner(graph, neighbours).run();
  return is_equitable(graph, neighbours, partition) ? partition : single_vertices(graph.colours.size());
}

Partition refine(const ColouredGraph& graph) { return refine(graph, Neighbours(graph)); }

bool is_equitable(const ColouredGraph& graph, const Neighbours& neighbours, const Partition& partition) {
  // Vertices class by class.
  std::vector<std::uint32_t> begin(partition.classes() + 1, 0), order(graph.colours.size());
  for (const std::uint32_t c : partition.class_of) ++begin[c];
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0U);
  for (std::uint32_t v = 0; v < order.size(); ++v) order[begin[partition.class_of[v]]++] = v;
  EdgeCounts counts(neighbours, partition);
  std::uint32_t at = 0;
  for (std::size_t c = 0; c < partition.classes(); ++c) {
    if (begin[c] - at == 1) {
      ++at;
      continue;
    }
    const std::uint32_t first = partition.first[c];
    counts.learn(first);
    for (; at < begin[c]; ++at)
      if (graph.colours[order[at]] != graph.colours[first] || !counts.agrees(order[at])) return false;
  }
  return true;
}

bool is_equitable(const ColouredGraph& graph, const Partition& partition) {
  return is_equitable(graph, Neighbours(graph), partition);
}

}  // namespace busbar
