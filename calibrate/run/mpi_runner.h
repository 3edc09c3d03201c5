// Collectives of MPI over the memory of CPUs.
#pragma once

#include <memory>

#include "calibrate/run/mpi_session.h"
#include "calibrate/run/runner.h"

namespace busbar {

/// `session` outlives the runner. A batch that takes longer than `timeout_s` ends the whole job with exit
/// code 3 and one line that names the ranks that no longer answer.
[[nodiscard]] std::unique_ptr<Runner> make_mpi_runner(const MpiSession& session, double timeout_s);

}  // namespace busbar
