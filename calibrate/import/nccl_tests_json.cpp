#include "calibrate/import/nccl_tests_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "calibrate/import/nccl_tests_line.h"
#include "calibrate/import/text_scan.h"
#include "sim/base/json_reader.h"

namespace busbar {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Numbers may be strings, and what could not be computed is null or "nan".
std::optional<double> figure(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  if (!value || value->is_null()) return std::nullopt;
  if (value->is_string()) return parse_decimal(trimmed(value->string()));
  return value->number(-1e300, 1e300);
}

std::string word(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && value->is_string() ? std::string(trimmed(value->string())) : "";
}

std::optional<std::int64_t> whole(const JsonValue& object, std::string_view key) {
  const auto value = figure(object, key);
  if (!value || std::abs(*value) > 9e15 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

// Six decimals are printed; whole numbers carry none.
std::optional<Printed> printed(const std::optional<double>& value) {
  return value ? std::optional(Printed{*value, 5e-4}) : std::nullopt;
}

std::optional<JsonValue> child(const JsonValue& object, std::string_view key) {
  auto value = object.find(key);
  return value && value->is_object() ? value : std::nullopt;
}

void read_devices(const JsonValue& config, RawTable& table) {
  const auto devices = config.find("devices");
  if (!devices || !devices->is_array()) return;
  RankList list;
  for (const JsonValue& device : devices->items()) {
    const auto rank = whole(device, "rank"), pid = whole(device, "pid");
    if (rank) list.add(*rank, word(device, "hostname"), pid.value_or(0), word(device, "device_info"));
  }
  table.devices = list.summary();
}

void read_config(const JsonValue& root, RawTable& table) {
  table.nccl_version = version_of_code(whole(root, "nccl_version").value_or(0));
  if (const auto args = root.find("args"); args && args->is_array())
    for (const JsonValue& arg : args->items())
      if (const std::string program = arg.is_string() ? program_in(arg.string()) : ""; !program.empty())
        table.names = {program};
  const auto config = child(root, "config");
  if (!config) return;
  const auto threads = whole(*config, "nthreads"), gpus = whole(*config, "ngpus");
  std::int64_t product = 0;
  if (threads && gpus && *threads > 0 && *gpus > 0 && !__builtin_mul_overflow(*threads, *gpus, &product))
    table.gpus_per_process = product;
  const auto graph = config->find("graph");
  if (graph && graph->is_boolean())
    table.cuda_graph = graph->boolean();
  else if (const std::string text = word(*config, "graph"); !text.empty())
    table.cuda_graph = text != "false" && text != "0";
  else if (const auto count = whole(*config, "graph"))
    table.cuda_graph = *count > 0;
  read_devices(*config, table);
}

std::optional<RawRow> read_result(const JsonValue& result) {
  const auto out = child(result, "out_of_place"), in = child(result, "in_place");
  if (!out) return std::nullopt;
  auto time = figure(*out, "time");
  if (!time) time = figure(*out, "cpu_time");
  if (!time) return std::nullopt;
  RawRow row{.size = result.at("size").integer(0, kMost), .time_us = {*time, 5e-4}};
  row.count = whole(result, "count").value_or(0);
  row.algbw = printed(figure(*out, "alg_bw"));
  row.busbw = printed(figure(*out, "bus_bw"));
  row.checked = figure(*out, "nwrong").has_value();
  row.wrong = static_cast<std::int64_t>(figure(*out, "nwrong").value_or(0));
  if (in) {
    row.in_place_us = figure(*in, "time");
    row.checked_in_place = figure(*in, "nwrong").has_value();
  }
  return row;
}

bool uses_host_time(const JsonValue& result) {
  const auto out = child(result, "out_of_place");
  return out && !out->find("time") && out->find("cpu_time");
}

std::vector<RawTable> read_results(const JsonValue& root, const RawTable& head) {
  std::vector<RawTable> tables;
  std::int64_t skipped = 0;
  for (const JsonValue& result : root.at("results").items()) {
    RawTable start = head;
    start.type = word(result, "type");
    start.redop = word(result, "redop");
    start.root = parse_whole(word(result, "root"));
    if (!start.root) start.root = whole(result, "root");
    auto row = read_result(result);
    if (!row) {
      ++skipped;
      continue;
    }
    const bool same = !tables.empty() && tables.back().type == start.type &&
                      tables.back().redop == start.redop && tables.back().root == start.root;
    if (!same) tables.push_back(std::move(start));
    if (tables.back().rows.empty() && uses_host_time(result))
      tables.back().notes.emplace_back("the times are the host's (cpu_time)");
    tables.back().rows.push_back(*row);
  }
  if (skipped > 0 && !tables.empty())
    tables.front().notes.push_back(
        fmt::format("{} {} without a time left out", skipped, skipped == 1 ? "result" : "results"));
  return tables;
}

}  // namespace

// Only what follows a complete '}' or ']' of an open container is cut away: it may be half of an element.
std::string closed_json(std::string_view text) {
  std::string open;          // the closers of what is open, the innermost last
  std::string open_at_keep;  // the same at the last place that may be kept
  std::size_t keep = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') open += c == '{' ? '}' : ']';
    if (c != '}' && c != ']') continue;
    if (open.empty() || open.back() != c) return std::string(text);
    open.pop_back();
    keep = i + 1;
    open_at_keep = open;
  }
  if (open.empty() || keep == 0) return std::string(text);
  std::string closed(text.substr(0, keep));
  closed.append(open_at_keep.rbegin(), open_at_keep.rend());
  return closed;
}

Measurement read_nccl_tests_json(std::string_view text, const std::string& name, const ImportHints& hints) {
  const std::string whole_text = closed_json(text);
  const JsonDocument document = JsonDocument::parse(whole_text, name);
  const JsonValue root = document.root();
  if (!root.is_object() || !root.find("results"))
    throw Error({.where = name, .expected = "the JSON of nccl-tests with \"results\"", .given = "none"});
  RawTable head{.where = name};
  read_config(root, head);
  head.guesses = {operation_in_name(name)};
  if (whole_text != text) head.notes.emplace_back("the file ends early; what it has is taken");
  return finish_tables(read_results(root, head), hints, name);
}

}  // namespace busbar
