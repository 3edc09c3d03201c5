#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "workloads/rank_set.h"
#include "workloads/trace_io.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

/// Names come from input that was valid UTF-8, or from programs; a stray byte must not stop the writing.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json rank_set_json(const std::vector<RankRange>& ranges) {
  if (ranges.size() == 1 && ranges.front().count > 1) return to_text(ranges.front());
  Json list = Json::array();
  for (const RankRange& range : ranges)
    list.push_back(range.count == 1 ? Json(range.first) : Json(to_text(range)));
  return list;
}

Json attention_json(const AttentionShape& shape) {
  Json json = {{"batch", shape.batch},
               {"sequence", shape.sequence},
               {"heads", shape.heads},
               {"kv_heads", shape.kv_heads},
               {"head_dim", shape.head_dim},
               {"causal", shape.causal},
               {"pass", shape.backward ? "backward" : "forward"}};
  if (shape.keys != 0) json["keys"] = shape.keys;
  if (shape.value_dim != 0) json["value_dim"] = shape.value_dim;
  if (shape.window != 0) json["window"] = shape.window;
  if (shape.scores_kept) json["scores_kept"] = true;
  return json;
}

/// A shape stands for its flops and bytes: the reader resolves it again.
void put_work(Json& json, const KernelWork& work) {
  json["type"] = name_of(work.type);
  if (work.duration) json["duration"] = to_exact_text(*work.duration);
  if (work.matmul) json["matmul"] = {work.matmul->m, work.matmul->n, work.matmul->k};
  if (work.matmul && work.matmul->count > 1) json["matmul"].push_back(work.matmul->count);
  if (work.attention) json["attention"] = attention_json(*work.attention);
  if (work.share != 1) json["share"] = work.share;
  if (work.matmul || work.attention) return;
  if (work.flops != 0 || (!work.duration && work.bytes == 0)) json["flops"] = work.flops;
  if (work.bytes == 0) return;
  BUSBAR_CHECK(work.bytes == std::floor(work.bytes) && work.bytes < 0x1p63);
  json["bytes"] = to_exact_text(Bytes(static_cast<std::int64_t>(work.bytes)));
}

void put_collective(Json& json, const StepTrace& trace, const Program& program, const Op& op) {
  json["group"] = program.group_slots[op.group_slot];
  if (op.collective == CollectiveKind::kBarrier) return;
  if (op.splits) {
    json["splits"] = trace.matrices[*op.splits].name;
  } else {
    json["bytes"] = to_exact_text(op.bytes);
  }
  json["type"] = name_of(op.type);
  if (is_reducing(op.collective)) json["reduction"] = name_of(op.reduction);
  if (op.root) json["root"] = *op.root;
}

void put_transfer(Json& json, const Program& program, const Transfer& transfer) {
  json["op"] = transfer.is_send ? "send" : "recv";
  json[transfer.is_send ? "to" : "from"] = program.peer_slots[transfer.peer_slot];
  json["bytes"] = to_exact_text(transfer.bytes);
}

Json batch_json(const Program& program, const Op& op) {
  Json list = Json::array();
  for (const Transfer& transfer : op.transfers)
    put_transfer(list.emplace_back(Json::object()), program, transfer);
  return list;
}

void put_kind(Json& json, const StepTrace& trace, const Program& program, const Op& op) {
  switch (op.kind) {
    case OpKind::kCompute:
      put_work(json, *op.work);
      return;
    case OpKind::kHost:
      json["duration"] = to_exact_text(*op.work->duration);
      return;
    case OpKind::kCollective:
      put_collective(json, trace, program, op);
      return;
    case OpKind::kSend:
    case OpKind::kRecv:
      put_transfer(json, program, op.transfers.front());
      return;
    case OpKind::kBatch:
      json["ops"] = batch_json(program, op);
      return;
  }
}

std::string_view op_name(const Op& op) {
  switch (op.kind) {
    case OpKind::kCompute:
      return "compute";
    case OpKind::kHost:
      return "host";
    case OpKind::kCollective:
      return name_of(op.collective);
    case OpKind::kSend:
      return "send";
    case OpKind::kRecv:
      return "recv";
    case OpKind::kBatch:
      return "batch";
  }
  BUSBAR_CHECK(false);
  return "";
}

void put_labels(Json& json, const Op& op) {
  if (op.phase != Phase::kNone) json["phase"] = name_of(op.phase);
  if (op.layer >= 0) json["layer"] = op.layer;
  if (op.microbatch >= 0) json["microbatch"] = op.microbatch;
  if (!op.group_kind.empty()) json["kind"] = op.group_kind;
}

std::string op_text(const StepTrace& trace, const Program& program, const Op& op) {
  Json json = {{"id", op.id}, {"op", op_name(op)}, {"stream", program.streams[op.stream]}};
  put_kind(json, trace, program, op);
  for (const std::uint32_t before : op.after) json["after"].push_back(program.ops[before].id);
  put_labels(json, op);
  return text_of(json);
}

Json memory_json(const MemoryUse& use) {
  if (use.unattributed != Bytes()) return {{"total", to_exact_text(use.total())}};
  Json json = {{"parameters", to_exact_text(use.parameters)},
               {"gradients", to_exact_text(use.gradients)},
               {"optimizer", to_exact_text(use.optimizer)},
               {"activations", to_exact_text(use.activations)},
               {"buffers", to_exact_text(use.buffers)}};
  if (use.activations_without_recompute)
    json["activations_without_recompute"] = to_exact_text(*use.activations_without_recompute);
  return json;
}

Json remarks_json(const std::vector<Remark>& remarks) {
  Json json = Json::array();
  for (const Remark& remark : remarks) json.push_back({{"code", remark.code}, {"text", remark.text}});
  return json;
}

Json slowdowns_json(const std::vector<Slowdown>& slowdowns) {
  Json json = Json::array();
  for (const Slowdown& slowdown : slowdowns)
    json.push_back({{"ranks", rank_set_json(slowdown.ranks)}, {"factor", slowdown.factor}});
  return json;
}

Json peer_json(const Peer& peer) {
  return peer.relative ? Json(fmt::format("{:+}", peer.value)) : Json(peer.value);
}

std::string binding_text(const StepTrace& trace, const Binding& binding) {
  const Program& program = trace.programs[binding.program];
  Json json = {{"ranks", rank_set_json(binding.ranks)}, {"program", program.name}};
  for (std::size_t slot = 0; slot < binding.groups.size(); ++slot)
    json["groups"][program.group_slots[slot]] = trace.groups[binding.groups[slot].index()].name;
  for (std::size_t slot = 0; slot < binding.peers.size(); ++slot)
    json["peers"][program.peer_slots[slot]] = peer_json(binding.peers[slot]);
  return text_of(json);
}

std::string matrix_text(const SplitMatrix& matrix) {
  Json rows = Json::array();
  for (std::uint32_t a = 0; a < matrix.members; ++a) {
    Json row = Json::array();
    for (std::uint32_t b = 0; b < matrix.members; ++b) row.push_back(to_exact_text(matrix.at(a, b)));
    rows.push_back(std::move(row));
  }
  return fmt::format("{}: {}", text_of(matrix.name), text_of(rows));
}

/// "open item, <newline> item close", items indented by `indent`.
std::string lines(const std::vector<std::string>& items, std::string_view brackets, int indent) {
  const std::string separator = fmt::format(",\n{:{}}", "", indent);
  return fmt::format("{}\n{:{}}{}{}", brackets[0], "", indent, fmt::join(items, separator), brackets[1]);
}

std::string program_text(const StepTrace& trace, const Program& program) {
  std::vector<std::string> ops;
  for (const Op& op : program.ops) ops.push_back(op_text(trace, program, op));
  const std::string memory =
      program.memory ? fmt::format("\"memory\": {}, ", text_of(memory_json(*program.memory))) : "";
  return fmt::format("{}: {{{}\"ops\": {}}}", text_of(program.name), memory, lines(ops, "[]", 6));
}

std::string groups_text(const StepTrace& trace) {
  std::vector<std::string> groups;
  for (const Group& group : trace.groups)
    groups.push_back(fmt::format("{}: {}", text_of(group.name), text_of(rank_set_json(group.members))));
  return lines(groups, "{}", 4);
}

}  // namespace

std::string write_trace(const StepTrace& trace) {
  std::vector<std::string> programs, bindings, matrices;
  for (const SplitMatrix& matrix : trace.matrices) matrices.push_back(matrix_text(matrix));
  for (const Program& program : trace.programs) programs.push_back(program_text(trace, program));
  for (const Binding& binding : trace.bindings) bindings.push_back(binding_text(trace, binding));
  const auto member = [](const char* key, const std::string& value) {
    return fmt::format("\"{}\": {}", key, value);
  };
  std::vector<std::string> members = {
      member("schema", "\"busbar.trace/1\""),
      member("name", text_of(trace.name)),
      member("tokens", text_of(trace.tokens)),
      member("model_flops", text_of(trace.model_flops)),
      member("groups", groups_text(trace)),
      member("programs", lines(programs, "{}", 4)),
      member("bindings", lines(bindings, "[]", 4)),
      member("repeat", text_of(trace.repeat)),
      member("assumptions", text_of(trace.assumptions)),
      member("warnings", text_of(remarks_json(trace.warnings))),
  };
  if (!trace.slowdowns.empty())
    members.push_back(member("slowdowns", text_of(slowdowns_json(trace.slowdowns))));
  if (trace.staggered) members.push_back(member("staggered", "true"));
  if (trace.kernel_share)
    members.insert(members.begin() + 4, member("kernel_share", text_of(*trace.kernel_share)));
  if (!trace.kernel_shares.empty())
    members.insert(members.begin() + 4, member("kernel_shares", Json(trace.kernel_shares).dump()));
  if (trace.attention_share != 1)
    members.insert(members.begin() + 4, member("attention_share", text_of(trace.attention_share)));
  if (!trace.attention_shares.empty())
    members.insert(members.begin() + 4, member("attention_shares", Json(trace.attention_shares).dump()));
  if (!matrices.empty()) members.insert(members.begin() + 5, member("matrices", lines(matrices, "{}", 4)));
  return lines(members, "{}", 2) + "\n";
}

}  // namespace busbar
