// The event loop: ranks run their programs, operations meet, strands and kernels share the machine.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/engine/kernel_set.h"
#include "sim/engine/strand_set.h"
#include "sim/replay/calls.h"
#include "sim/replay/explain.h"
#include "sim/replay/exposure.h"
#include "sim/replay/history.h"
#include "sim/replay/placement.h"
#include "sim/replay/plan_cache.h"
#include "sim/replay/program_index.h"
#include "sim/replay/recorder.h"
#include "sim/replay/rendezvous.h"
#include "sim/replay/system.h"
#include "sim/result/run_result.h"
#include "topologies/topology.h"
#include "workloads/trace.h"

namespace busbar {

/// What an event of the queue means.
enum EventKind : std::uint32_t { kStrandEnd, kKernelEnd, kRunBegin, kRunEnd, kHostEnd };

enum class LaneStatus : std::uint8_t { kIdle, kWaiting, kRunning };

/// One stream of one rank: where it stands.
struct Lane {
  std::uint32_t position = 0;  // operations of this stream that have ended in this pass
  LaneStatus status = LaneStatus::kIdle;
  std::uint32_t pending = 0;               // transfers of the present operation that have not ended
  std::uint32_t running = 0;               // of those, the ones under way
  std::uint32_t record = 0;                // what a running transfer counts towards
  std::uint32_t trigger = History::kNone;  // what let the present operation start (held)
  std::uint32_t last = History::kNone;     // the operation that ended last here (held)
  Time arrived, started;
};

struct RankState {
  std::uint32_t program = 0;  // indexed program
  std::uint32_t first_lane = 0;
  std::uint32_t lanes_left = 0;  // streams with operations left in this pass
  std::int64_t passes = 0;
  bool dirty = false;
  bool finished = false;
  Time begin, end;  // of the passes that are the step: begin is 0 unless the trace is staggered
};

/// A communication under way.
struct Run {
  const PlannedOperation* planned = nullptr;
  std::uint64_t alike = 1;       // communications that it stands for
  std::vector<Arrival> members;  // collective: all; transfer: sender, receiver
  std::vector<StrandId> strands;
  std::size_t strands_left = 0;
  std::size_t phase = 0;  // of the plan, the one under way
  std::uint32_t node = History::kNone;
  std::int64_t memory_Bps = 0;  // HBM traffic on each member now
  bool is_transfer = false;
  Time start;
};

struct ReplayOptions {
  Overrides overrides;
  /// Replays one rank for each class of ranks that behave alike; every time stays the same.
  bool symmetry = false;
  std::vector<std::uint32_t> apart;  // ranks that stay by themselves nevertheless
  Scales scales;
  bool timelines = false;  // of one rank of each program
  /// Keeps no accounts: neither where time went nor what started what. For those that ask when ranks end.
  bool ends_only = false;
};

/// One run of one trace. Deterministic: no clock, no randomness, no dependence on addresses or on the order
/// of simultaneous events.
class Replay {
 public:
  /// Borrows its arguments. Errors (Error, kInput): more ranks than GPUs; a kernel that the GPU cannot price.
  Replay(const Topology& topology, const StepTrace& trace, const Profile& profile,
         const ReplayOptions& options);

  /// Before `run`: keeps a timeline. Errors (Error, kInput): an unknown rank, more text than is useful.
  void record(const TimelineRequest& request);
  /// Before `run`: keeps what explanations need.
  void explain();
  /// Errors (Error, kJob): mismatched calls, deadlock.
  void run();
  /// Other factors for the next run: who takes part, routes and choices stay.
  /// Errors (Error, kInput): a time beyond the range.
  void rescale(const Scales& scales);
  /// After numbers (not lists) of the profile have changed, for the next run, as above.
  void profile_changed();
  /// After the run: no link that was taken not to bind, and could under these factors, was asked for more
  /// than it sustains; so none held a strand back. Else only a new replay is right.
  [[nodiscard]] bool implied_held() const;
  /// Back to before `run`.
  void reset();
  /// What a run depends on besides capacities, the speed of kernels and of their memory: equal prints of one
  /// replay take equally long on links that do not bind.
  [[nodiscard]] std::uint64_t plans_print() const;
  /// Whether communication takes part of GPUs' memory, and whether launching takes a CPU time.
  [[nodiscard]] bool uses_memory() const;
  [[nodiscard]] bool has_launches() const;

  /// By player, like every `player` below.
  [[nodiscard]] std::span<const RankState> ranks() const { return ranks_; }
  [[nodiscard]] const System& system() const { return system_; }
  /// The rank that a player stands for.
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t player) const { return system_.players[player].rank; }
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  [[nodiscard]] const ProgramIndex& index() const { return index_; }
  [[nodiscard]] const Rendezvous& rendezvous() const { return rendezvous_; }
  [[nodiscard]] const StepTrace& trace() const { return *trace_; }
  [[nodiscard]] const Exposure& exposure() const { return exposure_; }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const StrandSet& strands() const { return strands_; }
  [[nodiscard]] PlanCache& plans() { return plans_; }
  [[nodiscard]] const PlanCache& plans() const { return plans_; }
  [[nodiscard]] Placement& placement() { return placement_; }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] std::span<const std::string> kinds() const { return kinds_.names; }
  [[nodiscard]] std::vector<RankTimeline>& timelines() { return timelines_; }
  [[nodiscard]] Recorder* recorder() { return recorder_.get(); }
  [[nodiscard]] const Explainer* explainer() const { return explainer_.get(); }
  [[nodiscard]] std::uint32_t kind_of(std::uint32_t player, std::uint32_t op) const {
    return kinds_.by_op[index_.programs[ranks_[player].program].program][op];
  }
  [[nodiscard]] const std::vector<std::uint32_t>& kinds_by_op(std::uint32_t program) const {
    return kinds_.by_op[program];
  }
  /// The number, in its program, of the operation at which a lane stands.
  [[nodiscard]] std::uint32_t op_number(std::uint32_t player, std::uint32_t stream) const;
  /// Through the programs, one that only brings ranks into their places included.
  [[nodiscard]] std::int64_t passes() const { return trace_->repeat + (trace_->staggered ? 1 : 0); }
  /// Of everything that was counted over all passes, what one step has.
  [[nodiscard]] double counted_share() const {
    return static_cast<double>(trace_->repeat) / static_cast<double>(passes());
  }
  [[nodiscard]] std::uint64_t events() const { return queue_.pushed(); }
  [[nodiscard]] Time now() const { return now_; }
  /// The operation at which a lane stands, or nullptr at its end.
  [[nodiscard]] const Op* present_op(std::uint32_t player, std::uint32_t stream) const;
  /// The mailbox of a transfer, and the meeting of a collective.
  [[nodiscard]] std::uint32_t mailbox(std::uint32_t player, const Transfer& transfer) const;
  [[nodiscard]] std::uint32_t meeting(std::uint32_t player, const Op& op) const {
    return system_.meeting(player, op.group_slot);
  }

 private:
  void capacities_changed();
  void slow_ranks();
  void price_kernels();
  [[nodiscard]] std::vector<KernelDemand> demands(std::uint32_t rank) const;
  [[nodiscard]] std::vector<bool> find_implied() const;
  void reprice();
  template <class Function>
  void for_each_plan(const Function& function) const;
  [[nodiscard]] System find_system(const ReplayOptions& options);
  [[nodiscard]] SystemColours colours(std::span<const std::uint32_t> apart) const;
  void colour_links(SystemColours& colours) const;
  void seat_players();
  [[nodiscard]] KernelSet::Gpu gpu_of(std::uint32_t rank) const;
  [[nodiscard]] std::vector<KernelSet::Gpu> gpus() const;

  void run_events();
  void drain_instant();
  void handle(const Event& event);
  void settle();
  void mark(std::uint32_t player);
  void start_ready(std::uint32_t player);
  [[nodiscard]] bool is_ready(std::uint32_t player, std::uint32_t stream) const;
  void start(std::uint32_t player, std::uint32_t stream);
  void start_kernel(std::uint32_t player, std::uint32_t stream, std::uint32_t op);
  void arrive(std::uint32_t player, std::uint32_t stream, const Op& op);
  void post(std::uint32_t player, std::uint32_t stream, const Op& op);

  void launch_collective(std::uint32_t meeting, const PlannedOperation& planned);
  void launch_transfer(std::uint32_t mailbox, const Rendezvous::Match& match);
  std::uint32_t new_run(const PlannedOperation& planned, std::vector<Arrival> members, const Arrival& last,
                        bool is_transfer);
  void begin(std::uint32_t run);
  void end_strand(StrandId strand);
  void end_strands(std::uint32_t run);
  void end_run(std::uint32_t run);
  void end_kernel(std::uint32_t slot);
  void start_host(std::uint32_t player, std::uint32_t stream, const Op& op);
  void end_alone(std::uint32_t lane);
  void end_op(std::uint32_t lane, std::uint32_t node);
  void end_pass(std::uint32_t player);
  void update_memory_traffic();

  void note(std::uint32_t player);
  [[nodiscard]] std::uint32_t trigger_of(std::uint32_t player, std::uint32_t stream) const;
  [[nodiscard]] const Program& program_of(std::uint32_t player) const;

  const Topology* topology_;
  const StepTrace* trace_;
  const Profile* profile_;
  ProgramIndex index_;
  Placement placement_;
  PlanCache plans_;
  GroupKinds kinds_;
  Calls calls_;
  std::vector<std::vector<KernelDemand>> demands_;  // by program, GPU model and slowdown
  std::vector<std::uint32_t> demands_of_rank_;      // by rank
  std::vector<double> slowdown_;                    // by rank, of jitter; empty: none is slowed
  std::vector<bool> implied_;                       // by link
  std::vector<double> implied_at_;                  // capacities by sort at which `doubtful_` was found
  std::vector<std::uint32_t> doubtful_;             // links of `implied_` that others do not imply there
  bool keeps_timelines_ = false;
  bool ends_only_ = false;
  System system_;
  Rendezvous rendezvous_;
  StrandSet strands_;
  KernelSet kernels_;
  EventQueue queue_;
  History history_;
  Exposure exposure_;
  std::vector<RankState> ranks_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> player_of_lane_;
  std::vector<std::uint32_t> lane_of_kernel_;  // by kernel slot
  std::vector<std::uint32_t> run_of_strand_;   // by strand slot
  std::vector<Run> runs_;
  std::vector<std::uint32_t> free_runs_;
  std::vector<std::uint32_t> rerated_runs_;       // whose strands changed rate at this instant
  std::vector<const PlannedOperation*> forming_;  // by meeting: what its first arrival calls
  std::vector<std::uint32_t> dirty_;
  std::vector<std::int32_t> timeline_of_;  // by player; -1: not kept
  std::vector<RankTimeline> timelines_;
  std::unique_ptr<Recorder> recorder_;    // none: no timeline is kept
  std::unique_ptr<Explainer> explainer_;  // none: nothing is explained
  Time now_;
};

}  // namespace busbar
