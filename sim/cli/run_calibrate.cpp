#include "sim/cli/run_calibrate.h"

#include <fmt/format.h>

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
#include "sim/cli/program.h"
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

Measured read_all(const CalibrateLine& o) {
  Measured read;
  for (const std::string& path : o.from) {
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
  const Measured read = read_all(o);
  HealthReport report = check_health(topology, read.all, profile_called(o.calibration), o.tolerance);
  report.notes.insert(report.notes.end(), read.notes.begin(), read.notes.end());
  write(o, {health_text(report), write_health(report), health_csv(report), health_markdown(report),
            o.html.empty() ? "" : health_html(report)});
  return report.healthy() ? 0 : static_cast<int>(ErrorKind::kTolerance);
}

int fit_profile(const CalibrateLine& o, const Topology& topology) {
  const Measured read = read_all(o);
  Calibration found = calibrate(topology, read.all, profile_called(o.calibration),
                                {.seed = o.seed,
                                 .cross_validate = o.cross_validate,
                                 .name = o.name.empty() ? topology.name() : o.name,
                                 .source = "calibrate --from " + fmt::format("{}", fmt::join(o.from, " ")),
                                 .created_from = read.files});
  found.report.notes.insert(found.report.notes.end(), read.notes.begin(), read.notes.end());
  if (!o.output.empty()) write_output(o.output, write_profile(found.profile));
  write(o, {calibration_text(found.report), write_calibration(found.report), calibration_csv(found.report),
            calibration_markdown(found.report), o.html.empty() ? "" : calibration_html(found.report)});
  return found.report.misfit ? static_cast<int>(ErrorKind::kTolerance) : 0;
}

// A profile in place of the measurements that it is made of could not be made again.
void check_outputs(const CalibrateLine& o) {
  const std::vector<std::string> outputs{o.output, o.json, o.html, o.csv, o.markdown};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty() || outputs[i] == "-") continue;
    for (const std::string& input : o.from)
      if (is_same_file(outputs[i], input))
        throw Error({.where = "command line", .message = quoted(outputs[i]) + " is an input and an output"});
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[j].empty() && is_same_file(outputs[i], outputs[j]))
        throw Error(
            {.where = "command line", .message = quoted(outputs[i]) + " is the place of two outputs"});
  }
}

}  // namespace

int run_calibrate(const CalibrateLine& o) {
  if (!o.html.empty()) require_html();
  check_outputs(o);
  if (!o.show.empty()) return show(o);
  const Topology topology = read_topology(JsonDocument::load(find_input(o.topology, "topologies")), 1);
  return o.check ? check(o, topology) : fit_profile(o, topology);
}

}  // namespace busbar
