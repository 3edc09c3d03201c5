// busbar.study/1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/study/study.h"
#include "sim/study/study_quantities.h"
#include "sim/study/study_search.h"
#include "topologies/host_type.h"
#include "workloads/workload_io.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "busbar.study/1";
constexpr std::array<std::string_view, 12> kKeys = {"schema", "name",     "model",    "batch",
                                                    "tokens", "workload", "clusters", "constraints",
                                                    "search", "failures", "sweep",    "scaling"};
constexpr std::int64_t kMostGpus = std::int64_t{1} << 24;
constexpr std::int64_t kMostSamples = std::int64_t{1}
                                      << 24;  // of a step, and tokens of a sample: as plan's options

// The job as a workload file of one rank: the layout is the search's. Names are left out, here and below:
// results serve studies of other names too.
std::string workload_text(const JsonDocument& document) {
  const Json study = Json::parse(document.dump());
  Json w = {{"schema", "busbar.workload/1"}, {"name", "planned"}};
  w["model"] = study.at("model");
  w["batch"] = study.at("batch");
  w["parallel"] = {{"dp", 1}};
  if (study.contains("workload"))
    for (const auto& [key, value] : study.at("workload").items()) w[key] = value;
  if (!w.contains("framework")) w["framework"] = "megatron-core";
  return w.dump();
}

void check_workload_keys(const JsonValue& workload) {
  std::vector<std::string_view> keys;
  static constexpr std::array<std::string_view, 7> kTaken = {"schema",   "name",      "model", "batch",
                                                             "parallel", "recompute", "stages"};
  for (const std::string_view key : workload_keys())
    if (std::find(kTaken.begin(), kTaken.end(), key) == kTaken.end()) keys.push_back(key);
  workload.only_keys(keys);
}

std::vector<std::int64_t> read_gpus(const JsonValue& value) {
  if (value.is_string()) return read_counts(value.string(), value.where());
  if (!value.is_array()) return {value.integer(1, kMostGpus)};
  std::vector<std::int64_t> counts;
  for (const JsonValue& count : value.items()) counts.push_back(count.integer(1, kMostGpus));
  if (counts.empty()) value.fail("a number of GPUs");
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

void set_currency(Prices& prices, const JsonValue& place, const Money& money) {
  if (!prices.currency.empty() && prices.currency != money.currency)
    place.fail(fmt::format("an amount in {}, as before", prices.currency));
  prices.currency = money.currency;
}

Prices read_prices(const JsonValue& cluster) {
  Prices p;
  const auto amount = [&](const char* key, const char* per) -> std::optional<double> {
    const auto value = cluster.find(key);
    if (!value) return std::nullopt;
    const Money money = read_money(*value, per);
    set_currency(p, *value, money);
    return money.amount;
  };
  p.gpu_hour = amount("price", "/GPU-hour");
  p.host = amount("host_price", "/host");
  p.port = amount("port_price", "/port");
  p.electricity_kwh = amount("electricity", "/kWh");
  if (const auto power = cluster.find("power")) p.host_watts = read_host_power(*power);
  if (const auto lifetime = cluster.find("lifetime")) p.lifetime_s = read_duration(*lifetime);
  if (const auto pue = cluster.find("power_usage")) p.power_usage = pue->number(1, 10);
  if (p.electricity_kwh && !p.host_watts) cluster.fail_because("electricity needs \"power\"");
  if (p.gpu_hour && p.host) cluster.fail_because("price (rent) and host_price (bought) exclude each other");
  return p;
}

ClusterSpec read_cluster(const JsonValue& value, Json json) {
  value.only_keys({"name", "topology", "gpus", "price", "host_price", "port_price", "electricity", "power",
                   "lifetime", "power_usage"});
  ClusterSpec c;
  const JsonValue topology = value.at("topology");
  topology.only_keys({"hosts", "fabric", "source", "gpus", "rank_order", "faults"});
  const JsonValue hosts = topology.at("hosts");
  const JsonValue type = hosts.at("type");
  const HostType* row = find_row(host_types(), type.string());
  const auto names = names_of(host_types());
  if (row == nullptr) type.fail(one_of(names), did_you_mean(type.string(), names));
  if (const auto count = hosts.find("count"))
    count->fail_because("the number of hosts follows from the cluster's \"gpus\"");
  c.gpus_per_host = row->gpus;
  if (const auto gpus = hosts.find("gpus")) c.gpus_per_host = gpus->integer(1, row->gpus);
  const auto name = value.find("name");
  c.name = name ? name->string() : type.string();
  c.gpus = read_gpus(value.at("gpus"));
  for (const std::int64_t count : c.gpus)
    if (count % c.gpus_per_host != 0)
      value.at("gpus").fail(fmt::format("multiples of the {} GPUs of a {}", c.gpus_per_host, type.string()));
  Json text = {{"schema", "busbar.topology/1"}, {"name", type.string()}};
  for (const auto& [key, part] : json.at("topology").items()) text[key] = part;
  c.topology = text.dump();
  c.prices = read_prices(value);
  return c;
}

Constraints read_constraints(const JsonValue& value, std::string& currency) {
  value.only_keys({"deadline", "budget", "memory"});
  Constraints c;
  if (const auto deadline = value.find("deadline")) c.deadline_s = read_duration(*deadline);
  if (const auto budget = value.find("budget")) {
    const Money money = read_money(*budget, "");
    if (!currency.empty() && currency != money.currency)
      budget->fail(fmt::format("an amount in {}, as the prices are", currency));
    currency = money.currency;
    c.budget = money.amount;
  }
  if (const auto memory = value.find("memory")) {
    c.usable_memory = memory->percent();
    if (c.usable_memory <= 0 || c.usable_memory > 1)
      memory->fail("a part of the GPU's memory such as \"90%\"");
  }
  return c;
}

void read_scaling(const JsonValue& value, StudySpec& spec) {
  const std::string text = value.string();
  static constexpr std::array<std::string_view, 3> kNames = {"strong", "weak", "both"};
  if (std::find(kNames.begin(), kNames.end(), text) == kNames.end())
    value.fail(one_of(kNames), did_you_mean(text, kNames));
  spec.strong = text != "weak";
  spec.weak = text != "strong";
}

void read_sweep(const JsonValue& value, const Json& json, StudySpec& spec) {
  for (const std::string& key : value.keys()) {
    if (value.at(key).items().empty()) value.at(key).fail("a list of values");
    std::vector<std::string> values;
    for (const Json& item : json.at(key))
      values.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    spec.sweeps.emplace_back(key, std::move(values));
  }
}

}  // namespace

std::vector<std::int64_t> read_counts(std::string_view text, const std::string& where) {
  const auto fail = [&]() {
    throw Error(
        {.where = where,
         .expected = "numbers of GPUs such as \"256\", \"256,512\" or \"64:4096:2\" (from, to, factor)",
         .given = quoted(text)});
  };
  const char separator = text.find(':') != std::string_view::npos ? ':' : ',';
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, number);
    if (error != std::errc() || stop != text.data() + end || number < 1 || number > kMostGpus) fail();
    numbers.push_back(number);
    begin = end + 1;
  }
  if (separator == ',') {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }
  if (numbers.size() != 3 || numbers[0] > numbers[1] || numbers[2] < 2) fail();
  std::vector<std::int64_t> counts;
  for (std::int64_t n = numbers[0]; n <= numbers[1]; n *= numbers[2]) counts.push_back(n);
  return counts;
}

StudySpec read_study(const JsonDocument& document) {
  const JsonValue root = document.root();
  root.only_keys(kKeys);
  if (root.at("schema").string() != kSchema) root.at("schema").fail(fmt::format("\"{}\"", kSchema));
  StudySpec spec;
  spec.name = root.find("name") ? root.at("name").string() : document.name();
  static_cast<void>(root.at("model"));
  const JsonValue batch = root.at("batch");
  batch.only_keys({"sequence", "global"});
  for (const char* key : {"sequence", "global"}) static_cast<void>(batch.at(key).integer(1, kMostSamples));
  if (const auto workload = root.find("workload")) check_workload_keys(*workload);
  spec.workload = workload_text(document);
  spec.base = read_workload(JsonDocument::parse(spec.workload, document.name() + " (workload)"));
  if (!spec.base.model.transformer)
    root.at("model").fail_because("planning needs a model with dimensions, which layouts can cut");
  if (const auto tokens = root.find("tokens")) spec.tokens = read_tokens(*tokens);
  const Json json = Json::parse(document.dump());
  const std::vector<JsonValue> clusters = root.at("clusters").items();
  if (clusters.empty()) root.at("clusters").fail("a cluster");
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    spec.clusters.push_back(read_cluster(clusters[i], json.at("clusters").at(i)));
    for (std::size_t other = 0; other < i; ++other)
      if (spec.clusters[other].name == spec.clusters[i].name)
        clusters[i].fail_because(
            fmt::format("a second cluster called {}: give each a \"name\"", quoted(spec.clusters[i].name)));
    const std::string& currency = spec.clusters.back().prices.currency;
    if (!currency.empty() && !spec.currency.empty() && currency != spec.currency)
      clusters[i].fail_because(fmt::format("prices in {}, those before are in {}", currency, spec.currency));
    if (!currency.empty()) spec.currency = currency;
  }
  if (const auto value = root.find("constraints")) spec.constraints = read_constraints(*value, spec.currency);
  if ((spec.constraints.deadline_s || spec.constraints.budget) && !spec.tokens)
    root.at("constraints")
        .fail_because(fmt::format("a {} needs \"tokens\" (or --tokens), those of the whole training",
                                  spec.constraints.deadline_s ? "deadline" : "budget"));
  if (const auto value = root.find("search")) spec.simulate = read_search_space(*value, spec.space);
  if (const auto value = root.find("failures")) spec.failures = read_failures(*value);
  if (const auto value = root.find("sweep")) read_sweep(*value, json.at("sweep"), spec);
  if (const auto value = root.find("scaling")) read_scaling(*value, spec);
  return spec;
}

}  // namespace busbar
