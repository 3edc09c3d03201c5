#include "sim/result/run_result_io.h"

#include <nlohmann/json.hpp>

#include "sim/result/excerpt_io.h"
#include "sim/result/explanation_io.h"
#include "sim/result/sensitivity_io.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

Json inputs_json(const InputRecord& in, const std::vector<ParameterRecord>& parameters) {
  Json j;
  j["topology"] = in.topology;
  j["topology_digest"] = in.topology_digest;
  if (!in.workload.empty()) {
    j["workload"] = in.workload;
    j["workload_digest"] = in.workload_digest;
  }
  j["calibration"] = in.profile;
  j["seed"] = in.seed;
  j["settings"] = Json::object();
  for (const auto& [key, value] : in.settings) j["settings"][key] = value;
  j["parameters"] = Json::array();
  for (const ParameterRecord& p : parameters)
    j["parameters"].push_back(
        {{"name", p.name}, {"value", p.value}, {"origin", p.origin}, {"source", p.source}});
  return j;
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json j = Json::array();
  for (const Warning& w : warnings) j.push_back({{"code", w.code}, {"text", w.text}});
  return j;
}

Json memory_json(const MemoryRecord& m) {
  Json j{{"parameters_bytes", m.parameters.count()}, {"gradients_bytes", m.gradients.count()},
         {"optimizer_bytes", m.optimizer.count()},   {"activations_bytes", m.activations.count()},
         {"buffers_bytes", m.buffers.count()},       {"total_bytes", m.total.count()}};
  if (m.capacity) j["capacity_bytes"] = m.capacity->count();
  if (m.fits) j["fits"] = *m.fits;
  return j;
}

Json collective_json(const CollectiveRecord& c) {
  Json j{{"operation", c.operation},         {"group", c.group},         {"ranks", c.ranks},
         {"bytes", c.bytes.count()},         {"algorithm", c.algorithm}, {"protocol", c.protocol},
         {"channels", c.channels},           {"count", c.count},         {"time_s", c.time.seconds()},
         {"exposed_s", c.exposed.seconds()}, {"algbw_Bps", c.algbw_Bps}, {"busbw_Bps", c.busbw_Bps}};
  if (c.attainable_busbw_Bps > 0) j["attainable_busbw_Bps"] = c.attainable_busbw_Bps;
  return j;
}

Json layout_json(const Drawing& layout) {
  Json nodes = Json::array(), links = Json::array();
  for (const DrawingNode& n : layout.nodes)
    nodes.push_back({{"name", n.name}, {"kind", n.kind}, {"host", n.host}, {"members", n.members}});
  for (const DrawingLink& l : layout.links)
    links.push_back({{"from", l.from},
                     {"to", l.to},
                     {"class", l.link_class},
                     {"members", l.members},
                     {"capacity_Bps", l.capacity_Bps},
                     {"busy_fraction", l.busy_fraction},
                     {"peak_fraction", l.peak_fraction}});
  return {{"nodes", std::move(nodes)}, {"links", std::move(links)}};
}

Json link_json(const LinkRecord& l) {
  return {{"name", l.name},
          {"class", l.link_class},
          {"members", l.members},
          {"capacity_Bps", l.capacity_Bps},
          {"nominal_Bps", l.nominal_Bps},
          {"bytes", l.bytes},
          {"busy_fraction", l.busy_fraction},
          {"peak_fraction", l.peak_fraction}};
}

Json path_json(const std::vector<CriticalSegment>& path) {
  Json j = Json::array();
  for (const CriticalSegment& s : path)
    j.push_back({{"rank", s.rank},
                 {"operation", s.operation},
                 {"what", s.what},
                 {"phase", s.phase},
                 {"waits_for", s.waits_for},
                 {"start_s", s.start.seconds()},
                 {"end_s", s.end.seconds()}});
  return j;
}

Json timeline_json(const std::vector<RankTimeline>& timelines) {
  Json j = Json::array();
  for (const RankTimeline& t : timelines) {
    Json entries = Json::array();
    for (const TimelineEntry& e : t.entries)
      entries.push_back({{"stream", e.stream},
                         {"operation", e.operation},
                         {"what", e.what},
                         {"group", e.group},
                         {"arrive_s", e.arrive.seconds()},
                         {"start_s", e.start.seconds()},
                         {"end_s", e.end.seconds()}});
    j.push_back({{"rank", t.rank}, {"program", t.program}, {"entries", std::move(entries)}});
  }
  return j;
}

void add_throughput(Json& j, const RunResult& r) {
  const double step = r.step_time.seconds();
  if (step <= 0 || r.ranks == 0) return;
  if (r.tokens > 0) {
    j["tokens_per_s"] = r.tokens / step;
    j["tokens_per_s_per_gpu"] = r.tokens / step / r.ranks;
  }
  if (r.model_flops > 0) {
    j["model_flops_per_s_per_gpu"] = r.model_flops / step / r.ranks;
    if (r.peak_flops) j["mfu"] = r.model_flops / step / r.ranks / *r.peak_flops;
  }
  if (r.hardware_flops <= 0) return;
  j["hardware_flops_per_s_per_gpu"] = r.hardware_flops / step / r.ranks;
  if (r.peak_flops) j["hfu"] = r.hardware_flops / step / r.ranks / *r.peak_flops;
}

void add_balance(Json& j, const RunResult& r) {
  j["bubble_of_step"] = bubble_of_step(r.split);
  j["bubble_of_ideal"] = bubble_of_ideal(r.split);
  j["compute_imbalance"] = compute_balance(r.roles).imbalance;
  j["roles"] = Json::array();
  for (const RoleRecord& role : r.roles)
    j["roles"].push_back({{"program", role.program},
                          {"ranks", role.ranks},
                          {"compute_s", role.compute.seconds()},
                          {"bubble_s", role.bubble.seconds()}});
}

}  // namespace

std::vector<std::pair<std::string, double>> times_of(const RunResult& r) {
  return {{"step_time_s", r.step_time.seconds()},
          {"compute_s", r.split.compute.seconds()},
          {"communication_s", r.split.communication.seconds()},
          {"exposed_communication_s", r.split.exposed.seconds()},
          {"bubble_s", r.split.bubble.seconds()},
          {"straggler_wait_s", r.split.straggler_wait.seconds()},
          {"idle_s", r.split.idle.seconds()}};
}

std::string write_result(const RunResult& r) {
  Json j;
  j["schema"] = "busbar.result/1";
  j["version"] = kVersion;
  j["model_version"] = kModelVersion;
  j["name"] = r.step_name;
  j["cluster"] = r.cluster_name;
  j["inputs"] = inputs_json(r.inputs, r.parameters);
  j["ranks"] = r.ranks;
  j["hosts"] = r.hosts;
  j["last_rank"] = r.last_rank;
  for (const auto& [key, value] : times_of(r)) j[key] = value;
  if (r.step_time_interval)
    j["step_time_interval_s"] = {r.step_time_interval->first.seconds(),
                                 r.step_time_interval->second.seconds()};
  j["exposed_by_group"] = Json::object();
  for (const auto& [group, time] : r.split.exposed_by_group) j["exposed_by_group"][group] = time.seconds();
  add_throughput(j, r);
  add_balance(j, r);
  if (r.memory) j["memory"] = memory_json(*r.memory);
  j["collectives"] = Json::array();
  for (const CollectiveRecord& c : r.collectives) j["collectives"].push_back(collective_json(c));
  j["links"] = Json::array();
  for (const LinkRecord& l : r.links) j["links"].push_back(link_json(l));
  if (r.layout) j["layout"] = layout_json(*r.layout);
  j["critical_path"] = path_json(r.critical_path);
  j["timeline"] = timeline_json(r.timeline);
  add_explanations(j, r.explanations);
  add_sensitivity(j, r.sensitivity);
  for (const ComparedStep& c : r.compared) {
    Json& other = j["compared"].emplace_back(Json{{"name", c.name}});
    for (const auto& [key, seconds] : c.times_s) other[key] = seconds;
  }
  j["assumptions"] = r.assumptions;
  j["warnings"] = warnings_json(r.warnings);
  j["engine"] = {{"ranks", r.ranks},
                 {"classes", r.classes},
                 {"events", r.events},
                 {"solves", r.solves},
                 {"wall_s", r.wall_s}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

void add_measured(Json& row, const MeasuredPoint& m) {
  row["measured_s"] = m.time.seconds();
  row["error"] = m.error;
  if (m.choice.empty()) return;
  row["measured_choice"] = m.choice;
  row["choice_agrees"] = m.agrees;
}

Json comparison_json(const SweepComparison& comparison) {
  const ErrorSummary& s = comparison.summary;
  Json j{{"source", comparison.source}, {"rows", s.rows}, {"rows_below_1_KiB", s.small}};
  if (s.rows > s.small) {
    j["median_abs_error"] = s.median_abs;
    j["mean_abs_error"] = s.mean_abs;
    j["bias"] = s.bias;
    j["worst"] = s.worst;
    j["worst_size_bytes"] = s.worst_size.count();
  }
  if (s.choices > 0) {
    j["choices"] = s.choices;
    j["choices_agreeing"] = s.agreeing;
  }
  return j;
}

Json compared_json(const std::vector<ComparedSweep>& compared) {
  Json j = Json::array();
  for (const ComparedSweep& c : compared) {
    Json rows = Json::array();
    for (const ComparedSweep::Row& r : c.rows) {
      Json row{{"size_bytes", r.size.count()}, {"time_s", r.time_s}, {"busbw_Bps", r.busbw_Bps}};
      if (!r.algorithm.empty()) row.update({{"algorithm", r.algorithm}, {"protocol", r.protocol}});
      rows.push_back(std::move(row));
    }
    j.push_back({{"name", c.name}, {"rows", std::move(rows)}});
  }
  return j;
}

Json sweep_row_json(const Sweep& s, const SweepRow& r) {
  Json row{{"operation", name_of(r.operation)},
           {"size_bytes", r.size.count()},
           {"count", r.count},
           {"ranks", s.ranks},
           {"time_s", r.time.seconds()},
           {"algbw_Bps", r.algbw_Bps},
           {"busbw_Bps", r.busbw_Bps},
           {"algorithm", r.algorithm},
           {"protocol", r.protocol},
           {"channels", r.channels},
           {"limit", r.limit}};
  if (r.interval) row["time_interval_s"] = {r.interval->first.seconds(), r.interval->second.seconds()};
  if (is_reducing(r.operation)) row["reduction"] = name_of(s.reduction);
  if (r.measured) add_measured(row, *r.measured);
  return row;
}

}  // namespace

std::string write_sweep(const Sweep& s) {
  Json j;
  j["schema"] = "busbar.sweep/1";
  j["version"] = kVersion;
  j["model_version"] = kModelVersion;
  j["cluster"] = s.cluster_name;
  j["inputs"] = inputs_json(s.inputs, s.parameters);
  j["ranks"] = s.ranks;
  j["hosts"] = s.hosts;
  j["type"] = name_of(s.type);
  j["rows"] = Json::array();
  for (const SweepRow& r : s.rows) j["rows"].push_back(sweep_row_json(s, r));
  add_excerpt(j, "rows", s.rows_excerpt);
  j["line_rates"] = Json::array();
  for (const LineRate& l : s.line_rates)
    j["line_rates"].push_back({{"what", l.what}, {"rate_Bps", l.rate_Bps}});
  if (!s.compared.empty()) j["compared"] = compared_json(s.compared);
  if (s.half_bandwidth_size) j["half_bandwidth_bytes"] = s.half_bandwidth_size->count();
  if (s.comparison) j["comparison"] = comparison_json(*s.comparison);
  add_explanations(j, s.explanations);
  j["notes"] = s.notes;
  j["warnings"] = warnings_json(s.warnings);
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace busbar
