#include "calibrate/run/mpi_runner.h"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "calibrate/run/mpi_collectives.h"
#include "calibrate/run/mpi_forced.h"
#include "calibrate/run/roll_call.h"
#include "calibrate/run/watchdog.h"
#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr double kPatience_s = 5;  // for the others to notice the same hang
constexpr auto kNap = std::chrono::microseconds(200);
constexpr std::int64_t kCopyBytes = std::int64_t{1} << 27;  // beyond the caches of CPUs of today
constexpr int kCopies = 9;

class MpiRunner final : public Runner {
 public:
  MpiRunner(const MpiSession& session, double timeout_s)
      : session_(session),
        machine_(describe(session)),
        place_(open_roll_call()),
        watchdog_(timeout_s, [this](const std::string& what) { alarm(what); }) {}
  ~MpiRunner() override {
    if (std::uncaught_exceptions() > 0) return;
    for (auto& [key, comm] : comms_)
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  MpiRunner(const MpiRunner&) = delete;
  MpiRunner& operator=(const MpiRunner&) = delete;

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] bool leads() const override { return session_.rank() == 0; }
  [[nodiscard]] std::string from_leader(std::string text) override {
    return session_.from_first(std::move(text));
  }
  [[nodiscard]] bool offers(CollectiveKind) const override { return true; }
  [[nodiscard]] std::vector<ForcedChoice> choices(CollectiveKind kind, std::int64_t ranks) const override {
    std::vector<ForcedChoice> all;
    for (std::string& name : forcible_algorithms(kind, ranks)) all.push_back({std::move(name), ""});
    return all;
  }
  [[nodiscard]] BatchTimes time_batch(const Call& call) override;
  [[nodiscard]] std::vector<MeasuredKernel> time_kernels(std::vector<std::string>& notes) override;

 private:
  static Machine describe(const MpiSession& session);
  RollCallPlace open_roll_call();
  void alarm(const std::string& what);
  MPI_Comm comm_for(const Call& call);
  std::vector<double> run(MPI_Comm comm, const Call& call);
  void meet();

  const MpiSession& session_;
  Machine machine_;
  TcpSocket listener_;
  RollCallPlace place_;
  MpiBuffers buffers_;
  std::map<std::tuple<CollectiveKind, std::vector<std::uint32_t>, ForcedChoice>, MPI_Comm> comms_;
  Watchdog watchdog_;
};

Machine MpiRunner::describe(const MpiSession& session) {
  Machine machine{.library = MpiSession::library(), .ranks = {}};
  std::map<std::string, std::int64_t> on_host;
  for (const std::string& host : session.gather(MpiSession::host()))
    machine.ranks.push_back({.host = host, .device = "CPU memory", .local = on_host[host]++});
  return machine;
}

RollCallPlace MpiRunner::open_roll_call() {
  RollCallPlace place;
  std::string told;
  if (session_.rank() == 0) {
    place = {.address = usual_address(), .token = random_token()};
    listener_ = TcpSocket::listen(place.address, 0);
    told = fmt::format("{} {} {}", place.address, place.token, listener_.port());
  }
  told = session_.from_first(std::move(told));
  const std::size_t first = told.find(' '), second = told.find(' ', first + 1);
  BUSBAR_CHECK(second != std::string::npos);
  place.address = told.substr(0, first);
  place.token = told.substr(first + 1, second - first - 1);
  std::from_chars(told.data() + second + 1, told.data() + told.size(), place.port);
  return place;
}

// In the watchdog's thread, while the main thread is stuck inside MPI: nothing of MPI may be called.
void MpiRunner::alarm(const std::string& what) {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < machine_.ranks.size(); ++r)
    names.push_back(fmt::format("rank {} on {}", r, machine_.ranks[r].host));
  const auto me = static_cast<std::size_t>(session_.rank());
  std::string verdict;
  if (leads()) {
    std::vector<std::string> reports(names.size());
    reports[0] = what;
    verdict =
        roll_call_verdict(hear_roll_call(listener_, place_.token, std::move(reports), kPatience_s), names);
  } else if (!report_to_roll_call(place_, me, what, 2 * kPatience_s)) {
    verdict = fmt::format("{} does not answer; {} waits in {}", names[0], names[me], what);
  } else {
    // The first says it. Who ends before it has heard all makes the launcher wake and end the stopped ones.
    std::this_thread::sleep_for(std::chrono::duration<double>(3 * kPatience_s));
  }
  if (!verdict.empty()) std::fprintf(stderr, "calibrate: %s\n", printable(verdict).c_str());
  std::fflush(stderr);
  std::_Exit(static_cast<int>(ErrorKind::kSystem));
}

// Made once per operation, group and choice: an algorithm is bound when a communicator is made. Every rank of
// the world takes part in the making.
MPI_Comm MpiRunner::comm_for(const Call& call) {
  const auto [found, added] = comms_.try_emplace({call.operation, call.members, call.choice}, MPI_COMM_NULL);
  if (!added) return found->second;
  const ForcedAlgorithm forced(call.operation, call.choice.algorithm);
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const std::vector<int> ranks(call.members.begin(), call.members.end());
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &found->second);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return found->second;
}

std::vector<double> MpiRunner::run(MPI_Comm comm, const Call& call) {
  std::vector<double> seconds;
  MPI_Barrier(comm);
  MPI_Barrier(comm);  // the first one may still be waking the late
  if (call.pace == Pace::kBackToBack) {
    const double start = MPI_Wtime();
    for (std::int64_t i = 0; i < call.count; ++i)
      call_mpi(comm, call.operation, call.size, call.in_place, buffers_);
    return {(MPI_Wtime() - start) / static_cast<double>(call.count)};
  }
  for (std::int64_t i = 0; i < call.count; ++i) {
    if (i > 0) MPI_Barrier(comm);
    const double start = MPI_Wtime();
    call_mpi(comm, call.operation, call.size, call.in_place, buffers_);
    seconds.push_back(MPI_Wtime() - start);
  }
  return seconds;
}

// All ranks; those that have nothing to do sleep meanwhile, so that they take no core from those measured.
void MpiRunner::meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; std::this_thread::sleep_for(kNap))
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

BatchTimes MpiRunner::time_batch(const Call& call) {
  watchdog_.arm(fmt::format("{} of {}", name_of(call.operation), to_text(call.size)));
  buffers_.reserve(call.size);
  MPI_Comm comm = comm_for(call);
  const auto samples = static_cast<std::size_t>(call.pace == Pace::kIsolated ? call.count : 1);
  std::vector<double> mine(samples, 0.0), all(samples * machine_.ranks.size());
  if (comm != MPI_COMM_NULL) mine = run(comm, call);
  meet();
  MPI_Allgather(mine.data(), static_cast<int>(samples), MPI_DOUBLE, all.data(), static_cast<int>(samples),
                MPI_DOUBLE, MPI_COMM_WORLD);
  watchdog_.disarm();
  BatchTimes times;
  for (const std::uint32_t member : call.members) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(member * samples);
    times.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(samples));
  }
  return times;
}

// One rank of each host copies; hosts do not disturb each other.
std::vector<MeasuredKernel> MpiRunner::time_kernels(std::vector<std::string>& notes) {
  notes.emplace_back("CPUs: memory copies were measured, matrix products and kernel launches do not apply");
  watchdog_.arm("copies of memory");
  const auto me = static_cast<std::size_t>(session_.rank());
  double mine = 0;
  if (machine_.ranks[me].local == 0) {
    buffers_.reserve(Bytes(kCopyBytes));
    std::vector<double> seconds;
    for (int i = 0; i <= kCopies; ++i) {
      const double start = MPI_Wtime();
      std::memcpy(buffers_.receive(), buffers_.send(), static_cast<std::size_t>(kCopyBytes));
      if (i > 0) seconds.push_back(MPI_Wtime() - start);
    }
    std::nth_element(seconds.begin(), seconds.begin() + kCopies / 2, seconds.end());
    mine = seconds[kCopies / 2];
  }
  meet();
  std::vector<double> all(machine_.ranks.size());
  MPI_Allgather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  watchdog_.disarm();
  std::vector<MeasuredKernel> kernels;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (machine_.ranks[r].local == 0)
      kernels.push_back({.kind = MeasuredKernelKind::kCopy,
                         .rank = static_cast<std::uint32_t>(r),
                         .bytes = Bytes(kCopyBytes),
                         .time = Time::from_seconds(all[r])});
  return kernels;
}

}  // namespace

std::unique_ptr<Runner> make_mpi_runner(const MpiSession& session, double timeout_s) {
  return std::make_unique<MpiRunner>(session, timeout_s);
}

}  // namespace busbar
