// Programs made ready for replay: operations by stream, and what each must wait for, per distinct binding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/trace.h"

namespace busbar {

/// "The operation at `position` of `stream` has ended on this rank": streams are in order, so one counter per
/// stream answers it, and no state per rank and operation is needed.
struct Dependency {
  std::uint32_t stream = 0;
  std::uint32_t position = 0;
};

/// One program under one pattern of bindings (which of its slots name the same communicator).
struct IndexedProgram {
  std::uint32_t program = 0;                        // number in the trace
  std::vector<std::vector<std::uint32_t>> streams;  // operation numbers in issue order
  std::vector<std::uint32_t> first_dependency;      // CSR: operation -> dependencies
  std::vector<Dependency> dependencies;
  std::vector<OpKind> kinds;  // by operation: most are asked for nothing else

  [[nodiscard]] std::span<const Dependency> dependencies_of(std::uint32_t op) const {
    return std::span(dependencies)
        .subspan(first_dependency[op], first_dependency[op + 1] - first_dependency[op]);
  }
};

/// Indexed programs of a trace, and which of them each rank runs.
struct ProgramIndex {
  std::vector<IndexedProgram> programs;
  std::vector<std::uint32_t> by_rank;
};

/// Explicit dependencies, plus the communicators' own order: operations of one communicator run in issue
/// order on a rank, and so do sends to one peer, and receives from one peer. Cost: O(operations) per distinct
/// (program, pattern).
[[nodiscard]] ProgramIndex index_programs(const StepTrace& trace);

}  // namespace busbar
