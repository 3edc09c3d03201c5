#include "validate/import/trace_accounting.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace busbar {

namespace {

enum class Edge : std::uint8_t { kKernel, kTransfer, kWait, kPeerWait };

struct Change {
  std::int64_t at = 0;
  Edge edge = Edge::kKernel;
  int by = 0;
  std::size_t communication = 0;
};

class Edges {
 public:
  explicit Edges(TraceSpan window) : window_(window) {}
  void add(TraceSpan span, Edge edge, std::size_t communication = 0) {
    span.begin = std::max(span.begin, window_.begin);
    span.end = std::min(span.end, window_.end);
    if (span.begin >= span.end) return;
    changes_.push_back({span.begin, edge, 1, communication});
    changes_.push_back({span.end, edge, -1, communication});
  }
  [[nodiscard]] std::vector<Change> sorted() && {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    return std::move(changes_);
  }

 private:
  TraceSpan window_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<TraceSpan> union_of(std::vector<TraceSpan> spans) {
  std::sort(spans.begin(), spans.end());
  std::size_t kept = 0;
  for (const TraceSpan& span : spans) {
    if (span.begin >= span.end) continue;
    if (kept > 0 && span.begin <= spans[kept - 1].end)
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    else
      spans[kept++] = span;
  }
  spans.resize(kept);
  return spans;
}

StepAccount account_of(TraceSpan window, std::span<const TraceSpan> kernels,
                       std::span<const TimedCommunication> communications, std::size_t groups) {
  Edges edges(window);
  const auto first = std::partition_point(kernels.begin(), kernels.end(),
                                          [&](const TraceSpan& k) { return k.end <= window.begin; });
  for (auto k = first; k != kernels.end() && k->begin < window.end; ++k) edges.add(*k, Edge::kKernel);
  for (std::size_t i = 0; i < communications.size(); ++i) {
    const TimedCommunication& c = communications[i];
    edges.add({c.span.begin, c.transfer}, c.for_peer ? Edge::kPeerWait : Edge::kWait, i);
    edges.add({c.transfer, c.span.end}, Edge::kTransfer, i);
  }
  StepAccount account{.exposed_by_group = std::vector<std::int64_t>(groups, 0)};
  std::array<int, 4> live{};
  std::set<std::pair<std::int64_t, std::size_t>> transfers;  // by beginning
  std::int64_t now = window.begin;
  const auto spend = [&](std::int64_t until) {
    const std::int64_t elapsed = until - now;
    now = until;
    const auto lives = [&](Edge edge) { return live[static_cast<std::size_t>(edge)] > 0; };
    if (lives(Edge::kTransfer)) account.communication += elapsed;
    if (lives(Edge::kKernel)) {
      account.compute += elapsed;
    } else if (lives(Edge::kTransfer)) {
      account.exposed += elapsed;
      account.exposed_by_group[communications[transfers.begin()->second].group] += elapsed;
    } else if (lives(Edge::kWait)) {
      account.waiting += elapsed;
    } else {
      (lives(Edge::kPeerWait) ? account.bubble : account.idle) += elapsed;
    }
  };
  for (const Change& change : std::move(edges).sorted()) {
    spend(change.at);
    live[static_cast<std::size_t>(change.edge)] += change.by;
    if (change.edge != Edge::kTransfer) continue;
    const std::pair key{communications[change.communication].transfer, change.communication};
    if (change.by > 0)
      transfers.insert(key);
    else
      transfers.erase(key);
  }
  spend(window.end);
  return account;
}

}  // namespace busbar
