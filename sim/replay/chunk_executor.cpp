#include "sim/replay/chunk_executor.h"

#include <algorithm>
#include <deque>

#include "sim/base/error.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/strand_set.h"

namespace busbar {

namespace {

class Execution {
 public:
  Execution(std::span<const ChunkLane> lanes, const std::vector<double>& capacities, const PlanCosts& costs)
      : costs_(costs), strands_(capacities) {
    for (const ChunkLane& lane : lanes) add(lane);
  }

  Time run() {
    for (std::uint32_t m = 0; m < messages_.size(); ++m) try_start(m);
    settle();
    while (!queue_.empty()) {
      now_ = queue_.next_time();
      while (!queue_.empty() && queue_.next_time() == now_) handle(queue_.pop());
      settle();
    }
    for (const Message& m : messages_) BUSBAR_CHECK(m.arrived);
    return now_;
  }

 private:
  enum Kind : std::uint32_t { kLeft, kArrived };
  struct Message {
    Strand strand;
    Time latency;
    std::uint32_t waits = 0;  // predecessors that have not arrived
    std::vector<std::uint32_t> followers;
    std::uint32_t connection = 0;
    bool started = false, arrived = false;
  };
  struct Connection {
    std::deque<std::uint32_t> queue;  // its messages in order; the front is the one to go
  };

  void add(const ChunkLane& lane) {
    const auto first = static_cast<std::uint32_t>(messages_.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    for (const Send& send : lane.schedule.sends) {
      const std::pair pair{send.from, send.to};
      const auto route = lane.routes.find(pair);
      BUSBAR_CHECK(route != lane.routes.end());
      const auto [it, is_new] = known.try_emplace(pair, static_cast<std::uint32_t>(connections_.size()));
      if (is_new) connections_.emplace_back();
      const auto number = static_cast<std::uint32_t>(messages_.size());
      connections_[it->second].queue.push_back(number);
      for (const std::uint32_t a : send.after) messages_[first + a].followers.push_back(number);
      messages_.push_back({.strand = {.volume = lane.chunk_bytes,
                                      .cap = lane.cap,
                                      .multiplicity = lane.multiplicity,
                                      .usage = route->second.usage},
                           .latency = hop_latency(route->second.hop, costs_),
                           .waits = static_cast<std::uint32_t>(send.after.size()),
                           .followers = {},
                           .connection = it->second});
    }
  }

  void try_start(std::uint32_t number) {
    Message& m = messages_[number];
    const std::deque<std::uint32_t>& queue = connections_[m.connection].queue;
    if (m.started || m.waits > 0 || queue.empty() || queue.front() != number) return;
    m.started = true;
    const StrandId id = strands_.add(m.strand, now_);
    if (message_of_.size() <= id.index()) message_of_.resize(id.index() + 1);
    message_of_[id.index()] = number;
  }

  void handle(const Event& event) {
    if (event.kind == kArrived) {
      messages_[event.index].arrived = true;
      for (const std::uint32_t f : messages_[event.index].followers) {
        --messages_[f].waits;
        try_start(f);
      }
      return;
    }
    if (!strands_.is_current(StrandId(event.index), event.stamp)) return;
    const std::uint32_t number = message_of_[event.index];
    strands_.finish(StrandId(event.index));
    queue_.push(now_ + messages_[number].latency, {kArrived, number, 0});
    std::deque<std::uint32_t>& queue = connections_[messages_[number].connection].queue;
    queue.pop_front();
    if (!queue.empty()) try_start(queue.front());
  }

  void settle() {
    for (const StrandSet::Ending& e : strands_.settle(now_))
      queue_.push(e.at, {kLeft, e.strand.value(), e.stamp});
  }

  const PlanCosts& costs_;
  StrandSet strands_;
  EventQueue queue_;
  std::vector<Message> messages_;
  std::vector<Connection> connections_;
  std::vector<std::uint32_t> message_of_;
  Time now_;
};

}  // namespace

Time execute_chunks(std::span<const ChunkLane> lanes, const std::vector<double>& capacities,
                    const PlanCosts& costs) {
  return Execution(lanes, capacities, costs).run();
}

}  // namespace busbar
