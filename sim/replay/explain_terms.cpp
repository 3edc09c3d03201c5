// The time of one operation in words: each quantity of its formula with the numbers put in (docs/model.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/unit_text.h"
#include "sim/replay/explain.h"

namespace busbar {

namespace {

std::string text(double bytes) {
  return bytes < 1000 ? fmt::format("{:.4g} B", bytes)
                      : to_si_text(Bytes(static_cast<std::int64_t>(std::llround(bytes))));
}

std::string rate_text(double Bps) { return fmt::format("{:.3g} GB/s", Bps / 1e9); }

// Closed rings; the chains of broadcast and reduce go by the same name.
bool is_ring(const OperationRecord& r) {
  return r.algorithm == "ring" && r.kind != CollectiveKind::kBroadcast && r.kind != CollectiveKind::kReduce;
}

bool is_pipelined(const TermRequest& t) { return !t.planned->pipelines.empty(); }

// Channels that run alike along the path of the first strand.
std::int64_t alike(const TermRequest& t) {
  return t.planned->plan.phases.front().strands.front().multiplicity;
}

std::int64_t ring_steps(const OperationRecord& r) {
  const std::int64_t lap = std::int64_t{r.ranks} - 1;
  return r.kind == CollectiveKind::kAllReduce || r.kind == CollectiveKind::kBarrier ? 2 * lap : lap;
}

// "7 x nvlink 2.5 us, 1 x rdma 14 us": hops by way and latency.
std::string path_text(const std::vector<Hop>& path, const PlanCosts& costs) {
  struct Kind {
    Transport transport;
    Time latency;
    std::size_t count;
  };
  std::vector<Kind> kinds;
  for (const Hop& hop : path) {
    const Time latency = hop_latency(hop, costs);
    const auto it = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) {
      return k.transport == hop.transport && k.latency == latency;
    });
    if (it == kinds.end()) {
      kinds.push_back({hop.transport, latency, 1});
    } else {
      ++it->count;
    }
  }
  std::string list;
  for (const Kind& k : kinds)
    list += fmt::format("{}{} x {} {}", list.empty() ? "" : ", ", k.count, name_of(k.transport),
                        to_text(k.latency));
  return list;
}

// Of the channel whose path takes longest.
std::string pipeline_path_text(const TermRequest& t) {
  const PlanCosts& costs = t.planned->costs;
  const PipelineChannel* longest = nullptr;
  Time most = Time::picoseconds(-1);
  for (const PipelineChannel& channel : t.planned->pipelines) {
    Time path;
    for (const Hop& hop : channel.path) path += hop_latency(hop, costs);
    if (path > most) longest = &channel;
    most = std::max(most, path);
  }
  return longest == nullptr ? "" : path_text(longest->path, costs);
}

FormulaTerm latency_term(const TermRequest& t) {
  const PlanCosts& costs = t.planned->costs;
  const Time total = t.planned->plan.latency() - t.planned->plan.tail;
  std::string words = costs.base > Time::zero() ? fmt::format("base {} + ", to_text(costs.base)) : "";
  const std::string path = to_text(total - costs.base);
  const GroupRoutes& routes = *t.planned->routes;
  if (is_ring(*t.record) && !routes.rings.empty()) {
    words += fmt::format("{} for the slowest {} consecutive hops (one lap: {})", path, ring_steps(*t.record),
                         path_text(routes.rings.front().hops, costs));
  } else if (is_pipelined(t)) {
    words += fmt::format("{} for the hops of its longest path ({})", path, pipeline_path_text(t));
  } else {
    words += path + " for its hops";
  }
  return {"latency", fmt::format("{} = {}", words, to_text(total))};
}

FormulaTerm volume_term(const TermRequest& t) {
  const OperationRecord& r = *t.record;
  if (is_ring(r))
    return {"V",
            fmt::format("steps x S / (n c) = {} x {} / ({} ranks x {} channels) = {} per channel and hop",
                        ring_steps(r), text(r.bytes.as_double()), r.ranks, r.channels, text(t.volume))};
  if (is_pipelined(t))
    return {"V", fmt::format("share x S / m = {:.4g} x {} / {} alike = {} on each channel",
                             t.planned->pipelines.front().share, text(r.bytes.as_double()), alike(t),
                             text(t.planned->plan.phases.front().strands.front().volume))};
  if (r.kind == CollectiveKind::kSendRecv) return {"V", fmt::format("S = {}", text(t.volume))};
  return {"V", fmt::format("{} on each flow of the slowest strand", text(t.volume))};
}

// The ceiling of one strand: B / c / (1 + (q_half / q)^g); a send keeps all its channels in one strand.
FormulaTerm cap_term(const TermRequest& t, double cap) {
  const PlanCosts& costs = t.planned->costs;
  const OperationRecord& r = *t.record;
  const bool spread = is_ring(r);
  const auto channels = static_cast<double>(r.channels);
  const double q = r.bytes.as_double() / (spread ? static_cast<double>(r.ranks) * channels : channels);
  if (!spread && r.kind != CollectiveKind::kSendRecv) return {"cap", rate_text(cap)};
  std::string symbols = spread ? "B / c" : "B";
  std::string numbers = rate_text(costs.rate.Bps());
  if (spread) numbers += fmt::format(" / {}", r.channels);
  if (costs.half_bytes > 0) {
    symbols += " / (1 + (q_half / q)^g)";
    numbers += fmt::format(" / (1 + ({} / {})^{:.3g})", text(costs.half_bytes), text(q),
                           fill_exponent(costs, costs.half_bytes, q));
  }
  if (symbols == "B") return {"cap", fmt::format("B = {}", numbers)};
  return {"cap", fmt::format("{} = {} = {}", symbols, numbers, rate_text(cap))};
}

// The ceiling of one channel of a pipeline: B share / m / (1 + (S_half / S)^g).
FormulaTerm pipeline_cap_term(const TermRequest& t, double cap) {
  const PlanCosts& costs = t.planned->costs;
  std::string symbols = "B share / m";
  std::string numbers = fmt::format("{} x {:.4g} / {}", rate_text(costs.rate.Bps()),
                                    t.planned->pipelines.front().share, alike(t));
  if (costs.half_message > 0) {
    const double bytes = t.record->bytes.as_double();
    symbols += " / (1 + (S_half / S)^g)";
    numbers += fmt::format(" / (1 + ({} / {})^{:.3g})", text(costs.half_message), text(bytes),
                           fill_exponent(costs, costs.half_message, bytes));
  }
  return {"cap", fmt::format("{} = {} = {}", symbols, numbers, rate_text(cap))};
}

FormulaTerm tail_term(const TermRequest& t) {
  const std::string total = to_text(t.planned->plan.tail);
  if (!is_ring(*t.record)) return {"tail", fmt::format("the last chunk through the other hops = {}", total)};
  return {"tail", fmt::format("{:.3g} steps' worth of closing copy, r' q / cap = {}",
                              t.planned->costs.tail_steps, total)};
}

}  // namespace

std::vector<FormulaTerm> terms_of(const TermRequest& t) {
  const Plan& plan = t.planned->plan;
  std::vector<FormulaTerm> terms{latency_term(t)};
  const std::vector<Strand> strands = plan.strands();
  if (strands.empty()) return terms;
  terms.push_back(volume_term(t));
  const double cap = strands.front().cap.Bps();
  if (std::isfinite(cap)) terms.push_back(is_pipelined(t) ? pipeline_cap_term(t, cap) : cap_term(t, cap));
  terms.push_back({"r", t.rate > 0 ? fmt::format("{} ({})", rate_text(t.rate), t.limit) : "unlimited"});
  if (plan.tail > Time::zero()) terms.push_back(tail_term(t));
  return terms;
}

}  // namespace busbar
