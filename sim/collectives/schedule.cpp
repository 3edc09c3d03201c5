#include "sim/collectives/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace busbar {

namespace {

using Holdings = std::vector<std::vector<Contributions>>;

Contributions only(std::uint32_t rank, std::uint32_t ranks) {
  Contributions c(ranks, 0);
  c[rank] = 1;
  return c;
}

// True where every rank starts with a contribution of its own to every chunk.
bool starts_full(CollectiveKind kind) { return is_reducing(kind) || kind == CollectiveKind::kBarrier; }

Holdings initial(const Schedule& s) {
  Holdings holdings(s.ranks, std::vector<Contributions>(s.chunks));
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t c = 0; c < s.chunks; ++c)
      if (starts_full(s.kind) || c == r) holdings[r][c] = only(r, s.ranks);
  return holdings;
}

// What rank `r` must hold of chunk `c` at the end; empty: anything.
Contributions promised(const Schedule& s, std::uint32_t r, std::uint32_t c) {
  switch (s.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBarrier:
      return Contributions(s.ranks, 1);
    case CollectiveKind::kReduceScatter:
      return c == r ? Contributions(s.ranks, 1) : Contributions{};
    case CollectiveKind::kAllGather:
      return only(c, s.ranks);
    case CollectiveKind::kSendRecv:
      return c == (r + s.ranks - 1) % s.ranks ? only(c, s.ranks) : Contributions{};
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllToAll:
      return {};
  }
  return {};
}

void deliver(Contributions& target, const Contributions& payload, bool reduce) {
  if (!reduce || target.empty()) {
    target = payload;
    return;
  }
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += payload[i];
}

std::string order_breach(const Schedule& s) {
  for (std::size_t i = 0; i < s.sends.size(); ++i) {
    const Send& send = s.sends[i];
    if (send.from >= s.ranks || send.to >= s.ranks || send.chunk >= s.chunks || send.round >= s.rounds)
      return fmt::format("send {} is out of range", i);
    if (i > 0 && send.round < s.sends[i - 1].round)
      return fmt::format("send {} falls back to round {}", i, send.round);
    for (const std::uint32_t a : send.after)
      if (a >= i || s.sends[a].round >= send.round || s.sends[a].to != send.from)
        return fmt::format("send {} waits for send {}, which does not reach rank {} before it", i, a,
                           send.from);
  }
  return "";
}

}  // namespace

std::vector<std::vector<Contributions>> run_symbolically(const Schedule& s) {
  Holdings holdings = initial(s);
  std::size_t begin = 0;
  while (begin < s.sends.size()) {
    std::size_t end = begin;
    std::vector<Contributions> payloads;  // sends of a round all leave before any arrives
    for (; end < s.sends.size() && s.sends[end].round == s.sends[begin].round; ++end)
      payloads.push_back(holdings[s.sends[end].from][s.sends[end].chunk]);
    for (std::size_t i = begin; i < end; ++i)
      deliver(holdings[s.sends[i].to][s.sends[i].chunk], payloads[i - begin], s.sends[i].reduce);
    begin = end;
  }
  return holdings;
}

std::string contract_breach(const Schedule& s) {
  if (std::string breach = order_breach(s); !breach.empty()) return breach;
  const Holdings holdings = run_symbolically(s);
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t c = 0; c < s.chunks; ++c) {
      const Contributions want = promised(s, r, c);
      if (!want.empty() && holdings[r][c] != want)
        return fmt::format("rank {} of {} ends with chunk {} as [{}] instead of [{}]", r, s.ranks, c,
                           fmt::join(holdings[r][c], ","), fmt::join(want, ","));
    }
  return "";
}

std::vector<std::uint64_t> chunks_sent(const Schedule& s) {
  std::vector<std::uint64_t> sent(s.ranks, 0);
  for (const Send& send : s.sends) ++sent[send.from];
  return sent;
}

}  // namespace busbar
