#include "reports/timeline_io.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace busbar {

namespace {

// Perfetto takes process 0 and thread 0 for the idle task, so both are numbered from 1.
std::uint32_t pid_of(std::uint32_t rank) { return rank + 1; }
std::uint32_t tid_of(std::uint32_t stream) { return stream + 1; }

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Microseconds, exactly. Times of a step are never negative.
std::string us(Time t) { return fmt::format("{}.{:06}", t.ps() / 1000000, t.ps() % 1000000); }

// "key": value pairs of one "args".
class Arguments {
 public:
  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) raw(key, json_text(value));
  }
  template <class T>
  void number(std::string_view key, T value) {
    raw(key, fmt::format("{}", value));
  }
  void add(const std::string& pairs) {
    if (!pairs.empty()) pairs_ += (pairs_.empty() ? "" : ",") + pairs;
  }
  [[nodiscard]] const std::string& pairs() const { return pairs_; }

 private:
  void raw(std::string_view key, const std::string& value) { add(fmt::format("\"{}\":{}", key, value)); }
  std::string pairs_;
};

class Writer {
 public:
  explicit Writer(const Timeline& timeline) : t_(timeline) {}
  std::string text() &&;

 private:
  struct Prepared {  // what the occurrences of an operation share, as text
    std::string name, category, arguments;
  };
  void prepare();
  void add(const std::string& event) {
    out_ += out_.empty() ? "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" : ",\n";
    out_ += event;
  }
  void metadata(const char* what, std::uint32_t pid, std::uint32_t tid, const std::string& arguments) {
    add(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what, pid, tid,
                    arguments));
  }
  void add_names(const TimelineTrack& track);
  void add_slice(const TimelineTrack& track, const TimelineSlice& slice);
  [[nodiscard]] std::string arguments_of(const TimelineTrack& track, const TimelineSlice& slice) const;
  void add_messages();
  void add_counters();

  const Timeline& t_;
  std::vector<std::vector<Prepared>> operations_;  // by program
  std::vector<std::string> choices_;
  std::string out_;
};

void Writer::prepare() {
  for (const TimelineProgram& program : t_.programs) {
    std::vector<Prepared>& list = operations_.emplace_back();
    for (const TimelineOperation& o : program.operations) {
      Arguments a;
      a.text("operation", o.what);
      a.text("phase", o.phase);
      a.text("group", o.group);
      if (o.layer >= 0) a.number("layer", o.layer);
      if (o.microbatch >= 0) a.number("microbatch", o.microbatch);
      if (o.flops > 0) a.number("flops", o.flops);
      if (!o.group.empty()) a.number("bytes", o.bytes.count());
      list.push_back({json_text(o.id.empty() ? o.what : o.id),
                      o.group.empty() ? "\"compute\"" : "\"communication\"", a.pairs()});
    }
  }
  for (const TimelineChoice& c : t_.choices) {
    Arguments a;
    a.number("ranks", c.ranks);
    a.text("algorithm", c.algorithm);
    a.text("protocol", c.protocol);
    a.number("channels", c.channels);
    choices_.push_back(a.pairs());
  }
}

void Writer::add_names(const TimelineTrack& track) {
  const TimelineProgram& program = t_.programs[track.program];
  const std::string others = track.alike > 1 ? fmt::format(", as on {} ranks", track.alike) : std::string();
  metadata("process_name", pid_of(track.rank), 0,
           "\"name\":" + json_text(fmt::format("rank {} ({}{})", track.rank, program.name, others)));
  metadata("process_sort_index", pid_of(track.rank), 0, fmt::format("\"sort_index\":{}", track.rank));
  for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
    metadata("thread_name", pid_of(track.rank), tid_of(s), "\"name\":" + json_text(program.streams[s]));
    metadata("thread_sort_index", pid_of(track.rank), tid_of(s), fmt::format("\"sort_index\":{}", s));
  }
}

std::string Writer::arguments_of(const TimelineTrack& track, const TimelineSlice& slice) const {
  const TimelineOperation& o = t_.programs[track.program].operations[slice.operation];
  Arguments a;
  a.add(operations_[track.program][slice.operation].arguments);
  if (slice.choice != TimelineSlice::kNone) {
    a.add(choices_[slice.choice]);
    const double seconds = (slice.end - slice.start).seconds();
    if (seconds > 0 && o.busbw_factor > 0)
      a.number("busbw_Bps", o.bytes.as_double() / seconds * o.busbw_factor);
    if (slice.last_rank != track.rank) a.number("waited_for_rank", slice.last_rank);
  }
  if (slice.cause.rank == TimelineSlice::kNone) {
    a.text("started_by", "the start");
  } else {
    a.add(fmt::format("\"started_by\":{}", operations_[slice.cause.program][slice.cause.operation].name));
    if (slice.cause.rank != track.rank) a.number("started_by_rank", slice.cause.rank);
  }
  return a.pairs();
}

void Writer::add_slice(const TimelineTrack& track, const TimelineSlice& slice) {
  const Prepared& p = operations_[track.program][slice.operation];
  const std::uint32_t pid = pid_of(track.rank);
  const std::uint32_t tid = tid_of(t_.programs[track.program].operations[slice.operation].stream);
  if (slice.start > slice.arrive)
    add(fmt::format(
        R"({{"ph":"X","name":"wait","cat":"wait","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"operation":{},"waited_for_rank":{}}}}})",
        pid, tid, us(slice.arrive), us(slice.start - slice.arrive), p.name, slice.last_rank));
  add(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                  p.name, p.category, pid, tid, us(slice.start), us(slice.end - slice.start),
                  arguments_of(track, slice)));
}

// A flow's ends attach to the slices that enclose them in time, so both lie a little inside the transfer.
void Writer::add_messages() {
  std::size_t id = 0;
  for (const TimelineMessage& m : t_.messages) {
    const Time inset = Time::picoseconds((m.end - m.start).ps() / 100);
    const auto end = [&](const char* phase, std::uint32_t rank, std::uint32_t stream, Time at) {
      add(fmt::format(
          R"({{"ph":"{}","bp":"e","id":{},"name":"message","cat":"message","pid":{},"tid":{},"ts":{},"args":{{"bytes":{}}}}})",
          phase, id, pid_of(rank), tid_of(stream), us(at), m.bytes.count()));
    };
    end("s", m.from, m.from_stream, m.start + inset);
    end("f", m.to, m.to_stream, m.end - inset);
    ++id;
  }
}

void Writer::add_counters() {
  if (t_.counters.empty()) return;
  const std::uint32_t pid = t_.tracks.empty() ? 1 : pid_of(t_.tracks.back().rank) + 1;
  metadata("process_name", pid, 0, R"("name":"links: load of the busiest of each class")");
  metadata("process_sort_index", pid, 0, R"("sort_index":-1)");
  for (const TimelineCounter& c : t_.counters) {
    const std::string name = json_text(c.link_class);
    for (const LoadSample& s : c.samples)
      add(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"percent":{:.4g}}}}})", name, pid,
                      us(s.at), 100 * s.share));
  }
}

std::string Writer::text() && {
  prepare();
  for (const TimelineTrack& track : t_.tracks) add_names(track);
  for (const TimelineTrack& track : t_.tracks)
    for (const TimelineSlice& slice : track.slices) add_slice(track, slice);
  add_messages();
  add_counters();
  if (out_.empty()) return "{\"traceEvents\":[]}\n";
  out_ += "\n]}\n";
  return std::move(out_);
}

}  // namespace

std::string write_timeline(const Timeline& timeline) { return Writer(timeline).text(); }

}  // namespace busbar
