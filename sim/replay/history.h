// Why each operation started: chains back to the start of the step, with what no chain can reach any more
// dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// One operation that ran, and the one whose end started it.
struct HistoryNode {
  std::uint32_t parent = 0xffffffffU;
  std::uint32_t references = 0;
  std::uint32_t player = 0;  // for a collective: the member that came last
  std::uint32_t program = 0, op = 0;
  bool is_collective = false;
  Time start, end;
};

/// A pool with reference counts: live nodes are those that some stream's latest operation leads back to, so
/// its size follows ranks plus the length of the path, not ranks x operations.
class History {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// A node with one reference, which the caller owns. Takes a reference to the parent.
  std::uint32_t add(HistoryNode node) {
    if (node.parent != kNone) ++nodes_[node.parent].references;
    node.references = 1;
    if (free_.empty()) {
      nodes_.push_back(node);
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    nodes_[id] = node;
    return id;
  }
  void hold(std::uint32_t id) {
    if (id != kNone) ++nodes_[id].references;
  }
  void release(std::uint32_t id) {
    while (id != kNone && --nodes_[id].references == 0) {
      free_.push_back(id);
      id = nodes_[id].parent;
    }
  }
  [[nodiscard]] HistoryNode& at(std::uint32_t id) { return nodes_[id]; }
  [[nodiscard]] const HistoryNode& at(std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t live() const { return nodes_.size() - free_.size(); }

 private:
  std::vector<HistoryNode> nodes_;
  std::vector<std::uint32_t> free_;
};

}  // namespace busbar
