// The one pass over a trace: nlohmann's parser finds the syntax, and what matters is kept.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/input.h"
#include "validate/import/trace_record.h"

namespace busbar {

namespace {

using Json = nlohmann::json;

/// Puts the next bytes of a text into a buffer; 0 at its end.
using Fill = std::function<std::size_t(std::span<char>)>;

/// The bytes of a text, piece by piece, and where the parser is in it.
class Source {
 public:
  Source(std::string name, Fill fill)
      : name_(std::move(name)), fill_(std::move(fill)), piece_(std::size_t{1} << 18U) {
    refill();
  }
  [[nodiscard]] bool at_end() const { return next_ == end_; }
  [[nodiscard]] const char& front() const { return *next_; }
  void advance() {
    if (++next_ == end_) refill();
  }
  /// "file.json:12".
  [[nodiscard]] std::string place() const {
    const auto lines = lines_ + std::count(static_cast<const char*>(piece_.data()), next_, '\n');
    return fmt::format("{}:{}", name_, lines + 1);
  }

 private:
  void refill() {
    if (next_ != nullptr) lines_ += std::count(static_cast<const char*>(piece_.data()), end_, '\n');
    const std::size_t got = fill_(piece_);
    next_ = piece_.data();
    end_ = next_ + got;
  }

  std::string name_;
  Fill fill_;
  std::vector<char> piece_;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::ptrdiff_t lines_ = 0;
};

/// Walks over a Source; the default one is the end.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor() = default;
  explicit Cursor(Source& source) : source_(&source) {}
  reference operator*() const { return source_->front(); }
  Cursor& operator++() {
    source_->advance();
    return *this;
  }
  Cursor operator++(int) {
    const Cursor old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Cursor& other) const { return ended() == other.ended(); }

 private:
  [[nodiscard]] bool ended() const { return source_ == nullptr || source_->at_end(); }
  Source* source_ = nullptr;
};

/// The SAX handler: follows the depth, and gives the values of each event to a TraceRecord. Its public
/// functions are called by nlohmann, under the names that it wants.
class Reader {
 public:
  Reader(Source& source, RankTrace& trace) : source_(source), trace_(trace) {}

  bool null() { return true; }
  bool boolean(bool value) { return scalar(value ? 1.0 : 0.0); }
  bool number_integer(Json::number_integer_t value) { return whole(value); }
  bool number_unsigned(Json::number_unsigned_t value) {
    if (std::in_range<std::int64_t>(value)) return whole(static_cast<std::int64_t>(value));
    return scalar(static_cast<double>(value));
  }
  bool number_float(Json::number_float_t value, const Json::string_t& text) {
    if (in_event()) record_.take_time(key_, text);
    return scalar(value);
  }
  bool string(Json::string_t& value) {
    if (in_event())
      record_.take_text(key_, value);
    else if (in_arguments() || in_list())
      record_.take_argument_text(argument(), value);
    return true;
  }
  bool binary(Json::binary_t& /*value*/) { return false; }  // never in text

  bool start_object(std::size_t /*size*/) {
    if (depth_ == 0) event_depth_ = 3;
    ++depth_;
    if (depth_ == event_depth_ && events_) record_ = {};
    if (depth_ == 2 && key_ == "distributedInfo") in_distributed_ = true;
    if (depth_ == event_depth_ + 1 && events_) arguments_ = key_ == "args";
    return true;
  }
  bool end_object() {
    if (depth_ == event_depth_ && events_) record_.finish(trace_);
    if (depth_ == event_depth_ + 1) arguments_ = false;
    if (depth_ == 2) in_distributed_ = false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    if (depth_ == 0) {
      event_depth_ = 2;
      events_ = found_ = true;
    } else if (depth_ == 1 && event_depth_ == 3 && key_ == "traceEvents") {
      events_ = found_ = true;
    } else if (in_arguments() || in_list()) {
      if (list_depth_ == 0) list_ = key_;
      record_.open_list(list_, ++list_depth_);
    }
    ++depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    if (list_depth_ > 0) record_.close_list(list_, list_depth_--);
    if (depth_ + 1 == event_depth_ - 1) events_ = false;
    return true;
  }
  bool key(Json::string_t& value) {
    key_.swap(value);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    const std::string what = error.what();
    const std::size_t dash = what.find(" - ");
    const std::string problem = dash == std::string::npos ? what : what.substr(dash + 3);
    throw Error({.where = source_.place(),
                 .message = "not JSON: " + problem.substr(0, problem.find("; last read: ")),
                 .suggestion = source_.at_end() ? "the file may be cut" : ""});
  }
  [[nodiscard]] bool found() const { return found_; }

 private:
  [[nodiscard]] bool in_event() const { return events_ && depth_ == event_depth_; }
  [[nodiscard]] bool in_arguments() const { return arguments_ && depth_ == event_depth_ + 1; }
  [[nodiscard]] bool in_list() const { return list_depth_ > 0; }
  [[nodiscard]] const std::string& argument() const { return in_list() ? list_ : key_; }

  bool whole(std::int64_t value) {
    if (in_event())
      record_.take_time(key_, value);
    else if (in_arguments() || in_list())
      record_.take_argument(argument(), value);
    else if (in_distributed_ && depth_ == 2)
      take_distributed(value);
    else if (depth_ == 1)
      take_flag(value != 0);
    return true;
  }
  bool scalar(double value) {
    if (depth_ == 1) take_flag(value != 0);
    return true;
  }
  void take_distributed(std::int64_t value) {
    if (key_ == "rank" && value >= 0) trace_.rank = value;
    if (key_ == "world_size" && value > 0) trace_.world = value;
  }
  void take_flag(bool on) {
    if (key_ == "record_shapes") trace_.shapes = on;
    if (key_ == "with_stack") trace_.stacks = on;
    if (key_ == "profile_memory") trace_.memory = on;
  }

  Source& source_;
  RankTrace& trace_;
  TraceRecord record_;
  std::string key_, list_;
  int depth_ = 0, event_depth_ = 3, list_depth_ = 0;
  bool events_ = false, found_ = false, arguments_ = false, in_distributed_ = false;
};

RankTrace read_from(const std::string& name, Fill fill) {
  RankTrace trace{.source = name};
  Source source(name, std::move(fill));
  Reader reader(source, trace);
  Json::sax_parse(Cursor(source), Cursor(), &reader);
  if (!reader.found())
    throw Error(
        {.where = name, .expected = "a trace with traceEvents, or a list of events", .given = "other JSON"});
  return trace;
}

}  // namespace

RankTrace read_rank_trace(const std::string& path) {
  InputStream in(path);
  return read_from(path, [&](std::span<char> buffer) { return in.read(buffer); });
}

RankTrace read_rank_trace_text(std::string_view text, const std::string& name) {
  return read_from(name, [&](std::span<char> buffer) {
    const std::size_t size = std::min(buffer.size(), text.size());
    std::copy_n(text.begin(), size, buffer.begin());
    text.remove_prefix(size);
    return size;
  });
}

}  // namespace busbar
