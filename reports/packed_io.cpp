#include <map>
#include <nlohmann/json.hpp>

#include "reports/deflate.h"
#include "reports/packed.h"
#include "reports/thinning.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

// Names by number, in the order in which they first come.
class Names {
 public:
  std::size_t number(const std::string& name) {
    const auto [it, is_new] = known_.try_emplace(name, list_.size());
    if (is_new) list_.push_back(name);
    return it->second;
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> known_;
  std::vector<std::string> list_;
};

Json packed(const RankTimeline& t) {
  Names streams, whats, groups;
  std::vector<std::size_t> stream, what, group;
  std::vector<std::int64_t> gap, wait, length;
  std::vector<Time> ends;
  Json operations = Json::array();
  for (const TimelineEntry& e : t.entries) {
    const std::size_t s = streams.number(e.stream);
    if (s == ends.size()) ends.emplace_back();
    stream.push_back(s);
    what.push_back(whats.number(e.what));
    group.push_back(groups.number(e.group));
    operations.push_back(e.operation);
    gap.push_back((e.arrive - ends[s]).ps());
    wait.push_back((e.start - e.arrive).ps());
    length.push_back((e.end - e.start).ps());
    ends[s] = e.end;
  }
  return {{"rank", t.rank},          {"program", t.program},      {"streams", streams.list()},
          {"whats", whats.list()},   {"groups", groups.list()},   {"stream", std::move(stream)},
          {"what", std::move(what)}, {"group", std::move(group)}, {"operation", std::move(operations)},
          {"gap", std::move(gap)},   {"wait", std::move(wait)},   {"length", std::move(length)}};
}

Json packed(const CriticalSegment& s) {
  return {{"rank", s.rank},          {"operation", s.operation}, {"what", s.what},
          {"phase", s.phase},        {"waits_for", s.waits_for}, {"start_s", s.start.seconds()},
          {"end_s", s.end.seconds()}};
}

// As many whole rank classes as hold `most` entries together; one at least.
std::vector<std::size_t> tracks_within(const std::vector<RankTimeline>& timeline, std::size_t most) {
  const auto entries = [&](const std::vector<std::size_t>& tracks) {
    std::size_t sum = 0;
    for (const std::size_t t : tracks) sum += timeline[t].entries.size();
    return sum;
  };
  std::size_t kept = timeline.size();
  const auto chosen = [&] {
    const std::vector<std::size_t> ends{0, timeline.empty() ? 0 : timeline.size() - 1};
    return thinned(timeline.size(), kept, ends);
  };
  while (kept > 1 && entries(chosen()) > most) --kept;
  return chosen();
}

}  // namespace

std::string packed_lists(const RunResult& result, std::size_t most) {
  Json j{{"of", result.timeline.size()}, {"timeline", Json::array()}, {"critical_path", Json::array()}};
  for (const std::size_t t : tracks_within(result.timeline, most))
    j["timeline"].push_back(packed(result.timeline[t]));
  for (const CriticalSegment& s : result.critical_path) j["critical_path"].push_back(packed(s));
  return base64(deflated(j.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace busbar
