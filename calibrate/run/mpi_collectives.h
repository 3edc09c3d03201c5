// One MPI collective call over buffers of floats.
#pragma once

#include <mpi.h>

#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// Buffers that serve calls up to some size, in memory that was touched.
class MpiBuffers {
 public:
  /// Room for `size` bytes (nccl-tests' size) of either kind. Errors (kInput): more than MPI's int counts.
  void reserve(Bytes size);
  [[nodiscard]] float* send() { return send_.data(); }
  [[nodiscard]] float* receive() { return receive_.data(); }

 private:
  std::vector<float> send_, receive_;
};

/// `size` is nccl-tests' size: gathers and scatters move size / n per rank, all_to_all has size / n for each
/// other rank; send_recv sends to the next rank and receives from the one before. Sums; root 0. In place
/// where `in_place`: all_reduce, all_gather, reduce_scatter, reduce.
void call_mpi(MPI_Comm comm, CollectiveKind operation, Bytes size, bool in_place, MpiBuffers& buffers);

}  // namespace busbar
