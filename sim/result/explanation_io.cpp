#include "sim/result/explanation_io.h"

#include <nlohmann/json.hpp>

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

// A rank is its number, a switch is called "switch 0".
Json participant_json(std::uint32_t number, bool is_switch) {
  return is_switch ? Json("switch " + std::to_string(number)) : Json(number);
}

Json rounds_json(const std::vector<ExplainedRound>& rounds) {
  Json j = Json::array();
  for (const ExplainedRound& round : rounds) {
    Json sends = Json::array();
    for (const ExplainedSend& s : round.sends)
      sends.push_back({{"from", participant_json(s.from, s.from_switch)},
                       {"to", participant_json(s.to, s.to_switch)},
                       {"chunk", s.chunk},
                       {"reduce", s.reduce},
                       {"receiver_holds", s.holds}});
    j.push_back(std::move(sends));
  }
  return j;
}

Json limit_json(const RateLimit& l) {
  return {{"what", l.what},   {"link", l.link},
          {"flows", l.flows}, {"capacity_Bps", l.capacity_Bps},
          {"next", l.next},   {"time_without_s", l.lifted.seconds()}};
}

Json choices_json(const PricedChoices& choices) {
  Json cells = Json::array();
  for (const PricedChoice& c : choices.cells) {
    Json cell{{"algorithm", c.algorithm}, {"protocol", c.protocol}, {"available", c.available}};
    if (c.available) {
      cell["latency_s"] = c.latency_s;
      cell["bandwidth_Bps"] = c.bandwidth_Bps;
      cell["estimate_s"] = c.estimate_s;
    }
    cell["chosen"] = c.chosen;
    cells.push_back(std::move(cell));
  }
  return {{"decided_by", choices.decided_by}, {"table", std::move(cells)}};
}

Json transports_json(const std::vector<TransportUse>& transports) {
  Json j = Json::array();
  for (const TransportUse& t : transports)
    j.push_back({{"where", t.where},
                 {"transport", t.transport},
                 {"hop_latency_s", t.hop_latency.seconds()},
                 {"efficiency", t.efficiency}});
  return j;
}

Json explanation_json(const Explanation& e) {
  Json j{{"operation", e.operation},
         {"group", e.group},
         {"ranks", e.ranks},
         {"bytes", e.bytes.count()},
         {"algorithm", e.algorithm},
         {"protocol", e.protocol},
         {"channels", e.channels},
         {"count", e.count},
         {"words", e.words},
         {"time_s", e.time.seconds()},
         {"alone_s", e.alone.seconds()},
         {"latency_s", e.latency.seconds()},
         {"transfer_s", e.transfer.seconds()},
         {"tail_s", e.tail.seconds()}};
  j["terms"] = Json::object();
  for (const FormulaTerm& t : e.terms) j["terms"][t.name] = t.text;
  if (!e.choices.cells.empty()) j["nccl_choice"] = choices_json(e.choices);
  j["transports"] = transports_json(e.transports);
  if (!e.beyond.empty()) j["beyond_line_rate"] = e.beyond;
  j["limit"] = limit_json(e.limit);
  j["waited_s"] = e.waited.seconds();
  j["waited_for"] = Json::array();
  for (const MemberWait& w : e.waited_for)
    j["waited_for"].push_back({{"rank", w.rank}, {"caused_s", w.caused.seconds()}});
  j["started_by"] = Json::array();
  for (const StartCause& c : e.started_by) j["started_by"].push_back({{"what", c.what}, {"count", c.count}});
  j["crosses"] = Json::array();
  for (const ClassTraffic& c : e.crosses)
    j["crosses"].push_back({{"class", c.link_class},
                            {"links", c.links},
                            {"bytes", c.bytes},
                            {"bytes_per_gpu", c.bytes_per_gpu},
                            {"busiest", c.busiest},
                            {"busiest_fraction", c.busiest_share}});
  if (!e.rounds.empty()) {
    j["chunk_bytes"] = e.chunk_bytes;
    j["rounds"] = rounds_json(e.rounds);
  }
  return j;
}

}  // namespace

void add_explanations(Json& j, const std::vector<Explanation>& explanations) {
  if (explanations.empty()) return;
  j["explanations"] = Json::array();
  for (const Explanation& e : explanations) j["explanations"].push_back(explanation_json(e));
}

}  // namespace busbar
