#include "sim/replay/program_index.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/base/rank_range.h"

namespace busbar {

namespace {

// For each slot, the first slot that is bound to the same thing.
template <class T, class Key>
void find_aliases(const std::vector<T>& bound, Key key, std::vector<std::uint32_t>& first) {
  first.clear();
  for (std::uint32_t i = 0; i < bound.size(); ++i) {
    std::uint32_t j = 0;
    while (key(bound[j]) != key(bound[i])) ++j;
    first.push_back(j);
  }
}

struct Pattern {
  std::uint32_t program = 0;
  std::vector<std::uint32_t> groups, peers;
  auto operator<=>(const Pattern&) const = default;
};

// A peer may be written both ways ("+1" and 4); which slots mean the same rank then depends on the rank.
bool mixes_peers(const Binding& b) {
  return std::any_of(b.peers.begin(), b.peers.end(), [](const Peer& p) { return p.relative; }) &&
         std::any_of(b.peers.begin(), b.peers.end(), [](const Peer& p) { return !p.relative; });
}

void find_pattern(const Binding& b, std::uint32_t rank, Pattern& pattern) {
  const auto peer = [&](const Peer& p) { return p.relative ? std::int64_t{rank} + p.value : p.value; };
  pattern.program = b.program;
  find_aliases(
      b.groups, [](GroupId g) { return g.value(); }, pattern.groups);
  find_aliases(b.peers, peer, pattern.peers);
}

class Indexer {
 public:
  Indexer(const Program& program, const Pattern& pattern) : program_(program), pattern_(pattern) {
    indexed_.program = pattern.program;
    indexed_.streams.resize(program.streams.size());
    last_of_group_.assign(pattern.groups.size(), kNone);
    last_send_.assign(pattern.peers.size(), kNone);
    last_recv_.assign(pattern.peers.size(), kNone);
  }

  IndexedProgram run() {
    for (std::uint32_t op = 0; op < program_.ops.size(); ++op) {
      indexed_.first_dependency.push_back(static_cast<std::uint32_t>(indexed_.dependencies.size()));
      add(op);
    }
    indexed_.first_dependency.push_back(static_cast<std::uint32_t>(indexed_.dependencies.size()));
    return std::move(indexed_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  void add(std::uint32_t number) {
    const Op& op = program_.ops[number];
    indexed_.kinds.push_back(op.kind);
    for (const std::uint32_t a : op.after) depend(op, a);
    if (op.kind == OpKind::kCollective) follow(op, number, last_of_group_[pattern_.groups[op.group_slot]]);
    for (const Transfer& t : op.transfers)
      follow(op, number, (t.is_send ? last_send_ : last_recv_)[pattern_.peers[t.peer_slot]]);
    position_.push_back(static_cast<std::uint32_t>(indexed_.streams[op.stream].size()));
    indexed_.streams[op.stream].push_back(number);
  }

  void follow(const Op& op, std::uint32_t number, std::uint32_t& last) {
    if (last != kNone && last != number) depend(op, last);
    last = number;
  }

  // Within one stream the order is given.
  void depend(const Op& op, std::uint32_t on) {
    const std::uint32_t stream = program_.ops[on].stream;
    if (stream != op.stream) indexed_.dependencies.push_back({stream, position_[on]});
  }

  const Program& program_;
  const Pattern& pattern_;
  IndexedProgram indexed_;
  std::vector<std::uint32_t> position_, last_of_group_, last_send_, last_recv_;
};

}  // namespace

ProgramIndex index_programs(const StepTrace& trace) {
  ProgramIndex index{.programs = {}, .by_rank = std::vector<std::uint32_t>(trace.ranks)};
  std::map<Pattern, std::uint32_t> known;
  Pattern pattern;
  auto last = known.end();  // bindings that follow each other mostly have one pattern
  const auto indexed = [&](const Binding& binding, std::uint32_t rank) {
    find_pattern(binding, rank, pattern);
    if (last != known.end() && last->first == pattern) return last->second;
    const auto [it, is_new] = known.try_emplace(pattern, static_cast<std::uint32_t>(index.programs.size()));
    if (is_new) index.programs.push_back(Indexer(trace.programs[binding.program], pattern).run());
    last = it;
    return it->second;
  };
  for (const Binding& binding : trace.bindings) {
    const bool by_rank = mixes_peers(binding);
    std::uint32_t shared = 0;
    bool first = true;
    for_each_rank(binding.ranks, [&](std::uint32_t rank) {
      if (first || by_rank) shared = indexed(binding, rank);
      first = false;
      index.by_rank[rank] = shared;
    });
  }
  return index;
}

}  // namespace busbar
