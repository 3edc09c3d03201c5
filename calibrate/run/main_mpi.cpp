// calibrate-mpi: what `calibrate --run mpi` becomes. Start it under mpirun or srun.
#include <chrono>
#include <optional>
#include <thread>

#include "calibrate/run/mpi_runner.h"
#include "sim/cli/program.h"
#include "sim/cli/run_measure.h"
#include "sim/cli/run_options.h"

namespace {

// Every process sees most errors; the first one says it, and whoever is alone with one says it later.
constexpr auto kFirstSpeaks = std::chrono::seconds(2);

int measure(const busbar::RunOptions& options) {
  busbar::MpiSession session;
  const int exit_code = busbar::run_program("calibrate", [&] {
    try {
      const auto runner = busbar::make_mpi_runner(session, options.timeout_s);
      return busbar::run_measure(options, *runner);
    } catch (...) {
      if (session.rank() != 0) std::this_thread::sleep_for(kFirstSpeaks);
      throw;
    }
  });
  if (exit_code != 0) busbar::MpiSession::abort(exit_code);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool speaks = busbar::launched_as().process == 0;
  int exit_code = 0;
  std::optional<busbar::RunOptions> options;
  const auto parse = [&] {
    options = busbar::parse_run(argc, argv, exit_code);
    return options ? 0 : exit_code;
  };
  if (!speaks) std::fclose(stdout);
  const int parsed = busbar::run_program("calibrate", parse);
  return options ? measure(*options) : parsed;
}
