// MPI's life in a program, and the few exchanges that are not measured. Users need not see mpi.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/run/runner.h"

namespace busbar {

/// Starts MPI, and ends it when all went well. One per process.
class MpiSession {
 public:
  /// Open MPI lets algorithms be forced only when told so before it starts; that is done here.
  MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// "Open MPI 4.1.4".
  [[nodiscard]] static std::string library();
  /// This host's name, as MPI knows it.
  [[nodiscard]] static std::string host();

  /// Everybody's text, by rank. Collective.
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine) const;
  /// Rank 0's text. Collective.
  [[nodiscard]] std::string from_first(std::string text) const;
  /// Ends every process of the job.
  [[noreturn]] static void abort(int exit_code);

 private:
  std::int64_t rank_ = 0, size_ = 1;
};

}  // namespace busbar
