#include "sim/symmetry/colour_refinement.h"

#include <algorithm>
#include <bit>
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

/// Rounds in which all classes that are new split their neighbours' classes together. The rest of a class
/// that was not touched keeps its number (or, if all of it was, its largest part does): what its neighbours
/// see of it follows from what they saw of the whole and see of the parts.
class Refiner {
 public:
  Refiner(const ColouredGraph& graph, const Neighbours& neighbours)
      : neighbours_(neighbours), sums_(graph.colours.size(), 0), is_touched_(graph.colours.size(), 0) {
    for (const std::uint64_t label : graph.labels) label_hashes_.push_back(mix(label, 0x6c6162656cU));
    Partition start = partition_by(graph.colours);
    class_of_ = std::move(start.class_of);
    size_.assign(start.first.size(), 0);
    for (const std::uint32_t c : class_of_) ++size_[c];
    changed_.resize(class_of_.size());
    std::iota(changed_.begin(), changed_.end(), 0U);
  }

  Partition run() {
    while (!changed_.empty()) {
      add_up();
      count_parts();
      name_parts();
      rename();
    }
    return numbered_by_lowest_vertex();
  }

 private:
  struct Part {  // vertices of one class with one sum
    std::uint64_t sum = 0;
    std::uint32_t of = 0, size = 0;
    std::uint32_t name = 0;
    std::uint32_t next = kNone;  // with the same hash
  };

  // Sums over a vertex's edges do not depend on their order.
  void add_up() {
    touched_.clear();
    for (const std::uint32_t v : changed_) {
      const std::uint64_t name = class_of_[v];
      for (const EdgeEnd& end : neighbours_[v]) {
        if (is_touched_[end.vertex] == 0) {
          is_touched_[end.vertex] = 1;
          touched_.push_back(end.vertex);
        }
        sums_[end.vertex] += mix(label_hashes_[end.label], name);
      }
    }
  }

  void count_parts() {
    parts_.clear();
    part_of_.clear();
    slots_.assign(std::bit_ceil(4 * size_.size() + 16), kNone);
    touched_in_.assign(size_.size(), 0);
    for (const std::uint32_t v : touched_) {
      const std::uint32_t p = part(class_of_[v], sums_[v]);
      ++parts_[p].size;
      ++touched_in_[class_of_[v]];
      part_of_.push_back(p);
    }
  }

  std::uint32_t part(std::uint32_t of, std::uint64_t sum) {
    std::uint32_t& slot = slots_[mix(of, sum) & (slots_.size() - 1)];
    for (std::uint32_t p = slot; p != kNone; p = parts_[p].next)
      if (parts_[p].of == of && parts_[p].sum == sum) return p;
    parts_.push_back({.sum = sum, .of = of, .next = slot});
    return slot = static_cast<std::uint32_t>(parts_.size() - 1);
  }

  void name_parts() {
    largest_.assign(size_.size(), kNone);
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      std::uint32_t& largest = largest_[parts_[p].of];
      if (touched_in_[parts_[p].of] < size_[parts_[p].of]) continue;
      if (largest == kNone || parts_[p].size > parts_[largest].size) largest = p;
    }
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      Part& part = parts_[p];
      if (largest_[part.of] == p) {
        part.name = part.of;
        continue;
      }
      part.name = static_cast<std::uint32_t>(size_.size());
      size_.push_back(part.size);
      size_[part.of] -= part.size;
    }
  }

  void rename() {
    changed_.clear();
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const std::uint32_t v = touched_[i];
      sums_[v] = 0;
      is_touched_[v] = 0;
      const std::uint32_t name = parts_[part_of_[i]].name;
      if (class_of_[v] == name) continue;
      class_of_[v] = name;
      changed_.push_back(v);
    }
  }

  [[nodiscard]] Partition numbered_by_lowest_vertex() const {
    Partition partition{std::vector<std::uint32_t>(class_of_.size()), {}};
    std::vector<std::uint32_t> number(size_.size(), kNone);
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
  std::vector<std::uint32_t> class_of_, size_;  // by vertex; by class
  std::vector<std::uint32_t> changed_;          // vertices whose class is new
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint8_t> is_touched_;
  std::vector<std::uint32_t> touched_, part_of_;     // the part of each that is touched
  std::vector<std::uint32_t> touched_in_, largest_;  // by class
  std::vector<Part> parts_;
  std::vector<std::uint32_t> slots_;  // hash table of parts
};

/// How many edges of each label a vertex has into each class, compared with those of its class's first.
class EdgeCounts {
 public:
  EdgeCounts(const Neighbours& neighbours, const Partition& partition)
      : neighbours_(neighbours), partition_(partition) {}

  void learn(std::uint32_t first) {
    in_order_.clear();
    for (const EdgeEnd& end : neighbours_[first]) in_order_.push_back(key_of(end));
    is_counted_ = false;
  }

  bool agrees(std::uint32_t vertex) {
    const std::span<const EdgeEnd> ends = neighbours_[vertex];
    if (ends.size() != in_order_.size()) return false;
    std::size_t same = 0;
    while (same < ends.size() && key_of(ends[same]) == in_order_[same]) ++same;
    if (same == ends.size()) return true;
    if (!is_counted_) count();
    std::fill(seen_.begin(), seen_.end(), 0U);
    hint_ = 0;
    for (const EdgeEnd& end : ends) {
      const std::size_t k = place_of(end);
      if (k == keys_.size()) return false;
      ++seen_[k];
    }
    return seen_ == counts_;
  }

 private:
  [[nodiscard]] std::uint64_t key_of(const EdgeEnd& end) const {
    return (std::uint64_t{end.label} << 32) | partition_.class_of[end.vertex];
  }
  void count() {
    keys_ = in_order_;
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
    is_counted_ = true;
  }
  // Edges of one sort mostly follow each other.
  std::size_t place_of(const EdgeEnd& end) {
    const std::uint64_t key = key_of(end);
    if (hint_ < keys_.size() && keys_[hint_] == key) return hint_;
    const auto it = std::lower_bound(keys_.begin(), keys_.end(), key);
    if (it == keys_.end() || *it != key) return keys_.size();
    return hint_ = static_cast<std::size_t>(it - keys_.begin());
  }

  const Neighbours& neighbours_;
  const Partition& partition_;
  std::vector<std::uint64_t>
      in_order_;             // keys of the first's edges; alike vertices mostly have the same order
  bool is_counted_ = false;  // what follows is made of them
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_, seen_;
  std::size_t hint_ = 0;
};

}  // namespace

Neighbours neighbours_of(const ColouredGraph& graph) {
  return {graph.colours.size(), [&](const auto& add) {
            for (const ColouredGraph::Edge& e : graph.edges) {
              add(e.a, EdgeEnd{e.b, e.label});
              add(e.b, EdgeEnd{e.a, e.label});
            }
          }};
}

Partition refine(const ColouredGraph& graph, const Neighbours& neighbours) {
  Partition partition = Refiner(graph, neighbours).run();
  return is_equitable(graph, neighbours, partition) ? partition : single_vertices(graph.colours.size());
}

Partition refine(const ColouredGraph& graph) { return refine(graph, neighbours_of(graph)); }

bool is_equitable(const ColouredGraph& graph, const Neighbours& neighbours, const Partition& partition) {
  const Rows<std::uint32_t> by_class(partition.classes(), [&](const auto& add) {
    for (std::uint32_t v = 0; v < partition.class_of.size(); ++v) add(partition.class_of[v], v);
  });
  EdgeCounts counts(neighbours, partition);
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    const std::span<const std::uint32_t> members = by_class[c];
    if (members.size() == 1) continue;
    const std::uint32_t first = partition.first[c];
    counts.learn(first);
    for (const std::uint32_t v : members)
      if (graph.colours[v] != graph.colours[first] || !counts.agrees(v)) return false;
  }
  return true;
}

bool is_equitable(const ColouredGraph& graph, const Partition& partition) {
  return is_equitable(graph, neighbours_of(graph), partition);
}

}  // namespace busbar
