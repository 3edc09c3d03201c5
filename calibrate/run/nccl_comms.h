// Communicators of one process's GPUs, each with its forced choice.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/run/gang.h"
#include "calibrate/run/nccl_collectives.h"
#include "calibrate/run/runner.h"

namespace busbar {

/// Communicators block: the other kind starts a thread for each launch, which would be measured.
class NcclComms {
 public:
  /// `first_rank`: of this process's GPUs, whose ranks follow each other.
  NcclComms(Gang& gang, const std::vector<NcclDevice>& devices, std::size_t first_rank)
      : gang_(gang), devices_(devices), first_rank_(first_rank) {}
  NcclComms(const NcclComms&) = delete;
  NcclComms& operator=(const NcclComms&) = delete;
  ~NcclComms();

  /// This process's members of a group; none where it has none. Made once per group and choice, which NCCL
  /// reads from NCCL_ALGO and NCCL_PROTO while a communicator is made. All processes take part; one that does
  /// not come to NCCL's part of it keeps the others waiting. Errors (kSystem): NCCL's; a process that does
  /// not come to the gang's part within the timeout.
  [[nodiscard]] const std::vector<NcclMember>& get(const std::vector<std::uint32_t>& group,
                                                   const ForcedChoice& choice, double timeout_s);
  /// After a hang nothing can be waited for.
  void abandon() { hung_ = true; }

 private:
  using Key = std::pair<std::vector<std::uint32_t>, ForcedChoice>;
  std::vector<NcclMember> make(const std::vector<std::uint32_t>& group, const ForcedChoice& choice,
                               double timeout_s);

  Gang& gang_;
  const std::vector<NcclDevice>& devices_;
  std::size_t first_rank_;
  std::map<Key, std::vector<NcclMember>> made_;
  bool hung_ = false;
};

}  // namespace busbar
