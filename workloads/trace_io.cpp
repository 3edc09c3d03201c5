#include "workloads/trace_io.h"

#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "sim/base/error.h"
#include "workloads/rank_set.h"
#include "workloads/trace_check.h"
#include "workloads/trace_program_io.h"

namespace busbar {

namespace {

constexpr std::string_view kSchema = "busbar.trace/1";
constexpr std::array<std::string_view, 17> kKeys = {
    "schema",    "name",         "tokens",        "model_flops",     "groups",
    "matrices",  "programs",     "bindings",      "repeat",          "assumptions",
    "warnings",  "kernel_share", "kernel_shares", "attention_share", "attention_shares",
    "slowdowns", "staggered"};
constexpr double kMaxSlowdown = 1000;
constexpr std::size_t kMaxSplitMembers = 4096;
constexpr std::int64_t kMaxRepeat = 1'000'000;
constexpr double kMaxTokens = 1e18;
constexpr double kMaxModelFlops = 1e36;

/// Reads a document part by part; names of groups and programs resolve through their indices.
class TraceReader {
 public:
  explicit TraceReader(const JsonDocument& document) : root_(document.root()) {
    trace_.name = document.name();
  }
  StepTrace read();

 private:
  void read_header();
  void read_matrices(const JsonValue& matrices);
  void read_groups(const JsonValue& groups);
  void read_programs(const JsonValue& programs);
  void read_binding(const JsonValue& value);
  void bind_groups(const Program& program, const JsonValue& value, Binding& binding);
  void bind_peers(const Program& program, const JsonValue& value, Binding& binding);

  JsonValue root_;
  StepTrace trace_;
  NameIndex groups_, programs_, matrices_;
};

void check_schema(const JsonValue& root) {
  const JsonValue schema = root.at("schema");
  if (schema.string() != kSchema) schema.fail(fmt::format("\"{}\"", kSchema));
}

std::vector<std::string> read_sentences(const std::optional<JsonValue>& value) {
  std::vector<std::string> sentences;
  if (value)
    for (const JsonValue& sentence : value->items()) sentences.push_back(sentence.string());
  return sentences;
}

/// A sentence alone, or with its code.
std::vector<Remark> read_remarks(const std::optional<JsonValue>& value) {
  std::vector<Remark> remarks;
  if (!value) return remarks;
  for (const JsonValue& remark : value->items()) {
    if (remark.is_string()) {
      remarks.push_back({"workload", remark.string()});
      continue;
    }
    remark.only_keys({"code", "text"});
    remarks.push_back({remark.at("code").string(), remark.at("text").string()});
  }
  return remarks;
}

// By GPU generation.
std::map<std::string, double> read_shares(const std::optional<JsonValue>& value) {
  std::map<std::string, double> shares;
  if (!value) return shares;
  for (const std::string& generation : value->keys())
    shares[generation] = value->at(generation).number(0.01, 1);
  return shares;
}

std::vector<Slowdown> read_slowdowns(const std::optional<JsonValue>& value) {
  std::vector<Slowdown> slowdowns;
  if (!value) return slowdowns;
  for (const JsonValue& slowdown : value->items()) {
    slowdown.only_keys({"ranks", "factor"});
    slowdowns.push_back(
        {read_rank_set(slowdown.at("ranks")), slowdown.at("factor").number(1 / kMaxSlowdown, kMaxSlowdown)});
  }
  return slowdowns;
}

/// A slot that a binding names but its program lacks is a misspelling.
void only_slots(const std::vector<std::string>& slots, const std::optional<JsonValue>& bound) {
  if (!bound) return;
  const std::unordered_set<std::string_view> known(slots.begin(), slots.end());
  for (const std::string& key : bound->keys())
    if (!known.contains(key)) bound->only_keys(std::vector<std::string_view>(slots.begin(), slots.end()));
}

Peer read_peer(const JsonValue& value) {
  std::optional<Peer> peer;
  if (value.is_number())
    peer = Peer{.relative = false, .value = value.integer(-std::int64_t{kMaxRanks}, kMaxRanks - 1)};
  else if (value.is_string() && value.string().find_first_of("+-") == 0)
    peer = parse_peer(value.string());
  // A bare -1 could be meant either way.
  if (!peer || (!peer->relative && peer->value < 0)) value.fail("a peer as \"+1\", \"-1\" or a rank");
  return *peer;
}

void TraceReader::read_header() {
  if (const auto name = root_.find("name")) trace_.name = name->string();
  if (const auto tokens = root_.find("tokens")) trace_.tokens = tokens->number(0, kMaxTokens);
  if (const auto flops = root_.find("model_flops")) trace_.model_flops = flops->number(0, kMaxModelFlops);
  if (const auto share = root_.find("kernel_share")) trace_.kernel_share = share->number(0.01, 1);
  if (const auto share = root_.find("attention_share")) trace_.attention_share = share->number(0.01, 1);
  trace_.kernel_shares = read_shares(root_.find("kernel_shares"));
  trace_.attention_shares = read_shares(root_.find("attention_shares"));
  if (const auto repeat = root_.find("repeat")) trace_.repeat = repeat->integer(1, kMaxRepeat);
  if (const auto matrices = root_.find("matrices")) read_matrices(*matrices);
  trace_.assumptions = read_sentences(root_.find("assumptions"));
  trace_.warnings = read_remarks(root_.find("warnings"));
  trace_.slowdowns = read_slowdowns(root_.find("slowdowns"));
  if (const auto staggered = root_.find("staggered")) trace_.staggered = staggered->boolean();
}

void TraceReader::read_matrices(const JsonValue& matrices) {
  for (const std::string& name : matrices.keys()) {
    matrices_.intern(name);
    const JsonValue value = matrices.at(name);
    const std::vector<JsonValue> rows = value.items();
    SplitMatrix matrix{.name = name, .members = static_cast<std::uint32_t>(rows.size()), .bytes = {}};
    if (rows.empty() || rows.size() > kMaxSplitMembers)
      value.fail(fmt::format("1 to {} rows, one per member", kMaxSplitMembers));
    for (const JsonValue& row : rows) {
      const std::vector<JsonValue> cells = row.items();
      if (cells.size() != rows.size()) row.fail(fmt::format("{} sizes, one per member", rows.size()));
      for (const JsonValue& cell : cells) matrix.bytes.push_back(cell.bytes());
    }
    trace_.matrices.push_back(std::move(matrix));
  }
}

void TraceReader::read_groups(const JsonValue& groups) {
  for (const std::string& name : groups.keys()) {
    groups_.intern(name);
    trace_.groups.push_back({name, read_rank_set(groups.at(name))});
  }
}

void TraceReader::read_programs(const JsonValue& programs) {
  for (const std::string& name : programs.keys()) {
    programs_.intern(name);
    Program program = read_program(name, programs.at(name), matrices_);
    for (Op& op : program.ops)
      if (op.splits) op.bytes = trace_.matrices[*op.splits].size();
    trace_.programs.push_back(std::move(program));
  }
}

void TraceReader::bind_groups(const Program& program, const JsonValue& value, Binding& binding) {
  const auto bound = value.find("groups");
  only_slots(program.group_slots, bound);
  for (const std::string& slot : program.group_slots) {
    const auto group = bound ? bound->find(slot) : std::nullopt;
    if (!group)
      value.fail_because(
          fmt::format("program {} uses a group {} that is not bound", quoted(program.name), quoted(slot)));
    binding.groups.emplace_back(groups_.lookup(*group, "the name of a group"));
  }
}

void TraceReader::bind_peers(const Program& program, const JsonValue& value, Binding& binding) {
  const auto bound = value.find("peers");
  only_slots(program.peer_slots, bound);
  for (const std::string& slot : program.peer_slots) {
    const auto given = bound ? bound->find(slot) : std::nullopt;
    const auto peer = given ? read_peer(*given) : parse_peer(slot);
    if (!peer)
      value.fail_because(
          fmt::format("program {} uses a peer {} that is not bound", quoted(program.name), quoted(slot)));
    binding.peers.push_back(*peer);
  }
}

void TraceReader::read_binding(const JsonValue& value) {
  value.only_keys({"ranks", "program", "groups", "peers"});
  Binding binding;
  binding.ranks = read_rank_set(value.at("ranks"));
  binding.program = programs_.lookup(value.at("program"), "the name of a program");
  const Program& program = trace_.programs[binding.program];
  bind_groups(program, value, binding);
  bind_peers(program, value, binding);
  trace_.bindings.push_back(std::move(binding));
}

StepTrace TraceReader::read() {
  root_.only_keys(trace_keys());
  check_schema(root_);
  read_header();
  if (const auto groups = root_.find("groups")) read_groups(*groups);
  read_programs(root_.at("programs"));
  for (const JsonValue& binding : root_.at("bindings").items()) read_binding(binding);
  check_coverage(trace_, root_);
  check_slowdowns(trace_, root_);
  check_trace(trace_, root_);
  return std::move(trace_);
}

}  // namespace

std::span<const std::string_view> trace_keys() { return kKeys; }

StepTrace read_trace(const JsonDocument& document) { return TraceReader(document).read(); }

}  // namespace busbar
