// What a run has measured so far, kept on disk as it is measured, so that a later run can go on from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/run/sweep.h"

namespace busbar {

/// What makes points of two runs comparable, by name: {"library": "Open MPI 4.1.4", "ranks": "0 on a ..."}.
struct RunIdentity {
  std::vector<std::pair<std::string, std::string>> parts;
};

/// Of a machine, and of those settings that change what a point means (repetitions and batches; not sizes,
/// operations, groups or the budget, which only choose points).
[[nodiscard]] RunIdentity identity_of(const Machine& machine, const RunSettings& settings);

/// What a journal holds.
struct JournalContents {
  std::vector<PointTimes> points;
  std::optional<std::vector<MeasuredKernel>> kernels;  // none: not measured yet
};

/// One file of JSON lines: the identity, then a line per point, each on the disk before `add` returns.
class Journal {
 public:
  /// A new file. Errors: there is one already (kInput, naming --resume), the system refused (kSystem).
  [[nodiscard]] static Journal create(const std::string& path, const RunIdentity& identity);
  /// Goes on with a file; a last line that a stop cut short is dropped. Errors (kInput): no journal, a line
  /// that is none, another machine or other settings (naming what differs).
  [[nodiscard]] static Journal resume(const std::string& path, const RunIdentity& identity,
                                      JournalContents& contents);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  /// Errors (kSystem): the system refused.
  void add(const PointTimes& times);
  void add(const std::vector<MeasuredKernel>& kernels);

 private:
  Journal(std::string path, int file);
  void append(const std::string& line);
  std::string path_;
  int file_ = -1;
};

}  // namespace busbar
