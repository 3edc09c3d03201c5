// Errors of CUDA and NCCL as the project's.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <string>

#include "sim/base/error.h"

namespace busbar {

/// Throws Error (kSystem) unless `result` is success. `what`: "copying memory".
inline void check_cuda(cudaError_t result, const char* what) {
  if (result != cudaSuccess)
    throw Error({.kind = ErrorKind::kSystem,
                 .where = "CUDA",
                 .message = std::string(what) + ": " + cudaGetErrorString(result)});
}

/// The same for NCCL.
inline void check_nccl(ncclResult_t result, const char* what, ncclComm_t comm = nullptr) {
  if (result == ncclSuccess) return;
  throw Error(
      {.kind = ErrorKind::kSystem,
       .where = "NCCL",
       .message = std::string(what) + ": " + ncclGetErrorString(result) + ": " + ncclGetLastError(comm)});
}

}  // namespace busbar
