#include "sim/cli/run_validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "calibrate/import/text_scan.h"
#include "reports/html.h"
#include "reports/validation_report.h"
#include "sim/base/error.h"
#include "sim/cli/files.h"
#include "sim/cli/program.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_comparison.h"
#include "sim/result/validation_io.h"
#include "validate/own_suite.h"
#include "validate/recorded.h"

namespace busbar {

namespace {

SuiteOptions options_of(const ValidateOptions& o, const Suite& suite, ProgressLine& line) {
  SuiteOptions options{.filters = {},
                       .threads = static_cast<std::size_t>(o.threads),
                       .most_gpus = o.most_gpus,
                       .every = static_cast<std::size_t>(o.every),
                       .cross_validate = o.cross_validate};
  for (const std::string& filter : o.filters) options.filters.push_back(parse_filter(filter, suite));
  options.progress = [&](std::size_t done, std::size_t all) { line.count(suite.name, done, all); };
  return options;
}

Validation run(const Suite& suite, const ValidateOptions& o, const Profile& profile) {
  const std::string folder = o.data.empty() ? shared_folder("validate") : o.data;
  ProgressLine line;
  Validation found = suite.run(folder, profile, options_of(o, suite, line));
  const std::string recorded = folder + "/recorded.csv";
  if (std::filesystem::exists(recorded)) hold_recorded(found, load_text(recorded), recorded);
  return found;
}

bool shows_text(const ValidateOptions& o) {
  return !o.quiet && o.json != "-" && o.html != "-" && o.csv != "-" && o.markdown != "-";
}

std::string markdown_of(const std::vector<Validation>& found, std::size_t worst) {
  std::string text;
  for (const Validation& v : found) text += (text.empty() ? "" : "\n") + validation_markdown(v, worst);
  return text;
}

}  // namespace

int run_validate(const ValidateOptions& o) {
  if (!o.html.empty()) require_html();
  std::vector<std::string> inputs = o.measured;
  inputs.insert(inputs.end(), {o.topology, o.workload, o.own_suite, o.calibration});
  check_outputs(std::vector<std::string>{o.json, o.html, o.csv, o.markdown}, inputs);
  const Profile profile = profile_called(o.calibration);
  const auto worst = static_cast<std::size_t>(o.worst);
  std::vector<Validation> found;
  const auto add = [&](Validation validation) {
    found.push_back(std::move(validation));
    if (shows_text(o))
      write_output("-", (found.size() > 1 ? "\n" : "") + validation_text(found.back(), worst));
  };
  for (const Suite* suite : o.suites) add(run(*suite, o, profile));
  if (!o.own_suite.empty()) {
    const OwnSuite own = read_own_suite(o.own_suite, find_input);
    for (const std::string_view kind : kinds_of(own)) {
      ProgressLine line;
      Validation validation = run_own_suite(own, kind, profile, options_of(o, suite_called(kind), line));
      line.clear();
      add(std::move(validation));
    }
  }
  if (!o.measured.empty())
    for (Validation& validation : compare_measured(o, profile)) add(std::move(validation));
  if (!o.json.empty()) write_output(o.json, write_validation(found));
  if (!o.html.empty()) write_output(o.html, validation_html(found));
  if (!o.csv.empty()) write_output(o.csv, validation_csv(found));
  if (!o.markdown.empty()) write_output(o.markdown, markdown_of(found, worst));
  const bool held = std::all_of(found.begin(), found.end(), [](const Validation& v) { return v.all_held(); });
  return held ? 0 : static_cast<int>(ErrorKind::kTolerance);
}

}  // namespace busbar
