// calibrate-nccl: what `calibrate --run nccl` becomes.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "calibrate/run/nccl_runner.h"
#include "calibrate/run/tcp_socket.h"
#include "sim/base/error.h"
#include "sim/cli/program.h"
#include "sim/cli/run_measure.h"
#include "sim/cli/run_options.h"
#ifdef BUSBAR_HAS_MPI
#include "calibrate/run/mpi_gang.h"
#endif

namespace busbar {
namespace {

constexpr auto kFirstSpeaks = std::chrono::seconds(2);

// "10.0.0.1:4000" is a port, anything else a folder.
std::unique_ptr<Gang> meet_at_rendezvous(const RunOptions& o) {
  const Membership me{static_cast<std::size_t>(o.process), static_cast<std::size_t>(o.processes), o.token};
  const std::size_t colon = o.rendezvous.rfind(':');
  std::uint16_t port = 0;
  const char* const end = o.rendezvous.data() + o.rendezvous.size();
  const bool is_port = colon != std::string::npos &&
                       std::from_chars(o.rendezvous.data() + colon + 1, end, port).ptr == end && port != 0;
  if (!is_port) return meet_in_folder(me, o.rendezvous);
  std::string address = o.rendezvous.substr(0, colon);
  if (me.process == 0 && !o.interface.empty()) address = address_of_interface(o.interface);
  return meet_by_tcp(me, address, port, o.timeout_s);
}

int measure(const RunOptions& options, Gang& gang) {
  try {
    const auto runner = make_nccl_runner(
        gang, {.gpus = options.gpus, .cuda_graph = options.cuda_graph, .timeout_s = options.timeout_s});
    return run_measure(options, *runner);
  } catch (...) {
    if (gang.process() != 0) std::this_thread::sleep_for(kFirstSpeaks);
    throw;
  }
}

#ifdef BUSBAR_HAS_MPI
int measure_by_mpi(const RunOptions& options) {
  MpiSession session;
  const auto gang = meet_by_mpi(session);
  const int exit_code = run_program("calibrate", [&] { return measure(options, *gang); });
  if (exit_code != 0) MpiSession::abort(exit_code);
  return 0;
}
#endif

int measure(const RunOptions& options) {
  if (!options.rendezvous.empty()) return measure(options, *meet_at_rendezvous(options));
  if (options.processes > 1) {
#ifdef BUSBAR_HAS_MPI
    return measure_by_mpi(options);
#else
    throw Error({.where = "--run nccl",
                 .message = "several processes were started, and this build has no MPI to join them",
                 .suggestion = "name a meeting place with --rendezvous and --token"});
#endif
  }
  LonelyGang gang;
  return measure(options, gang);
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  return busbar::run_program("calibrate", [&] {
    int exit_code = 0;
    if (busbar::launched_as().process != 0) std::fclose(stdout);
    const auto options = busbar::parse_run(argc, argv, exit_code);
    return options ? busbar::measure(*options) : exit_code;
  });
}
