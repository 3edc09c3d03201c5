#include "calibrate/run/mpi_collectives.h"

#include <fmt/format.h>

#include <limits>

#include "sim/base/error.h"

namespace busbar {

namespace {

struct Shape {
  int ranks = 1, rank = 0;
  int all = 0, part = 0;  // elements of the whole and of one rank's part
};

Shape shape_of(MPI_Comm comm, Bytes size) {
  Shape s;
  MPI_Comm_size(comm, &s.ranks);
  MPI_Comm_rank(comm, &s.rank);
  s.all = static_cast<int>(size.count() / static_cast<std::int64_t>(sizeof(float)));
  s.part = s.all / s.ranks;
  return s;
}

void reduce_scatter(MPI_Comm comm, const Shape& s, const void* from, float* to) {
  const std::vector<int> counts(static_cast<std::size_t>(s.ranks), s.part);
  MPI_Reduce_scatter(from, to, counts.data(), MPI_FLOAT, MPI_SUM, comm);
}

void to_the_next(MPI_Comm comm, const Shape& s, MpiBuffers& buffers) {
  MPI_Sendrecv(buffers.send(), s.all, MPI_FLOAT, (s.rank + 1) % s.ranks, 0, buffers.receive(), s.all,
               MPI_FLOAT, (s.rank + s.ranks - 1) % s.ranks, 0, comm, MPI_STATUS_IGNORE);
}

}  // namespace

void MpiBuffers::reserve(Bytes size) {
  const std::int64_t elements = size.count() / static_cast<std::int64_t>(sizeof(float)) + 1;
  if (elements > std::numeric_limits<int>::max())
    throw Error({.where = "--sizes",
                 .expected = "below 8 GiB, MPI's counts being int",
                 .given = fmt::format("{} B", size.count())});
  if (static_cast<std::size_t>(elements) <= send_.size()) return;
  send_.assign(static_cast<std::size_t>(elements), 1.0F);
  receive_.assign(static_cast<std::size_t>(elements), 0.0F);
}

void call_mpi(MPI_Comm comm, CollectiveKind operation, Bytes size, bool in_place, MpiBuffers& b) {
  const Shape s = shape_of(comm, size);
  float* const to = b.receive();
  const void* const from = in_place ? MPI_IN_PLACE : static_cast<const void*>(b.send());
  switch (operation) {
    case CollectiveKind::kAllReduce:
      MPI_Allreduce(from, to, s.all, MPI_FLOAT, MPI_SUM, comm);
      break;
    case CollectiveKind::kAllGather:
      MPI_Allgather(from, s.part, MPI_FLOAT, to, s.part, MPI_FLOAT, comm);
      break;
    case CollectiveKind::kReduceScatter:
      reduce_scatter(comm, s, from, to);
      break;
    case CollectiveKind::kBroadcast:
      MPI_Bcast(to, s.all, MPI_FLOAT, 0, comm);
      break;
    case CollectiveKind::kReduce:
      MPI_Reduce(s.rank == 0 ? from : static_cast<const void*>(b.send()), to, s.all, MPI_FLOAT, MPI_SUM, 0,
                 comm);
      break;
    case CollectiveKind::kGather:
      MPI_Gather(b.send(), s.part, MPI_FLOAT, to, s.part, MPI_FLOAT, 0, comm);
      break;
    case CollectiveKind::kScatter:
      MPI_Scatter(b.send(), s.part, MPI_FLOAT, to, s.part, MPI_FLOAT, 0, comm);
      break;
    case CollectiveKind::kAllToAll:
      MPI_Alltoall(b.send(), s.part, MPI_FLOAT, to, s.part, MPI_FLOAT, comm);
      break;
    case CollectiveKind::kSendRecv:
      to_the_next(comm, s, b);
      break;
    case CollectiveKind::kBarrier:
      MPI_Barrier(comm);
      break;
  }
}

}  // namespace busbar
