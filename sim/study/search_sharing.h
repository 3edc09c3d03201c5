// What the data-parallel ranks of a layout exchange, and how much of it shows.
#pragma once

#include "sim/study/search_collectives.h"
#include "sim/study/search_stages.h"

namespace busbar {

/// Seconds over a whole step, on the first stage.
struct SharingTime {
  double per_forward = 0, per_backward = 0;  // gathers and reduce-scatters of every microbatch
  double first = 0;                          // of them, before the first kernel of a microbatch can start
  double at_start = 0, at_start_first = 0;   // gathers that the first forward overlaps; the first of them
  double at_end = 0, at_end_last = 0;        // reductions that the last backward overlaps; the last of them
  double after = 0;                          // behind the optimizer
  double host = 0;                           // of the CPU, behind all other launches
  double sms = 0;                            // share of the SMs taken while it runs
  /// Of the gradients that only the last microbatch's backward sends, at least; of everything, at least.
  double least_at_end = 0, least = 0;
};

/// Requires: `times` of that workload's layout.
[[nodiscard]] SharingTime sharing_time(const Workload& workload, const StageTimes& stages,
                                       CollectiveTimes& times, double sms);

}  // namespace busbar
