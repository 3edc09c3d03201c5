#include "sim/cost/profile_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/rank_range.h"
#include "sim/base/unit_text.h"
#include "sim/cost/parameter_names.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
constexpr std::size_t kMostDraws = 1000;
constexpr std::string_view kOrigins[] = {"fitted", "measured", "derived", "default"};

/// A profile's numbers by the names of files.
struct Numbers {
  std::vector<ParameterRef> refs;
  std::vector<ParameterLabel> labels;
};

Numbers numbers_of(Profile& profile) {
  Numbers n{.refs = parameters(profile), .labels = {}};
  for (ParameterRef& p : other_parameters(profile)) n.refs.push_back(std::move(p));
  for (const ParameterRef& p : n.refs) n.labels.push_back(label_of(p.name));
  return n;
}

double read_value(const JsonValue& value, ParameterUnit unit) {
  double number = 0;
  switch (unit) {
    case ParameterUnit::kNone:
      number = value.number(0, 1e6);
      break;
    case ParameterUnit::kMicroseconds:
      number = value.time().microseconds();
      break;
    case ParameterUnit::kGigabytesPerSecond:
      number = value.bandwidth().Bps() / 1e9;
      break;
    case ParameterUnit::kKibibytes:
      number = value.bytes().as_double() / 1024;
      break;
    case ParameterUnit::kMegabytes:
      number = value.bytes().as_double() / 1e6;
      break;
  }
  if (!(number > 0)) value.fail("a value above 0");
  return number;
}

std::string text_or(const JsonValue& object, std::string_view key, const std::string& fallback) {
  const auto value = object.find(key);
  return value ? value->string() : fallback;
}

void read_interval(const JsonValue& entry, double value, ParameterUnit unit, CalibratedValue& calibrated) {
  const JsonValue interval = entry.at("interval");
  const std::vector<JsonValue> ends = interval.items();
  if (ends.size() != 2) interval.fail("two values, the lower one first");
  calibrated.low = read_value(ends[0], unit);
  calibrated.high = read_value(ends[1], unit);
  if (calibrated.low > value || calibrated.high < value)
    interval.fail(fmt::format("an interval that holds the value {}", value_text(value, unit)));
}

void read_parameter(const JsonValue& entry, const Numbers& numbers, std::set<std::size_t>& seen,
                    CalibrationRecord& record) {
  entry.only_keys({"name", "value", "interval", "origin", "rows"});
  const JsonValue name = entry.at("name");
  const std::string given = name.string();
  const auto found = std::find_if(numbers.labels.begin(), numbers.labels.end(),
                                  [&](const ParameterLabel& l) { return l.name == given; });
  if (found == numbers.labels.end()) {
    std::vector<std::string_view> known;
    for (const ParameterLabel& l : numbers.labels) known.push_back(l.name);
    name.fail("a parameter of a profile", did_you_mean(given, known));
  }
  const auto index = static_cast<std::size_t>(found - numbers.labels.begin());
  if (!seen.insert(index).second) name.fail("each parameter once");
  *numbers.refs[index].value = read_value(entry.at("value"), found->unit);
  if (is_share_of_hardware(numbers.refs[index].name) && *numbers.refs[index].value > 1)
    entry.at("value").fail("a share of at most 1: nothing is faster than its links and its memory");
  const JsonValue origin = entry.at("origin");
  const std::string kind = origin.string();
  if (std::find(std::begin(kOrigins), std::end(kOrigins), kind) == std::end(kOrigins))
    origin.fail("one of " + one_of(kOrigins), did_you_mean(kind, kOrigins));
  const auto rows = entry.find("rows");
  if (kind == "default" && rows) origin.fail("\"fitted\", \"measured\" or \"derived\" where there are rows");
  if (kind == "default" && !entry.find("interval")) return;
  CalibratedValue calibrated{.name = numbers.refs[index].name, .origin = kind};
  calibrated.rows = rows ? rows->integer(0, kMostBytes) : 0;
  if (entry.find("interval"))
    read_interval(entry, *numbers.refs[index].value, found->unit, calibrated);
  else
    calibrated.low = calibrated.high = *numbers.refs[index].value;
  record.values.push_back(std::move(calibrated));
}

CalibratedRange read_range(const JsonValue& entry) {
  entry.only_keys({"operation", "ranks", "hosts", "links", "from", "to"});
  CalibratedRange range;
  const JsonValue operation = entry.at("operation");
  const auto kind = parse_collective(operation.string());
  if (!kind)
    operation.fail("one of " + one_of(collective_names()),
                   did_you_mean(operation.string(), collective_names()));
  range.operation = *kind;
  range.ranks = entry.at("ranks").integer(1, kMaxRanks);
  range.hosts = entry.at("hosts").integer(1, kMaxRanks);
  range.links = entry.at("links").string();
  range.least = entry.at("from").bytes();
  range.most = entry.at("to").bytes();
  if (range.most < range.least) entry.at("to").fail("at least \"from\"");
  return range;
}

// Draws are ratios to the value, so that they read without units.
void read_draws(const JsonValue& root, Profile& profile) {
  const auto draws = root.find("draws");
  if (!draws) return;
  CalibrationRecord& record = profile.calibration;
  const std::vector<JsonValue> rows = draws->items();
  if (rows.size() > kMostDraws) draws->fail(fmt::format("at most {} draws", kMostDraws));
  for (const JsonValue& row : rows) {
    const std::vector<JsonValue> ratios = row.items();
    if (ratios.size() != record.values.size())
      row.fail(fmt::format("{} ratios, one for each parameter that has an interval or rows",
                           record.values.size()));
    std::vector<double> draw;
    draw.reserve(ratios.size());
    for (const JsonValue& ratio : ratios) draw.push_back(ratio.number(1e-6, 1e6));
    record.draws.push_back(std::move(draw));
  }
}

Json interval_json(const CalibratedValue& c, ParameterUnit unit) {
  if (unit == ParameterUnit::kNone)
    return Json::array({rounded_value(c.low, unit), rounded_value(c.high, unit)});
  return Json::array({value_text(c.low, unit), value_text(c.high, unit)});
}

Json parameter_json(const ParameterRef& p, const ParameterLabel& label, const CalibratedValue* calibrated) {
  Json j{{"name", label.name}};
  if (label.unit == ParameterUnit::kNone)
    j["value"] = rounded_value(*p.value, label.unit);
  else
    j["value"] = value_text(*p.value, label.unit);
  if (calibrated == nullptr) {
    j["origin"] = "default";
    return j;
  }
  if (calibrated->high > calibrated->low) j["interval"] = interval_json(*calibrated, label.unit);
  j["origin"] = calibrated->origin;
  if (calibrated->origin != "default") j["rows"] = calibrated->rows;
  return j;
}

Json range_json(const CalibratedRange& r) {
  return {{"operation", name_of(r.operation)},
          {"ranks", r.ranks},
          {"hosts", r.hosts},
          {"links", r.links},
          {"from", to_exact_text(r.least)},
          {"to", to_exact_text(r.most)}};
}

double ratio_digits(double ratio) { return rounded_value(ratio, ParameterUnit::kNone); }

// One element per line: long, but a change shows as one line.
std::string lines_of(const std::vector<Json>& elements) {
  std::string text = "[";
  for (std::size_t i = 0; i < elements.size(); ++i)
    text += (i == 0 ? "\n    " : ",\n    ") + elements[i].dump();
  return text + (elements.empty() ? "]" : "\n  ]");
}

// Draws in the order in which the numbers are written.
std::vector<Json> draw_lines(Profile& profile) {
  const CalibrationRecord& record = profile.calibration;
  std::vector<std::size_t> order;
  for (const ParameterRef& p : numbers_of(profile).refs)
    for (std::size_t v = 0; v < record.values.size(); ++v)
      if (record.values[v].name == p.name) order.push_back(v);
  std::vector<Json> lines;
  for (const std::vector<double>& draw : record.draws) {
    Json row = Json::array();
    for (const std::size_t v : order) row.push_back(ratio_digits(draw[v]));
    lines.push_back(std::move(row));
  }
  return lines;
}

std::vector<Json> parameter_lines(Profile& profile) {
  std::map<std::string, const CalibratedValue*> calibrated;
  std::set<std::string> parts;
  for (const CalibratedValue& v : profile.calibration.values) {
    calibrated[v.name] = &v;
    parts.insert(part_of_parameter(v.name));
  }
  const Numbers numbers = numbers_of(profile);
  std::vector<Json> lines;
  for (std::size_t i = 0; i < numbers.refs.size(); ++i) {
    const ParameterRef& p = numbers.refs[i];
    if (!parts.contains(part_of_parameter(p.name))) continue;
    const auto found = calibrated.find(p.name);
    lines.push_back(
        parameter_json(p, numbers.labels[i], found == calibrated.end() ? nullptr : found->second));
  }
  return lines;
}

// What the file's numbers replace.
Profile base_of(const JsonValue& root) {
  static constexpr std::string_view kBases[] = {"default", "ideal"};
  const auto base = root.find("base");
  if (!base) return default_profile();
  const std::string name = base->string();
  if (name != kBases[0] && name != kBases[1]) base->fail(one_of(kBases), did_you_mean(name, kBases));
  return name == "ideal" ? ideal_profile() : default_profile();
}

}  // namespace

std::string part_of_parameter(std::string_view parameter) {
  const std::size_t from = parameter.starts_with("kernels.") ? 8 : 0;
  return std::string(parameter.substr(0, parameter.find('.', from)));
}

Profile read_profile(const JsonDocument& document) {
  const JsonValue root = document.root();
  root.only_keys({"schema", "name", "source", "created_from", "base", "parameters", "step_gpus", "ranges",
                  "error", "draws"});
  const JsonValue schema = root.at("schema");
  if (schema.string() != "busbar.profile/1") schema.fail("\"busbar.profile/1\"");
  Profile profile = base_of(root);
  profile.name = text_or(root, "name", document.name());
  CalibrationRecord& record = profile.calibration;
  record.source = text_or(root, "source", "");
  if (const auto files = root.find("created_from"))
    for (const JsonValue& file : files->items()) record.created_from.push_back(file.string());
  const Numbers numbers = numbers_of(profile);
  std::set<std::size_t> seen;
  for (const JsonValue& entry : root.at("parameters").items()) read_parameter(entry, numbers, seen, record);
  if (const auto gpus = root.find("step_gpus")) record.step_gpus = gpus->integer(1, kMaxRanks);
  if (const auto ranges = root.find("ranges"))
    for (const JsonValue& range : ranges->items()) record.ranges.push_back(read_range(range));
  if (const auto error = root.find("error")) {
    error->only_keys({"median", "cross_validated_median"});
    if (const auto v = error->find("median")) record.fit_median = v->number(0, 1e6);
    if (const auto v = error->find("cross_validated_median"))
      record.cross_validated_median = v->number(0, 1e6);
  }
  read_draws(root, profile);
  return profile;
}

std::string write_profile(const Profile& given) {
  Profile profile = given;
  const CalibrationRecord& record = profile.calibration;
  std::vector<Json> ranges;
  for (const CalibratedRange& r : record.ranges) ranges.push_back(range_json(r));
  std::string text = "{\n  \"schema\": \"busbar.profile/1\",\n";
  text += "  \"name\": " + Json(profile.name).dump() + ",\n";
  text += "  \"source\": " + Json(record.source).dump() + ",\n";
  text += "  \"created_from\": " + Json(record.created_from).dump() + ",\n";
  if (profile.ideal) text += "  \"base\": \"ideal\",\n";
  if (record.step_gpus) text += fmt::format("  \"step_gpus\": {},\n", *record.step_gpus);
  text += "  \"parameters\": " + lines_of(parameter_lines(profile)) + ",\n";
  text += "  \"ranges\": " + lines_of(ranges) + ",\n";
  Json error = Json::object();
  if (record.fit_median) error["median"] = ratio_digits(*record.fit_median);
  if (record.cross_validated_median)
    error["cross_validated_median"] = ratio_digits(*record.cross_validated_median);
  text += "  \"error\": " + error.dump() + ",\n";
  return text + "  \"draws\": " + lines_of(draw_lines(profile)) + "\n}\n";
}

}  // namespace busbar
