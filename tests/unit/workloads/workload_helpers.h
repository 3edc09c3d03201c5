// Shared by the tests of workloads: documents from text, error lines, every field of a trace as text, and a
// replay of one rank's program that knows nothing but order.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar::test {

/// The line that `run` throws; a test failure when it throws none, or more than one line, or another kind
/// than bad input.
std::string error_of(const std::function<void()>& run);

StepTrace trace_of(std::string text);
Workload workload_of(std::string text);

/// A change to one place of a document and a part of the line that it must give.
struct BadInput {
  std::string path, value, message;
};

/// All fields of all parts, one operation a line.
std::string all_fields(const StepTrace& trace);

const Op& op_called(const Program& program, std::string_view id);
std::size_t index_of(const Program& program, std::string_view id);
/// Ids of the operations on a stream, in order.
std::vector<std::string> ids_on(const Program& program, std::string_view stream);
/// Ids that an operation waits for.
std::vector<std::string> waits_of(const Program& program, std::string_view id);

struct Span {
  std::int64_t start = 0, end = 0;
};

/// Start and end of each operation of one rank: streams in order, `after` respected, `length(op)` long each.
std::vector<Span> replay(const Program& program, const std::function<std::int64_t(const Op&)>& length);

}  // namespace busbar::test
