#include "calibrate/run/nccl_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "calibrate/run/cuda_check.h"
#include "calibrate/run/nccl_comms.h"
#include "calibrate/run/nccl_graph.h"
#include "calibrate/run/nccl_rates.h"
#include "calibrate/run/nccl_wire.h"
#include "calibrate/run/watchdog.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr auto kNap = std::chrono::microseconds(20);
constexpr double kSlack_s = 10;  // processes without members wait so much longer than those with

constexpr std::string_view kWaits = "waits";  // in place of a batch's times

std::string text_of(const Call& call) {
  return fmt::format("{} of {}", name_of(call.operation), to_text(call.size));
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string nccl_name() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "asking for the version");
  // Since 2.9: major x 10000 + minor x 100 + patch (nccl.h, NCCL_VERSION).
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::vector<NcclDevice> open_devices(const NcclRunSettings& settings, std::size_t first, bool lonely) {
  const int visible = visible_gpus();
  if (visible == 0)
    throw Error({.kind = ErrorKind::kSystem, .where = "CUDA", .message = "sees no GPU on " + host_name()});
  const auto wanted = static_cast<std::size_t>(settings.gpus > 0 ? settings.gpus : lonely ? visible : 1);
  std::vector<NcclDevice> devices;
  // A launcher may show each process its own GPUs only.
  const std::size_t begin = static_cast<std::size_t>(visible) == wanted ? 0 : first * wanted;
  if (begin + wanted > static_cast<std::size_t>(visible))
    throw Error({.kind = ErrorKind::kSystem,
                 .where = "--gpus-per-process",
                 .message = fmt::format("{} GPUs from number {} on were asked for on {}, which shows {}",
                                        wanted, begin, host_name(), visible)});
  for (std::size_t i = 0; i < wanted; ++i) devices.emplace_back(static_cast<int>(begin + i));
  return devices;
}

class NcclRunner final : public Runner {
 public:
  NcclRunner(Gang& gang, const NcclRunSettings& settings)
      : gang_(gang),
        settings_(settings),
        devices_(open_devices(settings, place_on_host(), gang.processes() == 1)),
        first_rank_(describe()),
        comms_(gang, devices_, first_rank_),
        watchdog_(settings.timeout_s + kSlack_s, [this](const std::string& what) { alarm(what); }) {}

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] bool leads() const override { return gang_.process() == 0; }
  [[nodiscard]] std::string from_leader(std::string text) override {
    // The leader may be writing files meanwhile.
    return gang_.gather(leads() ? text : "", settings_.timeout_s + kSlack_s).front();
  }
  [[nodiscard]] bool offers(CollectiveKind) const override { return true; }
  [[nodiscard]] std::vector<ForcedChoice> choices(CollectiveKind kind, std::int64_t ranks) const override;
  [[nodiscard]] BatchTimes time_batch(const Call& call) override;
  [[nodiscard]] std::vector<MeasuredKernel> time_kernels(std::vector<std::string>& notes) override;

 private:
  std::size_t place_on_host();
  std::size_t describe();
  void enqueue(const std::vector<NcclMember>& members, const Call& call, std::int64_t count);
  void barrier(const std::vector<NcclMember>& members);
  std::vector<double> timed(const std::vector<NcclMember>& members, const Call& call, std::int64_t count,
                            const LaunchGraphs& graphs);
  std::vector<std::vector<double>> run(const std::vector<NcclMember>& members, const Call& call);
  [[noreturn]] void hang(const Call& call);
  [[noreturn]] void fail_hung(const Call& call) const;
  void alarm(const std::string& what);

  Gang& gang_;
  NcclRunSettings settings_;
  Machine machine_;
  std::vector<NcclDevice> devices_;
  std::size_t first_rank_;
  NcclComms comms_;
  Watchdog watchdog_;
};

// How many processes of this host come before this one.
std::size_t NcclRunner::place_on_host() {
  const std::vector<std::string> hosts = gang_.gather(host_name(), settings_.timeout_s);
  const auto end = hosts.begin() + static_cast<std::ptrdiff_t>(gang_.process());
  return static_cast<std::size_t>(std::count(hosts.begin(), end, hosts[gang_.process()]));
}

// All ranks' places; returns this process's first rank.
std::size_t NcclRunner::describe() {
  machine_.library = nccl_name();
  std::vector<RankPlace> mine;
  for (const NcclDevice& device : devices_)
    mine.push_back({.host = host_name(), .device = device.name(), .local = device.device()});
  std::size_t first = 0;
  const std::vector<std::string> all = gang_.gather(places_text(mine), settings_.timeout_s);
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (p == gang_.process()) first = machine_.ranks.size();
    for (RankPlace& place : places_from(all[p])) machine_.ranks.push_back(std::move(place));
  }
  return first;
}

// What every NCCL of these years can be told to do. NVLS, CollNet and PAT depend on the fabric in ways that
// NCCL does not tell beforehand: the library's own choice measures them where it takes them.
// Source: NCCL's documentation of NCCL_ALGO and NCCL_PROTO.
std::vector<ForcedChoice> NcclRunner::choices(CollectiveKind kind, std::int64_t ranks) const {
  const bool ring = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
                    kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kBroadcast ||
                    kind == CollectiveKind::kReduce;
  std::vector<ForcedChoice> all;
  if (!ring || ranks < 2) return all;
  for (const char* const protocol : {"Simple", "LL", "LL128"}) {
    all.push_back({"ring", protocol});
    if (kind == CollectiveKind::kAllReduce) all.push_back({"tree", protocol});
  }
  return all;
}

void NcclRunner::enqueue(const std::vector<NcclMember>& members, const Call& call, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    check_nccl(ncclGroupStart(), "grouping");
    for (const NcclMember& member : members) enqueue_nccl(member, call.operation, call.size, call.in_place);
    check_nccl(ncclGroupEnd(), "launching");
  }
}

void NcclRunner::barrier(const std::vector<NcclMember>& members) {
  check_nccl(ncclGroupStart(), "grouping");
  for (const NcclMember& member : members) enqueue_barrier(member);
  check_nccl(ncclGroupEnd(), "launching a barrier");
}

// The barrier runs on the same streams, so the batch is queued behind it before the last member comes.
std::vector<double> NcclRunner::timed(const std::vector<NcclMember>& members, const Call& call,
                                      std::int64_t count, const LaunchGraphs& graphs) {
  const Deadline deadline = deadline_in(settings_.timeout_s);
  watchdog_.arm(text_of(call));
  barrier(members);
  for (const NcclMember& member : members) member.device->mark_start();
  if (graphs.empty())
    enqueue(members, call, count);
  else
    graphs.launch(members);
  for (const NcclMember& member : members) member.device->mark_stop();
  watchdog_.disarm();
  std::vector<double> seconds;
  for (const NcclMember& member : members) {
    for (; !member.device->finished(); std::this_thread::sleep_for(kNap))
      if (std::chrono::steady_clock::now() >= deadline) hang(call);
    seconds.push_back(member.device->seconds() / static_cast<double>(count));
  }
  return seconds;
}

std::vector<std::vector<double>> NcclRunner::run(const std::vector<NcclMember>& members, const Call& call) {
  std::vector<std::vector<double>> samples(members.size());
  const bool isolated = call.pace == Pace::kIsolated;
  const std::int64_t batches = isolated ? call.count : 1, in_each = isolated ? 1 : call.count;
  LaunchGraphs graphs;
  if (settings_.cuda_graph && !members.empty())
    graphs.capture(members, [&] { enqueue(members, call, in_each); });
  for (std::int64_t b = 0; b < batches; ++b) {
    if (members.empty()) break;
    const std::vector<double> seconds = timed(members, call, in_each, graphs);
    for (std::size_t m = 0; m < members.size(); ++m) samples[m].push_back(seconds[m]);
  }
  return samples;
}

// Whoever still runs says so; who does not is named by the gathering itself.
void NcclRunner::hang(const Call& call) {
  comms_.abandon();
  static_cast<void>(gang_.gather(std::string(kWaits), kSlack_s));
  fail_hung(call);
}

void NcclRunner::fail_hung(const Call& call) const {
  throw Error({.kind = ErrorKind::kSystem,
               .where = text_of(call),
               .message = fmt::format(
                   "did not end within {:g} s, yet every process answers; this one drives ranks "
                   "{} to {} on {}",
                   settings_.timeout_s, first_rank_, first_rank_ + devices_.size() - 1, host_name())});
}

// In the watchdog's thread, while the main thread is stuck inside NCCL.
void NcclRunner::alarm(const std::string& what) {
  std::string verdict = what + ": NCCL does not return, yet every process answers";
  try {
    static_cast<void>(gang_.gather(std::string(kWaits), kSlack_s));
  } catch (const Error& e) {
    verdict = fmt::format("{}: {}", what, e.what());
  }
  std::fprintf(stderr, "calibrate: %s\n", printable(verdict).c_str());
  std::fflush(stderr);
  std::_Exit(static_cast<int>(ErrorKind::kSystem));
}

BatchTimes NcclRunner::time_batch(const Call& call) {
  for (NcclDevice& device : devices_) device.reserve(call.size);
  watchdog_.arm("making a communicator for " + text_of(call));
  const std::vector<NcclMember>& members = comms_.get(call.members, call.choice, settings_.timeout_s);
  watchdog_.disarm();
  const std::vector<std::string> all =
      gang_.gather(samples_text(members, run(members, call)), settings_.timeout_s + kSlack_s);
  if (std::find(all.begin(), all.end(), kWaits) != all.end()) {
    comms_.abandon();
    fail_hung(call);
  }
  BatchTimes times(call.members.size());
  for (const std::string& text : all) take_samples(text, times);
  return times;
}

std::vector<MeasuredKernel> NcclRunner::time_kernels(std::vector<std::string>& notes) {
  std::vector<MeasuredKernel> mine;
  for (std::size_t d = 0; d < devices_.size(); ++d)
    for (MeasuredKernel& kernel :
         measure_gpu(devices_[d], static_cast<std::uint32_t>(first_rank_ + d), notes))
      mine.push_back(std::move(kernel));
  if (machine_.ranks.size() == 1)
    notes.emplace_back(
        "one GPU: no link between GPUs can be measured; its collectives are copies in its memory");
  constexpr double kKernels_s = 120;
  std::vector<MeasuredKernel> kernels;
  for (const std::string& text : gang_.gather(kernels_text(mine), settings_.timeout_s + kKernels_s))
    take_kernels(text, kernels);
  return kernels;
}

}  // namespace

std::unique_ptr<Runner> make_nccl_runner(Gang& gang, const NcclRunSettings& settings) {
  return std::make_unique<NcclRunner>(gang, settings);
}

}  // namespace busbar
