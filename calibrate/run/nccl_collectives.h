// One NCCL call over buffers of floats.
#pragma once

#include <nccl.h>

#include "calibrate/run/nccl_devices.h"
#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// A member's place in its communicator.
struct NcclMember {
  const NcclDevice* device = nullptr;
  ncclComm_t comm = nullptr;
  int rank = 0, ranks = 1;
};

/// Enqueues the operation on the member's stream; between ncclGroupStart and ncclGroupEnd where one process
/// drives several members. Sizes as nccl-tests; gather, scatter and all_to_all as grouped sends and receives,
/// as there; send_recv sends to the next rank and receives from the one before. Sums; root 0. In place:
/// all_reduce, all_gather, reduce_scatter, reduce.
void enqueue_nccl(const NcclMember& member, CollectiveKind operation, Bytes size, bool in_place);

/// Smallest all_reduce: every member leaves it at about the same time.
void enqueue_barrier(const NcclMember& member);

}  // namespace busbar
