#include "workloads/trace_program_io.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/kernel_work_io.h"

namespace busbar {

namespace {

using Keys = std::vector<std::string_view>;

/// Reads the operations of one program, in order.
class ProgramReader {
 public:
  ProgramReader(std::string name, const NameIndex& matrices) : matrices_(matrices) {
    program_.name = std::move(name);
  }
  void read_op(const JsonValue& value);
  [[nodiscard]] Program take();

 private:
  void read_common(const JsonValue& value, Op& op);
  void read_after(const JsonValue& value, Op& op);
  void read_collective(const JsonValue& value, Op& op);
  void read_compute(const JsonValue& value, Op& op);
  void read_host(const JsonValue& value, Op& op);
  void read_single_transfer(const JsonValue& value, Op& op);
  void read_batch(const JsonValue& value, Op& op);
  Transfer read_transfer(const JsonValue& value);

  const NameIndex& matrices_;
  Program program_;
  NameIndex ids_, streams_, groups_, peers_;
};

constexpr std::string_view kPhases[] = {"forward", "backward", "optimizer"};

Phase read_phase(const JsonValue& value) {
  const std::string name = value.string();
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer})
    if (name == name_of(phase)) return phase;
  value.fail(one_of(kPhases), did_you_mean(name, kPhases));
}

std::int32_t read_label(const std::optional<JsonValue>& value) {
  if (!value) return -1;
  return static_cast<std::int32_t>(value->integer(0, std::numeric_limits<std::int32_t>::max()));
}

Keys with_common_keys(const Keys& own) {
  Keys keys = {"id", "op", "stream", "after", "phase", "layer", "microbatch"};
  keys.insert(keys.end(), own.begin(), own.end());
  return keys;
}

Reduction read_reduction(const JsonValue& value) {
  const std::string name = value.string();
  const std::optional<Reduction> reduction = parse_reduction(name);
  if (!reduction) value.fail(one_of(reduction_names()), did_you_mean(name, reduction_names()));
  return *reduction;
}

[[noreturn]] void fail_unknown_op(const JsonValue& value) {
  Keys names = {"compute", "host", "send", "recv", "batch"};
  const auto collectives = collective_names();
  names.insert(names.end(), collectives.begin(), collectives.end());
  value.fail(one_of(names), did_you_mean(value.string(), names));
}

void refuse_uneven(const JsonValue& value) {
  for (const char* key : {"send_bytes", "recv_bytes"})
    if (value.find(key))
      value.fail_because(fmt::format("'{}' is not read yet; name a matrix in 'splits'", key));
}

void ProgramReader::read_after(const JsonValue& value, Op& op) {
  for (const JsonValue& name : value.items())
    op.after.push_back(ids_.lookup(name, "the id of an earlier operation"));
}

void ProgramReader::read_common(const JsonValue& value, Op& op) {
  op.stream = streams_.intern(value.at("stream").string());
  if (const auto after = value.find("after")) read_after(*after, op);
  if (const auto phase = value.find("phase")) op.phase = read_phase(*phase);
  op.layer = read_label(value.find("layer"));
  op.microbatch = read_label(value.find("microbatch"));
  if (const auto kind = value.find("kind")) op.group_kind = kind->string();
  // Last, so that `after` cannot name the operation itself.
  const JsonValue id = value.at("id");
  op.id = id.string();
  if (op.id.empty()) id.fail("a name");
  if (ids_.find(op.id))
    id.fail_because(fmt::format("{} is the id of an earlier operation too", quoted(op.id)));
  ids_.intern(op.id);
}

void ProgramReader::read_compute(const JsonValue& value, Op& op) {
  value.only_keys(with_common_keys(Keys(kernel_work_keys().begin(), kernel_work_keys().end())));
  op.kind = OpKind::kCompute;
  op.work = read_kernel_work(value);
}

void ProgramReader::read_host(const JsonValue& value, Op& op) {
  value.only_keys(with_common_keys({"duration"}));
  op.kind = OpKind::kHost;
  op.work = KernelWork{.duration = value.at("duration").time()};
}

void ProgramReader::read_collective(const JsonValue& value, Op& op) {
  refuse_uneven(value);
  Keys keys = with_common_keys({"group", "kind"});
  const bool moves_data = op.collective != CollectiveKind::kBarrier;
  const auto splits = op.collective == CollectiveKind::kAllToAll ? value.find("splits") : std::nullopt;
  if (moves_data) keys.insert(keys.end(), {splits ? "splits" : "bytes", "type"});
  if (is_reducing(op.collective)) keys.push_back("reduction");
  if (is_rooted(op.collective)) keys.push_back("root");
  value.only_keys(keys);
  op.kind = OpKind::kCollective;
  op.group_slot = groups_.intern(value.at("group").string());
  if (splits) op.splits = matrices_.lookup(*splits, "the name of a matrix");
  if (moves_data && !splits) op.bytes = value.at("bytes").bytes();
  if (const auto type = value.find("type")) op.type = read_data_type(*type);
  if (const auto reduction = value.find("reduction")) op.reduction = read_reduction(*reduction);
  if (!is_rooted(op.collective)) return;
  const auto root = value.find("root");
  op.root = root ? static_cast<std::uint32_t>(root->integer(0, UINT32_MAX)) : 0;
}

Transfer ProgramReader::read_transfer(const JsonValue& value) {
  Transfer transfer;
  transfer.is_send = value.at("op").string() == "send";
  const JsonValue peer = value.at(transfer.is_send ? "to" : "from");
  const std::string slot = peer.is_number() ? std::to_string(peer.integer(0, UINT32_MAX)) : peer.string();
  transfer.peer_slot = peers_.intern(slot);
  transfer.bytes = value.at("bytes").bytes();
  return transfer;
}

void ProgramReader::read_single_transfer(const JsonValue& value, Op& op) {
  const bool is_send = value.at("op").string() == "send";
  value.only_keys(with_common_keys({is_send ? "to" : "from", "bytes", "kind"}));
  op.kind = is_send ? OpKind::kSend : OpKind::kRecv;
  op.transfers = {read_transfer(value)};
}

void ProgramReader::read_batch(const JsonValue& value, Op& op) {
  value.only_keys(with_common_keys({"ops", "kind"}));
  op.kind = OpKind::kBatch;
  for (const JsonValue& item : value.at("ops").items()) {
    const std::string name = item.at("op").string();
    if (name != "send" && name != "recv") item.at("op").fail("\"send\" or \"recv\" inside a batch");
    item.only_keys({"op", name == "send" ? "to" : "from", "bytes"});
    op.transfers.push_back(read_transfer(item));
  }
  if (op.transfers.empty()) value.at("ops").fail("at least one send or recv");
}

void ProgramReader::read_op(const JsonValue& value) {
  const JsonValue kind = value.at("op");
  const std::string name = kind.string();
  Op op;
  if (name == "compute") {
    read_compute(value, op);
  } else if (name == "host") {
    read_host(value, op);
  } else if (name == "send" || name == "recv") {
    read_single_transfer(value, op);
  } else if (name == "batch") {
    read_batch(value, op);
  } else {
    const std::optional<CollectiveKind> collective = parse_collective(name);
    if (!collective) fail_unknown_op(kind);
    op.collective = *collective;
    read_collective(value, op);
  }
  read_common(value, op);
  program_.ops.push_back(std::move(op));
}

Program ProgramReader::take() {
  program_.streams = streams_.names();
  program_.group_slots = groups_.names();
  program_.peer_slots = peers_.names();
  return std::move(program_);
}

MemoryUse read_memory(const JsonValue& value) {
  value.only_keys({"total", "parameters", "gradients", "optimizer", "activations", "buffers",
                   "activations_without_recompute"});
  MemoryUse use;
  if (const auto total = value.find("total")) {
    if (value.keys().size() > 1) value.fail_because("'total' excludes the parts that it sums");
    use.unattributed = total->bytes();
    return use;
  }
  std::int64_t sum = 0;
  const auto read = [&](std::string_view key) {
    const auto part = value.find(key);
    const Bytes bytes = part ? part->bytes() : Bytes();
    sum = checked_add(sum, bytes.count(), "memory");
    return bytes;
  };
  use.parameters = read("parameters");
  use.gradients = read("gradients");
  use.optimizer = read("optimizer");
  use.activations = read("activations");
  use.buffers = read("buffers");
  if (const auto without = value.find("activations_without_recompute"))
    use.activations_without_recompute = without->bytes();
  return use;
}

}  // namespace

std::uint32_t NameIndex::intern(std::string_view name) {
  if (const auto known = find(name)) return *known;
  const auto next = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  index_.emplace(names_.back(), next);
  return next;
}

std::optional<std::uint32_t> NameIndex::find(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t NameIndex::lookup(const JsonValue& value, std::string_view what) const {
  const std::string name = value.string();
  if (const auto known = find(name)) return *known;
  const std::vector<std::string_view> candidates(names_.begin(), names_.end());
  value.fail(std::string(what), did_you_mean(name, candidates));
}

std::optional<Peer> parse_peer(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  const bool relative = negative || text.front() == '+';
  if (relative) text.remove_prefix(1);
  std::uint32_t distance = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), distance);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const std::int64_t value = distance;
  return Peer{relative, negative ? -value : value};
}

Program read_program(std::string name, const JsonValue& value, const NameIndex& matrices) {
  value.only_keys({"memory", "ops"});
  ProgramReader reader(std::move(name), matrices);
  for (const JsonValue& op : value.at("ops").items()) reader.read_op(op);
  Program program = reader.take();
  if (const auto memory = value.find("memory")) program.memory = read_memory(*memory);
  return program;
}

}  // namespace busbar
