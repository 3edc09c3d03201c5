#include "sim/cli/run_measure.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "calibrate/run/journal.h"
#include "calibrate/run/measured_io.h"
#include "calibrate/run/sweep.h"
#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/cli/files.h"
#include "sim/cli/progress_line.h"

namespace busbar {

namespace {

std::string words_of(const SweepProgress& p) {
  return fmt::format("{} of {} points, {} so far, about {} left: {}", p.done, p.points,
                     to_text(Time::from_seconds(p.elapsed_s)), to_text(Time::from_seconds(p.left_s)), p.now);
}

// The leader's files: the journal as it grows, and the measurements at the end.
class Files {
 public:
  Files(const RunOptions& options, const Machine& machine)
      : path_(options.output), journal_path_(options.output + ".journal"), machine_(machine) {
    if (std::filesystem::is_directory(path_))
      throw Error({.where = path_, .expected = "a file for the measurements", .given = "a folder"});
    if (options.resume && std::filesystem::exists(path_) && !std::filesystem::exists(journal_path_))
      throw Error({.where = path_,
                   .message = "this measurement is complete, there is nothing to go on from",
                   .suggestion = "measure anew without --resume, into another file to keep this one"});
    const RunIdentity identity = identity_of(machine, options.settings);
    journal_.emplace(options.resume ? Journal::resume(journal_path_, identity, contents_)
                                    : Journal::create(journal_path_, identity));
    for (const PointTimes& times : contents_.points)
      for (const std::uint32_t member : times.point.members)
        if (member >= machine.ranks.size())
          throw Error({.where = journal_path_,
                       .expected = fmt::format("members below {}", machine.ranks.size()),
                       .given = fmt::format("{}", member)});
  }
  void add(const PointTimes& times) {
    journal_->add(times);
    contents_.points.push_back(times);
  }
  void add(std::vector<MeasuredKernel> kernels) {
    journal_->add(kernels);
    contents_.kernels = std::move(kernels);
  }
  [[nodiscard]] bool has_kernels() const { return contents_.kernels.has_value(); }
  [[nodiscard]] std::vector<std::string> done() const {
    std::vector<std::string> keys;
    for (const PointTimes& times : contents_.points) keys.push_back(times.point.key());
    return keys;
  }
  // What an earlier run measured is not replaced by nothing.
  void finish(const std::vector<std::string>& notes, bool complete) {
    if (contents_.points.empty() && !contents_.kernels && std::filesystem::exists(path_)) return;
    write_output(path_, measured_json(machine_, contents_, notes));
    std::error_code ignored;
    if (complete) std::filesystem::remove(journal_path_, ignored);
  }

 private:
  std::string path_, journal_path_;
  const Machine& machine_;
  JournalContents contents_;
  std::optional<Journal> journal_;
};

void measure_kernels(const RunOptions& options, Runner& runner, std::optional<Files>& files,
                     std::vector<std::string>& notes) {
  const bool wanted = options.settings.kernels && (!files || !files->has_kernels());
  if (runner.from_leader(wanted ? "kernels" : "") != "kernels") return;
  std::vector<MeasuredKernel> kernels = runner.time_kernels(notes);
  if (files) files->add(std::move(kernels));
}

void say(const RunOptions& options, const SweepEnd& end, const std::vector<std::string>& notes) {
  if (options.quiet) return;
  fmt::print("{} points measured, {} from before, {} left for want of time: {}\n", end.measured, end.skipped,
             end.left, options.output);
  for (const std::string& note : notes) fmt::print("{}\n", note);
  if (end.left > 0) fmt::print("measure the rest with --resume\n");
}

}  // namespace

int run_measure(const RunOptions& options, Runner& runner) {
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(
      plan_sweep(options.settings, runner));  // what cannot be measured is refused before a file is made
  std::optional<Files> files;
  if (runner.leads()) files.emplace(options, runner.machine());
  std::vector<std::string> notes;
  if (runner.machine().ranks.size() == 1)
    notes.emplace_back(
        "one rank alone crosses no link: start more with mpirun or srun to measure collectives");
  measure_kernels(options, runner, files, notes);
  ProgressLine line(options.quiet);
  SweepHooks hooks;
  if (files) {
    hooks.clock = [start] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    hooks.save = [&](const PointTimes& times) { files->add(times); };
    hooks.report = [&](const SweepProgress& progress) { line.show(words_of(progress)); };
    hooks.done = files->done();
  }
  const SweepEnd end = run_sweep(options.settings, runner, hooks);
  line.clear();
  if (!files) return 0;
  files->finish(notes, end.left == 0);
  say(options, end, notes);
  return 0;
}

}  // namespace busbar
