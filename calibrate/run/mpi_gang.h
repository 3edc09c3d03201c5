// A gang of MPI's processes.
#pragma once

#include <memory>

#include "calibrate/run/gang.h"
#include "calibrate/run/mpi_session.h"

namespace busbar {

/// Over MPI_COMM_WORLD; `session` outlives it. A few short messages between all pairs: no measurement waits
/// on them.
[[nodiscard]] std::unique_ptr<Gang> meet_by_mpi(const MpiSession& session);

}  // namespace busbar
