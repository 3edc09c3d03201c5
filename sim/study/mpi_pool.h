// Candidates over the ranks of an MPI job. Users need not see mpi.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/study/mpi_heartbeat.h"
#include "sim/study/study.h"

namespace busbar {

/// Rank 0 hands out candidates one by one to whoever asks for more, its own threads among them; the others
/// simulate. A rank that falls silent costs what it has in hand, which is given to another after a while
/// (where the MPI library lets a job go on without a rank; others end it, and a results file keeps what
/// came). Starts MPI; one per process.
class MpiPool {
 public:
  MpiPool();
  MpiPool(const MpiPool&) = delete;
  MpiPool& operator=(const MpiPool&) = delete;
  ~MpiPool();
  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

  /// Of rank 0. `threads` simulate beside it; 0: one.
  [[nodiscard]] EvaluateTasks tasks(const std::vector<Cell>& cells, std::size_t threads);
  /// Of the others, until dismissed. `threads` candidates at once; 0: one. Errors: kSystem where rank 0 has
  /// died; then is_orphaned().
  void serve(const std::vector<Cell>& cells, std::size_t threads);
  /// Of rank 0, at the end: lets the others go. True: all of them answered to the last.
  bool dismiss();
  [[nodiscard]] bool is_orphaned() const { return orphaned_; }
  /// Ends this process alone, without the others: MPI's own ways wait for those that died.
  [[noreturn]] static void leave(int exit_code);
  /// Ends every process of the job.
  [[noreturn]] static void abort(int exit_code);

 private:
  class Master;
  [[nodiscard]] std::optional<std::vector<char>> receive();

  std::int64_t rank_ = 0, size_ = 1;
  std::vector<bool> silent_;       // by rank: nothing was heard of it, or not for too long
  std::vector<std::size_t> idle_;  // ranks that wait, as often as they have threads for it
  std::size_t numbered_ = 0;       // tasks so far
  bool lost_ranks_ = false, beats_ = false, orphaned_ = false;
  std::unique_ptr<MpiHeartbeat> heart_;  // of rank 0
};

}  // namespace busbar
