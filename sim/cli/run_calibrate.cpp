#include "sim/cli/run_calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "calibrate/calibration.h"
#include "calibrate/compare_profiles.h"
#include "calibrate/health.h"
#include "calibrate/import/read_measured.h"
#include "calibrate/import/text_scan.h"
#include "reports/calibration_report.h"
#include "reports/health_report.h"
#include "reports/html.h"
#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "sim/cli/files.h"
#include "sim/cli/nccl_inputs.h"
#include "sim/cli/program.h"
#include "sim/cli/progress_line.h"
#include "sim/cost/profile_io.h"
#include "sim/result/calibration_io.h"
#include "topologies/topology_io.h"

namespace busbar {

namespace {

/// What is written where; the page only where it is asked for.
struct Outputs {
  std::string text, json, csv, markdown, html;
};

void write(const CalibrateLine& o, const Outputs& out) {
  if (!o.json.empty()) write_output(o.json, out.json);
  if (!o.html.empty()) write_output(o.html, out.html);
  if (!o.csv.empty()) write_output(o.csv, out.csv);
  if (!o.markdown.empty()) write_output(o.markdown, out.markdown);
  const bool text =
      !o.quiet && o.json != "-" && o.html != "-" && o.csv != "-" && o.markdown != "-" && o.output != "-";
  if (text) write_output("-", out.text);
}

struct Measured {
  Measurement all;
  std::vector<std::string> files;  // with digests
  std::vector<std::string> notes;
};

Measured read_all(const CalibrateLine& o, ProgressLine& line) {
  Measured read;
  for (const std::string& path : o.from) {
    line.count("reading files", read.files.size(), o.from.size());
    const std::string text = load_text(path);
    Measurement one = read_measured_text(text, path, o.hints);
    for (MeasuredTable& table : one.tables) {
      for (const std::string& note : table.notes) read.notes.push_back(table.source + ": " + note);
      read.all.tables.push_back(std::move(table));
    }
    for (MeasuredKernel& kernel : one.kernels) read.all.kernels.push_back(std::move(kernel));
    read.files.push_back(fmt::format("{} {:016x}", path, fnv1a(text)));
  }
  return read;
}

int show(const CalibrateLine& o) {
  const Profile profile = read_profile(JsonDocument::load(o.show));
  if (o.compare.empty()) {
    const CalibrationReport report = report_of(profile);
    write(o, {calibration_text(report), write_calibration(report), calibration_csv(report),
              calibration_markdown(report), o.html.empty() ? "" : calibration_html(report)});
    return 0;
  }
  const ProfileComparison comparison = compare_profiles(read_profile(JsonDocument::load(o.compare)), profile);
  write(o, {comparison_text(comparison), write_comparison(comparison), comparison_csv(comparison),
            comparison_markdown(comparison), o.html.empty() ? "" : comparison_html(comparison)});
  return comparison.any_beyond() ? static_cast<int>(ErrorKind::kTolerance) : 0;
}

int check(const CalibrateLine& o, const Topology& topology) {
  ProgressLine line;
  const Measured read = read_all(o, line);
  HealthReport report = check_health(topology, read.all, profile_called(o.calibration), o.tolerance);
  report.notes.insert(report.notes.end(), read.notes.begin(), read.notes.end());
  write(o, {health_text(report), write_health(report), health_csv(report), health_markdown(report),
            o.html.empty() ? "" : health_html(report)});
  return report.healthy() ? 0 : static_cast<int>(ErrorKind::kTolerance);
}

std::string command_of(const CalibrateLine& o, const NcclInputs& nccl) {
  std::string source = "calibrate --from " + fmt::format("{}", fmt::join(o.from, " "));
  for (const auto& [name, value] : nccl.settings)
    if (!name.ends_with("-digest")) source += fmt::format(" --{} {}", name, value);
  if (o.nccl.version) source += " --nccl-version " + to_text(*o.nccl.version);
  return source;
}

Calibration fitted(const CalibrateLine& o, const Topology& topology, const Measured& read,
                   const NcclInputs& nccl, ProgressLine& line) {
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  return calibrate(topology, read.all, profile_called(o.calibration),
                   {.seed = o.seed,
                    .cross_validate = o.cross_validate,
                    .observed = {.nccl = nccl.overrides.nccl,
                                 .version_given = o.nccl.version || (nccl.overrides.nccl.log &&
                                                                     nccl.overrides.nccl.log->version),
                                 .threads = static_cast<std::size_t>(o.threads > 0 ? o.threads : cores)},
                    .progress = [&](std::string_view phase, std::size_t done,
                                    std::size_t all) { line.count(phase, done, all); },
                    .name = o.name.empty() ? topology.name() : o.name,
                    .source = command_of(o, nccl),
                    .created_from = read.files});
}

int fit_profile(const CalibrateLine& o, const Topology& topology) {
  ProgressLine line;
  const Measured read = read_all(o, line);
  const NcclInputs nccl = load_nccl_files(o.nccl, {});
  Calibration found = fitted(o, topology, read, nccl, line);
  for (const Warning& warning : nccl.warnings) found.report.notes.push_back(warning.text);
  found.report.notes.insert(found.report.notes.end(), read.notes.begin(), read.notes.end());
  if (!o.output.empty()) write_output(o.output, write_profile(found.profile));
  write(o, {calibration_text(found.report), write_calibration(found.report), calibration_csv(found.report),
            calibration_markdown(found.report), o.html.empty() ? "" : calibration_html(found.report)});
  return found.report.misfit ? static_cast<int>(ErrorKind::kTolerance) : 0;
}

}  // namespace

int run_calibrate(const CalibrateLine& o) {
  if (!o.html.empty()) require_html();
  std::vector<std::string> inputs = o.from;
  for (const std::string& path :
       {o.topology, o.calibration, o.show, o.compare, o.nccl.env, o.nccl.tuner, o.nccl.log})
    inputs.push_back(path);
  check_outputs(std::vector<std::string>{o.output, o.json, o.html, o.csv, o.markdown}, inputs);
  if (!o.show.empty()) return show(o);
  const Topology topology = read_topology(JsonDocument::load(find_input(o.topology, "topologies")), 1);
  return o.check ? check(o, topology) : fit_profile(o, topology);
}

}  // namespace busbar
