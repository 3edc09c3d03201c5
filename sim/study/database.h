// Results that outlive a study: an SQLite file of simulated steps by the digest of everything that they
// depend on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sim/study/study.h"

namespace busbar {

/// What a result depends on: model version, profile, topology, job, seed, layout. 128 bits as hex digits.
[[nodiscard]] std::string key_of(const Cell& cell, const Candidate& candidate);

/// One file, which several studies may use at once. A result is whole or not there, whenever a process dies.
/// Errors: Error, kSystem where the file cannot be opened, is damaged or the disk is full; kInput where it is
/// another program's (it is left as it is) or a row holds no step's figures. Not thread-safe.
/// A file that may be read and not written serves what it has, and takes nothing.
class ResultsFile {
 public:
  explicit ResultsFile(const std::string& path);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  [[nodiscard]] std::optional<StepFigures> find(const std::string& key) const;
  /// `layout` is for people who look into the file.
  void add(const std::string& key, const std::string& layout, const StepFigures& figures);
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] bool is_read_only() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether there is such a file, and this user may not write it or the folder it is in.
[[nodiscard]] bool may_only_be_read(const std::string& path);

/// `inner`, asked only for what the file lacks; each of its answers is written as it comes. `reused` counts
/// the others.
[[nodiscard]] EvaluateTasks tasks_kept_in(ResultsFile& file, const std::vector<Cell>& cells,
                                          EvaluateTasks inner, std::int64_t& reused);

}  // namespace busbar
