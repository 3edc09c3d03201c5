#include "reports/html.h"

#include <fmt/format.h>

#include "reports/packed.h"
#include "reports/page_columns.h"
#include "reports/thinning.h"
#include "reports/web_bundle.h"
#include "sim/base/error.h"
#include "sim/result/calibration_io.h"
#include "sim/result/run_result_io.h"
#include "sim/result/study_result_io.h"
#include "sim/result/validation_io.h"

namespace busbar {

namespace {

// Nothing is loaded, and nothing runs but what the page brings along.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

std::string operation_of(const Sweep& s) {
  return s.rows.empty() ? "Sweep" : std::string(name_of(s.rows.front().operation));
}

}  // namespace

void require_html() {
  if (const std::string missing = web_bundle().missing; !missing.empty())
    throw Error({.kind = ErrorKind::kSystem,
                 .where = "--html",
                 .message = fmt::format("this Busbar has no HTML pages: {}", missing)});
}

std::string for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '\n') {  // strings have none: they spell it \n
      while (i + 1 < json.size() && json[i + 1] == ' ') ++i;
    } else if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (json.substr(i, 3) == "\u2028" || json.substr(i, 3) == "\u2029") {
      out += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string for_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view record, std::string_view packed) {
  require_html();
  const WebBundle bundle = web_bundle();
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<title>{}</title>\n<style>",
      kPolicy, for_html(printable(title)));
  page += bundle.style;
  page +=
      "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n<noscript>This page draws itself with "
      "JavaScript; "
      "the record is in its source.</noscript>\n<script type=\"application/json\" id=\"record\">";
  page += for_script(record);
  page += "</script>\n";
  page += fmt::format("<script type=\"application/json\" id=\"columns\">{}</script>\n",
                      for_script(page_columns()));
  if (!packed.empty()) page += fmt::format("<script type=\"text/plain\" id=\"packed\">{}</script>\n", packed);
  page += "<script>";
  page += bundle.script;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

std::string step_html(const RunResult& result) {
  RunResult rest = result;
  rest.timeline.clear();
  rest.critical_path.clear();
  return html_page(fmt::format("{} on {}", result.step_name, result.cluster_name), write_result(rest),
                   packed_lists(result));
}

std::string sweep_html(const Sweep& sweep) {
  return html_page(fmt::format("{} on {}", operation_of(sweep), sweep.cluster_name),
                   write_sweep(thinned(sweep, kMostOnPage)));
}

std::string validation_html(std::span<const Validation> suites) {
  std::vector<Validation> list;
  for (const Validation& suite : suites) list.push_back(thinned(suite, kMostOnPage));
  return html_page("Predicted against measured", write_validation(list));
}

std::string calibration_html(const CalibrationReport& report) {
  return html_page(fmt::format("Profile {}", report.profile),
                   write_calibration(thinned(report, kMostOnPage)));
}

std::string comparison_html(const ProfileComparison& comparison) {
  return html_page(fmt::format("{} against {}", comparison.after, comparison.before),
                   write_comparison(comparison));
}

std::string health_html(const HealthReport& report) {
  return html_page(fmt::format("Health of {}", report.topology), write_health(report));
}

std::string study_html(const Study& study) {
  return html_page(study.name, write_study(thinned(study, kMostOnPage)));
}

}  // namespace busbar
