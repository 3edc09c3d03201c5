// Running a job of several processes as a user would, in a folder of its own.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/support/program.h"

namespace busbar {

class JobTest : public ProgramTest {
 protected:
  /// `command` goes through the shell, in the folder; %BIN stands for the folder of the programs.
  Outcome shell(std::string command) {
    for (std::size_t at = 0; (at = command.find("%BIN")) != std::string::npos;)
      command.replace(at, 4, BUSBAR_BIN_DIR);
    const std::string folder = path("").string();
    // MPI and CUDA keep memory to the end of the process, and CUDA maps where the address sanitizer has its
    // gap.
    const int status = std::system(("export ASAN_OPTIONS=detect_leaks=0:protect_shadow_gap=0; cd '" + folder +
                                    "' && (" + command + ") >out.txt 2>err.txt")
                                       .c_str());
    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = read_file(path("out.txt")),
            .err = read_file(path("err.txt"))};
  }
  /// Of Open MPI on a machine with few cores, whoever starts it.
  static std::string mpirun(int ranks) {
    return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun --oversubscribe "
           "--bind-to "
           "none --mca mpi_yield_when_idle 1 --mca btl self,vader,tcp --mca btl_tcp_if_include lo "
           "--mca btl_vader_single_copy_mechanism none -n " +
           std::to_string(ranks) + " ";
  }
};

}  // namespace busbar
