// What a profiler's trace of one rank holds, as far as it matters for a step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.h"

namespace busbar {

/// From `begin` to before `end`, in nanoseconds of the trace's clock.
struct TraceSpan {
  std::int64_t begin = 0, end = 0;
  auto operator<=>(const TraceSpan&) const = default;
};

/// What is known of one communication. Indices are into `RankTrace::names`; 0 is "".
struct TraceCall {
  std::optional<CollectiveKind> operation;
  std::uint32_t group = 0;    // the group's description, else its name
  std::uint32_t members = 0;  // its list of ranks as the trace spells it, with the name
  std::int64_t ranks = 0;     // 0: not said
  std::int64_t bytes = -1;    // nccl-tests' size where `ranks` is known or does not matter; -1: not said
  bool input_only = false;    // `bytes` is of what one rank put in
  std::int64_t source = -1, target = -1;  // of a send or receive
};

/// A communication: a kernel, or what a CPU's thread did.
struct TraceCommunication {
  TraceSpan span;
  TraceCall call;
  std::uint32_t kernel = 0;
  std::int64_t correlation = -1, external = -1;
};

/// A call on the host that led to a communication.
struct TraceNote {
  TraceSpan span;
  std::int64_t thread = 0, external = -1;
  TraceCall call;
};

/// A launch of a kernel on the host.
struct TraceLaunch {
  std::int64_t correlation = 0, thread = 0, at = 0;
};

struct TraceStep {
  std::int64_t number = 0;  // "ProfilerStep#4"
  TraceSpan span;
};

struct RankTrace {
  std::string source;
  std::optional<std::int64_t> rank, world;
  std::vector<TraceStep> steps;
  std::vector<TraceSpan> kernels;  // of the GPU, communication left out; copies and fills inside it included
  std::vector<TraceSpan> operators;  // of the CPU
  std::vector<TraceCommunication> communications;
  std::vector<TraceNote> notes;
  std::vector<TraceLaunch> launches;
  std::vector<std::string> names{""};
  bool calls_nccl = false;                              // the host does
  std::size_t events = 0, gpu_kernels = 0;              // all; kernels, communication included
  bool shapes = false, stacks = false, memory = false;  // what the profiler recorded besides

  [[nodiscard]] std::uint32_t name_index(std::string_view name);
};

/// A trace of PyTorch's profiler: Kineto's object with traceEvents, or a plain list of events. gzip is
/// unpacked. Memory grows with the events that matter, not with the file: it is read in one pass. Errors
/// (Error, kInput) with file and line: not JSON, cut, no list of events, a time that is no number.
[[nodiscard]] RankTrace read_rank_trace(const std::string& path);
/// The same for a text called `name`, not packed.
[[nodiscard]] RankTrace read_rank_trace_text(std::string_view text, const std::string& name);

/// Gives each communication what is known of its call: its own metadata, else that of the call on the host
/// with its external id, else of the call around its launch. On CPUs the calls are the communications, but
/// NCCL's, which return before anything is sent.
void resolve_calls(RankTrace& trace);

/// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)" -> all_reduce; "nccl:_all_gather_base" -> all_gather.
/// none: no operation of ours.
[[nodiscard]] std::optional<CollectiveKind> operation_in_kernel(std::string_view name);
[[nodiscard]] std::optional<CollectiveKind> operation_called(std::string_view name);
/// Of a kernel on the GPU: whether it is NCCL's or RCCL's.
[[nodiscard]] bool is_communication_kernel(std::string_view name);

}  // namespace busbar
