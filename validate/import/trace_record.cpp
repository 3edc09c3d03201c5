#include "validate/import/trace_record.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "calibrate/import/text_scan.h"
#include "sim/base/rank_range.h"

namespace busbar {

namespace {

constexpr std::string_view kDims = "Input Dims", kTypes = "Input type";
constexpr std::string_view kStep = "ProfilerStep#";
constexpr std::int64_t kMostElements = std::int64_t{1} << 50;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() / 2000;

/// Nanoseconds of "4458676416788.066": exactly, where a double has lost the last digits.
std::optional<std::int64_t> nanoseconds(std::string_view us) {
  const std::size_t point = us.find('.');
  const auto whole = parse_whole(us.substr(0, point));
  if (point == std::string_view::npos || !whole || us.find_first_of("eE") != std::string_view::npos) {
    const auto value = parse_decimal(us);
    if (!value || std::abs(*value) > static_cast<double>(kLargest)) return std::nullopt;
    return std::llround(*value * 1000);
  }
  if (*whole > kLargest || *whole < -kLargest) return std::nullopt;
  std::string digits(us.substr(point + 1, 3));
  digits.resize(3, '0');
  const std::int64_t part = parse_whole(digits).value_or(0);
  return *whole * 1000 + (us.starts_with('-') ? -part : part);
}

// Both as PyTorch's metadata and as its operators spell them. Source: pytorch, c10/core/ScalarType.h and
// caffe2/utils/TypeMeta names.
std::int64_t bytes_of(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 27> kBytes = {{
      {"Float", 4},
      {"float", 4},
      {"BFloat16", 2},
      {"c10::BFloat16", 2},
      {"Half", 2},
      {"c10::Half", 2},
      {"Double", 8},
      {"double", 8},
      {"Int", 4},
      {"int", 4},
      {"Long", 8},
      {"long int", 8},
      {"long", 8},
      {"Short", 2},
      {"short int", 2},
      {"Char", 1},
      {"signed char", 1},
      {"Byte", 1},
      {"unsigned char", 1},
      {"Bool", 1},
      {"bool", 1},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"c10::Float8_e4m3fn", 1},
      {"c10::Float8_e5m2", 1},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
  }};
  for (const auto& [name, bytes] : kBytes)
    if (name == type) return bytes;
  return 0;
}

bool is_note(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") ||
         name == "record_param_comms";
}

}  // namespace

void TraceRecord::take_time(std::string_view key, std::int64_t us) {
  if (key == "tid") thread_ = us;
  if (us > kLargest || us < -kLargest) return;
  if (key == "ts") begin_ns_ = us * 1000;
  if (key == "dur") length_ns_ = us * 1000;
}

void TraceRecord::take_time(std::string_view key, std::string_view us) {
  if (key == "ts") begin_ns_ = nanoseconds(us);
  if (key == "dur") length_ns_ = nanoseconds(us);
}

void TraceRecord::take_text(std::string_view key, std::string& value) {
  if (key == "ph")
    phase_.swap(value);
  else if (key == "cat")
    category_ = lower(value);
  else if (key == "name")
    name_.swap(value);
  else if (key == "tid")
    thread_ = static_cast<std::int64_t>(std::hash<std::string>{}(value) >> 1U);
}

void TraceRecord::take_argument(std::string_view key, std::int64_t value) {
  if (key == kDims) {
    if (!first_input_done_) product_ = value < 1 || product_ > kMostElements / value ? 0 : product_ * value;
  } else if (key == "External id")
    external_ = value;
  else if (key == "correlation")
    correlation_ = value;
  else if (key == "In msg nelems")
    in_ = value <= kMostElements ? value : -1;
  else if (key == "Out msg nelems")
    out_ = value <= kMostElements ? value : -1;
  else if (key == "Group size")
    group_size_ = value > 0 && value <= kMaxRanks ? value : 0;
  else if (key == "Src Rank")
    source_ = value;
  else if (key == "Dst Rank")
    target_ = value;
}

void TraceRecord::take_argument_text(std::string_view key, const std::string& value) {
  if (key == kTypes) {
    if (input_type_.empty()) input_type_ = value;
  } else if (key == "Collective name")
    collective_ = value;
  else if (key == "dtype")
    type_ = value;
  else if (key == "Process Group Name")
    group_ = value;
  else if (key == "Process Group Description")
    group_text_ = value;
  else if (key == "Process Group Ranks")
    group_ranks_ = value;
}

void TraceRecord::open_list(std::string_view key, int depth) {
  if (key == kDims && depth > 1) product_ = 1;
}

// [[8, 1024]]: one tensor. [[[8, 4], [2]], []]: a list of two, and something else.
void TraceRecord::close_list(std::string_view key, int depth) {
  if (key != kDims || first_input_done_ || depth < 2) return;
  if (product_ > 1 && elements_ <= kMostElements) elements_ += product_;
  product_ = 0;
  if (depth == 2) first_input_done_ = true;
}

void TraceRecord::finish(RankTrace& trace) {
  ++trace.events;
  if (phase_ != "X" || !begin_ns_ || !length_ns_ || *length_ns_ < 0) return;
  const TraceSpan span{*begin_ns_, *begin_ns_ + *length_ns_};
  if (category_ == "kernel" || category_ == "gpu_memcpy" || category_ == "gpu_memset")
    finish_device(trace, span);
  else
    finish_host(trace, span);
}

void TraceRecord::finish_device(RankTrace& trace, TraceSpan span) {
  if (category_ == "kernel") ++trace.gpu_kernels;
  const bool peer_copy = category_ == "gpu_memcpy" && name_.find("PtoP") != std::string::npos;
  if ((category_ == "kernel" && is_communication_kernel(name_)) || peer_copy) {
    TraceCommunication c{
        .span = span, .call = call(trace), .kernel = 0, .correlation = correlation_, .external = external_};
    if (!c.call.operation)
      c.call.operation = peer_copy ? CollectiveKind::kSendRecv : operation_in_kernel(name_);
    c.kernel = trace.name_index(std::string_view(name_).substr(0, name_.find('(')));
    trace.communications.push_back(c);
    return;
  }
  // Copies from and to the host leave the GPU's kernels alone.
  const bool inside = category_ != "gpu_memcpy" || name_.find("DtoD") != std::string::npos;
  if (inside) trace.kernels.push_back(span);
}

void TraceRecord::finish_host(RankTrace& trace, TraceSpan span) {
  if (category_ == "gpu_user_annotation") return;
  if (name_.starts_with("aten::")) {
    trace.operators.push_back(span);
  } else if (name_.starts_with(kStep)) {
    const auto number = parse_whole(std::string_view(name_).substr(kStep.size()));
    trace.steps.push_back({number.value_or(static_cast<std::int64_t>(trace.steps.size())), span});
  } else if (is_note(name_)) {
    if (name_.starts_with("nccl:")) trace.calls_nccl = true;
    trace.notes.push_back({.span = span, .thread = thread_, .external = external_, .call = call(trace)});
  } else if (correlation_ >= 0 &&
             (category_.starts_with("cuda_") || category_.starts_with("hip_") || category_ == "runtime")) {
    trace.launches.push_back({.correlation = correlation_, .thread = thread_, .at = span.begin});
  }
}

TraceCall TraceRecord::call(RankTrace& trace) const {
  TraceCall call{.ranks = group_size_, .source = source_, .target = target_};
  if (!collective_.empty())
    call.operation = operation_called(collective_);
  else if (is_note(name_))
    call.operation = operation_called(name_);
  if (!group_.empty() || !group_text_.empty()) {
    call.group = trace.name_index(group_text_.empty() || group_text_ == "undefined" ? group_ : group_text_);
    call.members = trace.name_index(group_ + group_ranks_);
  }
  if (const std::int64_t each = bytes_of(type_); each > 0 && (in_ >= 0 || out_ >= 0)) {
    // The full buffer: what a gather puts out, what all others put in.
    call.bytes = each * std::max(in_, out_);
  } else if (const std::int64_t input = bytes_of(input_type_);
             input > 0 && elements_ > 0 && elements_ <= kMostElements) {
    call.bytes = input * elements_;
    call.input_only = true;
  }
  return call;
}

}  // namespace busbar
