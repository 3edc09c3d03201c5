#include "workload_helpers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workloads/trace_io.h"
#include "workloads/workload_io.h"

namespace busbar::test {

namespace {

std::string text_of(const std::vector<RankRange>& ranges) {
  std::string text;
  for (const RankRange& range : ranges)
    text += fmt::format("({} {} {})", range.first, range.count, range.stride);
  return text;
}

std::string text_of(const KernelWork& work) {
  std::string text = fmt::format("{} {} {}", work.flops, work.bytes, name_of(work.type));
  if (work.duration) text += fmt::format(" duration {}", work.duration->ps());
  if (work.matmul) text += fmt::format(" matmul {} {} {}", work.matmul->m, work.matmul->n, work.matmul->k);
  if (const auto& a = work.attention)
    text += fmt::format(" attention {} {} {} {} {} {} {} {} {} {}", a->batch, a->sequence, a->heads,
                        a->kv_heads, a->head_dim, a->causal, a->backward, a->keys, a->value_dim, a->window);
  return text;
}

std::string text_of(const std::vector<Transfer>& transfers) {
  std::string text;
  for (const Transfer& t : transfers)
    text += fmt::format("({} {} {})", t.is_send, t.peer_slot, t.bytes.count());
  return text;
}

std::string text_of(const Op& op) {
  return fmt::format(
      "{} kind {} stream {} after {} work [{}] {} slot {} bytes {} splits {} {} {} root {} transfers {} {} "
      "{} {} {}",
      op.id, static_cast<int>(op.kind), op.stream, op.after, text_of(*op.work), name_of(op.collective),
      op.group_slot, op.bytes.count(), op.splits ? static_cast<std::int64_t>(*op.splits) : -1,
      name_of(op.type), name_of(op.reduction), op.root ? static_cast<std::int64_t>(*op.root) : -1,
      text_of(op.transfers), name_of(op.phase), op.layer, op.microbatch, op.group_kind);
}

std::string text_of(const MemoryUse& use) {
  return fmt::format("{} {} {} {} {} {}", use.parameters.count(), use.gradients.count(),
                     use.optimizer.count(), use.activations.count(), use.buffers.count(),
                     use.unattributed.count());
}

std::string text_of(const Program& program) {
  std::string text = fmt::format("program {} streams {} groups {} peers {} memory {}\n", program.name,
                                 program.streams, program.group_slots, program.peer_slots,
                                 program.memory ? text_of(*program.memory) : "none");
  for (const Op& op : program.ops) text += text_of(op) + "\n";
  return text;
}

std::string text_of(const Binding& binding) {
  std::string text = fmt::format("binding {} program {}", text_of(binding.ranks), binding.program);
  for (const GroupId group : binding.groups) text += fmt::format(" group {}", group.value());
  for (const Peer& peer : binding.peers) text += fmt::format(" peer {} {}", peer.relative, peer.value);
  return text + "\n";
}

}  // namespace

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_EQ(error.exit_code(), 2) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    return line;
  }
  ADD_FAILURE() << "no error";
  return "";
}

StepTrace trace_of(std::string text) { return read_trace(JsonDocument::parse(std::move(text), "t.json")); }
Workload workload_of(std::string text) {
  return read_workload(JsonDocument::parse(std::move(text), "w.json"));
}

std::string all_fields(const StepTrace& trace) {
  std::string text =
      fmt::format("{} ranks {} repeat {} tokens {} flops {}\n{}\n{}\n", trace.name, trace.ranks, trace.repeat,
                  trace.tokens, trace.model_flops, trace.assumptions, trace.staggered);
  for (const Remark& remark : trace.warnings)
    text += fmt::format("warning {} {}\n", remark.code, remark.text);
  for (const Slowdown& slow : trace.slowdowns)
    text += fmt::format("slow {} {}\n", text_of(slow.ranks), slow.factor);
  for (const Group& group : trace.groups)
    text += fmt::format("group {} {}\n", group.name, text_of(group.members));
  for (const SplitMatrix& matrix : trace.matrices) {
    text += fmt::format("matrix {} {}", matrix.name, matrix.members);
    for (const Bytes bytes : matrix.bytes) text += fmt::format(" {}", bytes.count());
    text += "\n";
  }
  for (const Program& program : trace.programs) text += text_of(program);
  for (const Binding& binding : trace.bindings) text += text_of(binding);
  return text;
}

std::size_t index_of(const Program& program, std::string_view id) {
  const auto found =
      std::find_if(program.ops.begin(), program.ops.end(), [&](const Op& op) { return op.id == id; });
  if (found == program.ops.end()) throw std::out_of_range(std::string(id));
  return static_cast<std::size_t>(found - program.ops.begin());
}

const Op& op_called(const Program& program, std::string_view id) {
  return program.ops[index_of(program, id)];
}

std::vector<std::string> ids_on(const Program& program, std::string_view stream) {
  std::vector<std::string> ids;
  for (const Op& op : program.ops)
    if (program.streams[op.stream] == stream) ids.push_back(op.id);
  return ids;
}

std::vector<std::string> waits_of(const Program& program, std::string_view id) {
  std::vector<std::string> ids;
  for (const std::uint32_t before : op_called(program, id).after) ids.push_back(program.ops[before].id);
  return ids;
}

std::vector<Span> replay(const Program& program, const std::function<std::int64_t(const Op&)>& length) {
  std::vector<std::int64_t> stream_end(program.streams.size(), 0);
  std::vector<Span> spans;
  for (const Op& op : program.ops) {
    std::int64_t start = stream_end[op.stream];
    for (const std::uint32_t before : op.after) start = std::max(start, spans.at(before).end);
    spans.push_back({start, start + length(op)});
    stream_end[op.stream] = spans.back().end;
  }
  return spans;
}

}  // namespace busbar::test
