// One event of a trace, from its values one by one to what is kept of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "validate/import/trace_events.h"

namespace busbar {

class TraceRecord {
 public:
  /// Values of the event itself: times in microseconds, whole or as they are written ("458.066").
  void take_time(std::string_view key, std::int64_t us);
  void take_time(std::string_view key, std::string_view us);
  void take_text(std::string_view key, std::string& value);
  /// Values of its arguments; of those in lists, under the list's key.
  void take_argument(std::string_view key, std::int64_t value);
  void take_argument_text(std::string_view key, const std::string& value);
  /// A list of arguments begins or ends at a depth, 1 for the outermost.
  void open_list(std::string_view key, int depth);
  void close_list(std::string_view key, int depth);
  /// Puts what matters into the trace.
  void finish(RankTrace& trace);

 private:
  void finish_device(RankTrace& trace, TraceSpan span);
  void finish_host(RankTrace& trace, TraceSpan span);
  [[nodiscard]] TraceCall call(RankTrace& trace) const;

  std::string phase_, category_, name_, thread_name_;
  std::optional<std::int64_t> begin_ns_, length_ns_;
  std::int64_t thread_ = 0, external_ = -1, correlation_ = -1;
  // of a collective, where the profiler wrote it down
  std::string collective_, type_, group_, group_text_, group_ranks_;
  std::int64_t in_ = -1, out_ = -1, group_size_ = 0, source_ = -1, target_ = -1;
  // of the tensors put in: the first argument's
  std::string input_type_;
  std::int64_t product_ = 0, elements_ = 0;
  bool first_input_done_ = false;
};

}  // namespace busbar
