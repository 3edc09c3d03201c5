#include "sim/collectives/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace busbar {

namespace {

using Holdings = std::vector<std::vector<Contributions>>;

Contributions only(std::uint32_t rank, std::uint32_t ranks) {
  Contributions c(ranks, 0);
  c[rank] = 1;
  return c;
}

// The rank that holds chunk c at the start, where just one does.
std::uint32_t first_holder(const Schedule& s, std::uint32_t c) {
  switch (s.kind) {
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kScatter:
      return s.root;
    case CollectiveKind::kAllToAll:
      return c / s.ranks;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce:
    case CollectiveKind::kBarrier:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather:
    case CollectiveKind::kSendRecv:
      return c;
  }
  return c;
}

std::uint32_t participants(const Schedule& s) { return s.ranks + s.switches; }

// Every rank starts with a contribution of its own to every chunk, or one rank with the chunk.
Holdings initial(const Schedule& s) {
  const bool all = is_reducing(s.kind) || s.kind == CollectiveKind::kBarrier;
  Holdings holdings(participants(s), std::vector<Contributions>(s.chunks));
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t c = 0; c < s.chunks; ++c)
      if (all || first_holder(s, c) == r) holdings[r][c] = only(r, s.ranks);
  return holdings;
}

// What rank `r` must hold of chunk `c` at the end; empty: undefined.
Contributions promised(const Schedule& s, std::uint32_t r, std::uint32_t c) {
  const auto where = [&](bool here, const Contributions& what) { return here ? what : Contributions{}; };
  switch (s.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBarrier:
      return Contributions(s.ranks, 1);
    case CollectiveKind::kReduce:
      return where(r == s.root, Contributions(s.ranks, 1));
    case CollectiveKind::kReduceScatter:
      return where(c == r, Contributions(s.ranks, 1));
    case CollectiveKind::kAllGather:
      return only(c, s.ranks);
    case CollectiveKind::kGather:
      return where(r == s.root, only(c, s.ranks));
    case CollectiveKind::kBroadcast:
      return only(s.root, s.ranks);
    case CollectiveKind::kScatter:
      return where(c == r, only(s.root, s.ranks));
    case CollectiveKind::kAllToAll:
      return where(c % s.ranks == r, only(c / s.ranks, s.ranks));
    case CollectiveKind::kSendRecv:
      return where(c == (r + s.ranks - 1) % s.ranks, only(c, s.ranks));
  }
  return {};
}

void deliver(Contributions& target, const Contributions& payload, bool reduce) {
  if (payload.empty()) return;
  if (!reduce || target.empty()) {
    target = payload;
    return;
  }
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += payload[i];
}

// One knows only what one took part in.
bool share_a_participant(const Send& a, const Send& b) {
  return a.to == b.from || a.from == b.from || a.to == b.to || a.from == b.to;
}

std::string order_breach(const Schedule& s) {
  for (std::size_t i = 0; i < s.sends.size(); ++i) {
    const Send& send = s.sends[i];
    if (send.from >= participants(s) || send.to >= participants(s) || send.chunk >= s.chunks ||
        send.round >= s.rounds)
      return fmt::format("send {} is out of range", i);
    if (i > 0 && send.round < s.sends[i - 1].round)
      return fmt::format("send {} falls back to round {}", i, send.round);
    if (send.from == send.to) return fmt::format("send {} goes from rank {} to itself", i, send.from);
    for (const std::uint32_t a : send.after)
      if (a >= i || s.sends[a].round >= send.round || !share_a_participant(s.sends[a], send))
        return fmt::format("send {} waits for send {}, which is no earlier send of rank {} or {}", i, a,
                           send.from, send.to);
  }
  return "";
}

struct Outcome {
  Holdings holdings;
  std::optional<std::size_t> empty_send;  // the first of what its sender does not hold
};

Outcome run(const Schedule& s) {
  Outcome outcome{.holdings = initial(s), .empty_send = {}};
  Holdings& holdings = outcome.holdings;
  std::size_t begin = 0;
  while (begin < s.sends.size()) {
    std::size_t end = begin;
    std::vector<Contributions> payloads;  // sends of a round all leave before any arrives
    for (; end < s.sends.size() && s.sends[end].round == s.sends[begin].round; ++end) {
      payloads.push_back(holdings[s.sends[end].from][s.sends[end].chunk]);
      if (payloads.back().empty() && !outcome.empty_send) outcome.empty_send = end;
    }
    for (std::size_t i = begin; i < end; ++i)
      deliver(holdings[s.sends[i].to][s.sends[i].chunk], payloads[i - begin], s.sends[i].reduce);
    begin = end;
  }
  return outcome;
}

}  // namespace

std::vector<std::vector<Contributions>> run_symbolically(const Schedule& s) { return run(s).holdings; }

std::string contract_breach(const Schedule& s) {
  if (std::string breach = order_breach(s); !breach.empty()) return breach;
  const auto [holdings, empty_send] = run(s);
  if (empty_send)
    return fmt::format("send {} is of chunk {}, of which {} holds nothing", *empty_send,
                       s.sends[*empty_send].chunk, s.sends[*empty_send].from);
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t c = 0; c < s.chunks; ++c) {
      const Contributions want = promised(s, r, c);
      if (!want.empty() && holdings[r][c] != want)
        return fmt::format("rank {} of {} ends with chunk {} as [{}] instead of [{}]", r, s.ranks, c,
                           fmt::join(holdings[r][c], ","), fmt::join(want, ","));
    }
  return "";
}

double chunk_share(const Schedule& s) {
  switch (s.kind) {
    case CollectiveKind::kBarrier:
      return 0;
    case CollectiveKind::kSendRecv:
      return 1;
    case CollectiveKind::kAllToAll:
      return 1.0 / s.ranks;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kScatter:
      return 1.0 / s.chunks;
  }
  return 0;
}

std::vector<std::uint64_t> chunks_sent(const Schedule& s) {
  std::vector<std::uint64_t> sent(s.ranks, 0);
  for (const Send& send : s.sends)
    if (send.from < s.ranks) ++sent[send.from];
  return sent;
}

}  // namespace busbar
