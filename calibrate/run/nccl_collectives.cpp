#include "calibrate/run/nccl_collectives.h"

#include "calibrate/run/cuda_check.h"

namespace busbar {

namespace {

constexpr std::size_t kElement = sizeof(float);

void send_to(const NcclMember& m, const char* from, std::size_t count, int peer) {
  check_nccl(ncclSend(from, count, ncclFloat, peer, m.comm, m.device->stream()), "sending", m.comm);
}

void receive_from(const NcclMember& m, char* to, std::size_t count, int peer) {
  check_nccl(ncclRecv(to, count, ncclFloat, peer, m.comm, m.device->stream()), "receiving", m.comm);
}

// Parts of `count` elements between each rank and the root, or between all.
void exchange(const NcclMember& m, CollectiveKind operation, std::size_t count) {
  const bool all = operation == CollectiveKind::kAllToAll;
  const bool into_root = operation == CollectiveKind::kGather;
  const char* const from = m.device->send();
  char* const to = m.device->receive();
  for (int peer = 0; peer < m.ranks; ++peer) {
    const std::size_t part = static_cast<std::size_t>(peer) * count * kElement;
    if (all || (into_root ? peer == 0 : m.rank == 0)) send_to(m, into_root ? from : from + part, count, peer);
    if (all || (into_root ? m.rank == 0 : peer == 0))
      receive_from(m, into_root || all ? to + part : to, count, peer);
  }
}

void to_the_next(const NcclMember& m, std::size_t count) {
  send_to(m, m.device->send(), count, (m.rank + 1) % m.ranks);
  receive_from(m, m.device->receive(), count, (m.rank + m.ranks - 1) % m.ranks);
}

}  // namespace

void enqueue_nccl(const NcclMember& m, CollectiveKind operation, Bytes size, bool in_place) {
  m.device->use();
  const std::size_t all = static_cast<std::size_t>(size.count()) / kElement;
  const std::size_t part = all / static_cast<std::size_t>(m.ranks);
  const std::size_t mine = static_cast<std::size_t>(m.rank) * part * kElement;
  char* const to = m.device->receive();
  const char* const from = in_place ? to : m.device->send();
  const cudaStream_t stream = m.device->stream();
  switch (operation) {
    case CollectiveKind::kAllReduce:
      return check_nccl(ncclAllReduce(from, to, all, ncclFloat, ncclSum, m.comm, stream), "all_reduce",
                        m.comm);
    case CollectiveKind::kAllGather:
      return check_nccl(ncclAllGather(in_place ? from + mine : from, to, part, ncclFloat, m.comm, stream),
                        "all_gather", m.comm);
    case CollectiveKind::kReduceScatter:
      return check_nccl(
          ncclReduceScatter(from, in_place ? to + mine : to, part, ncclFloat, ncclSum, m.comm, stream),
          "reduce_scatter", m.comm);
    case CollectiveKind::kBroadcast:
      return check_nccl(ncclBroadcast(from, to, all, ncclFloat, 0, m.comm, stream), "broadcast", m.comm);
    case CollectiveKind::kReduce:
      return check_nccl(ncclReduce(from, to, all, ncclFloat, ncclSum, 0, m.comm, stream), "reduce", m.comm);
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllToAll:
      check_nccl(ncclGroupStart(), "grouping");
      exchange(m, operation, part);
      return check_nccl(ncclGroupEnd(), "grouping", m.comm);
    case CollectiveKind::kSendRecv:
      check_nccl(ncclGroupStart(), "grouping");
      to_the_next(m, all);
      return check_nccl(ncclGroupEnd(), "grouping", m.comm);
    case CollectiveKind::kBarrier:
      return enqueue_barrier(m);
  }
}

void enqueue_barrier(const NcclMember& m) {
  m.device->use();
  void* const flag = m.device->flag();
  check_nccl(ncclAllReduce(flag, flag, 1, ncclFloat, ncclSum, m.comm, m.device->stream()), "a barrier",
             m.comm);
}

}  // namespace busbar
