#include "workloads/workload_io.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "sim/base/error.h"
#include "workloads/input_checks.h"
#include "workloads/model_io.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

constexpr std::string_view kSchema = "busbar.workload/1";
constexpr std::array<std::string_view, 15> kKeys = {"schema",    "name",      "model",   "batch",  "parallel",
                                                    "precision", "recompute", "fsdp",    "ddp",    "overlap",
                                                    "optimizer", "moe",       "context", "stages", "jitter"};
constexpr std::array<Refusal, 4> kRefusals = {{
    {"moe", "a mixture of experts"},
    {"context", "context parallelism"},
    {"stages", "pipeline parallelism"},
    {"jitter", "jitter"},
}};
constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

void check_schema(const JsonValue& root) {
  const JsonValue schema = root.at("schema");
  if (schema.string() != kSchema) schema.fail(fmt::format("\"{}\"", kSchema));
}

/// A list of parameters has no tokens unless it says so.
BatchSpec read_batch(const JsonValue& value, bool needs_sequence) {
  value.only_keys({"sequence", "micro", "global"});
  BatchSpec batch;
  const auto sequence = value.find("sequence");
  if (sequence || needs_sequence) batch.sequence = value.at("sequence").integer(1, kMaxCount);
  if (const auto micro = value.find("micro")) batch.micro = micro->integer(1, kMaxCount);
  batch.global = value.at("global").integer(1, kMaxCount);
  return batch;
}

Sharding read_sharding(const JsonValue& value) {
  static constexpr std::array<std::string_view, 6> kNames = {"none",  "zero1", "zero2",
                                                             "zero3", "fsdp",  "hsdp"};
  const std::string_view name = kNames[read_choice(value, kNames)];
  if (name == "none") return Sharding::kNone;
  if (name == "fsdp") return Sharding::kFsdp;
  fail_not_modelled(value, fmt::format("sharding {}", quoted(name)));
}

/// One rank in every direction but dp, in the layout that this leaves.
void refuse_other_parallelism(const JsonValue& value) {
  static constexpr std::array<Refusal, 4> kDegrees = {{
      {"tp", "tensor parallelism"},
      {"pp", "pipeline parallelism"},
      {"cp", "context parallelism"},
      {"ep", "expert parallelism"},
  }};
  static constexpr std::array<Refusal, 2> kSizes = {
      {{"etp", "expert parallelism"}, {"shard_size", "sharding in groups"}}};
  for (const Refusal& degree : kDegrees)
    if (const auto ranks = value.find(degree.key); ranks && ranks->integer(1, kMaxRanks) > 1)
      fail_not_modelled(*ranks, degree.what);
  refuse_keys(value, kSizes);
  require_value(value.find("order"), "tp-cp-dp-pp", "another order of ranks");
  require_flag(value.find("sequence_parallel"), false, "sequence parallelism");
  require_value(value.find("schedule"), "1f1b", "pipeline parallelism");
  if (const auto stages = value.find("virtual_stages"); stages && stages->integer(1, kMaxRanks) > 1)
    fail_not_modelled(*stages, "pipeline parallelism");
}

void read_parallel(const JsonValue& value, Workload& workload) {
  value.only_keys({"tp", "pp", "cp", "ep", "etp", "dp", "sharding", "shard_size", "order",
                   "sequence_parallel", "schedule", "virtual_stages"});
  refuse_other_parallelism(value);
  workload.dp = value.at("dp").integer(1, kMaxRanks);
  if (const auto sharding = value.find("sharding")) workload.sharding = read_sharding(*sharding);
}

DataType read_compute_type(const JsonValue& value) {
  static constexpr std::array<std::string_view, 7> kNames = {"fp32", "tf32",      "bf16", "fp16",
                                                             "fp8",  "fp8-block", "nvfp4"};
  const std::string_view name = kNames[read_choice(value, kNames)];
  const std::optional<DataType> type = parse_data_type(name);
  if (!type) fail_not_modelled(value, fmt::format("computing in {}", name));
  return *type;
}

PrecisionSpec read_precision(const JsonValue& value) {
  value.only_keys({"compute", "parameters", "gradients", "reduce"});
  PrecisionSpec precision;
  if (const auto compute = value.find("compute")) precision.compute = read_compute_type(*compute);
  if (const auto type = value.find("parameters")) precision.parameters = read_storage_type(*type);
  if (const auto type = value.find("gradients")) precision.gradients = read_storage_type(*type);
  precision.reduce = precision.gradients;  // unless the file says otherwise
  if (const auto type = value.find("reduce")) precision.reduce = read_storage_type(*type);
  return precision;
}

FsdpSpec read_fsdp(const JsonValue& value) {
  static constexpr std::array<std::string_view, 2> kWraps = {"block", "root"};
  value.only_keys({"reshard_after_forward", "prefetch", "wrap"});
  FsdpSpec fsdp;
  if (const auto reshard = value.find("reshard_after_forward"))
    fsdp.reshard_after_forward = reshard->boolean();
  if (const auto wrap = value.find("wrap"))
    fsdp.wrap = read_choice(*wrap, kWraps) == 0 ? FsdpWrap::kBlock : FsdpWrap::kRoot;
  const auto prefetch = value.find("prefetch");
  if (!prefetch) return fsdp;
  fsdp.prefetch = prefetch->integer(0, kMaxCount);
  if (fsdp.prefetch > 1) fail_not_modelled(*prefetch, "prefetching more than one block");
  return fsdp;
}

Bytes read_bucket_size(const JsonValue& value) {
  const Bytes size = value.bytes();
  if (size.count() == 0) value.fail("a size above 0 such as \"25 MiB\"");
  return size;
}

DdpSpec read_ddp(const JsonValue& value) {
  value.only_keys({"bucket_cap", "first_bucket"});
  DdpSpec ddp;
  if (const auto cap = value.find("bucket_cap")) ddp.bucket_cap = read_bucket_size(*cap);
  if (const auto first = value.find("first_bucket")) ddp.first_bucket = read_bucket_size(*first);
  return ddp;
}

bool read_overlap(const JsonValue& value) {
  value.only_keys({"dp", "tp", "pp", "ep"});
  require_flag(value.find("tp"), false, "overlapping tensor parallelism");
  require_flag(value.find("pp"), true, "pipeline parallelism");
  require_flag(value.find("ep"), false, "overlapping expert parallelism");
  const auto dp = value.find("dp");
  return !dp || dp->boolean();
}

OptimizerSpec read_optimizer(const JsonValue& value) {
  static constexpr std::array<std::string_view, 3> kKinds = {"adamw", "sgd", "none"};
  value.only_keys({"kind", "state", "distributed"});
  require_flag(value.find("distributed"), false, "a distributed optimizer");
  OptimizerSpec optimizer;
  if (const auto kind = value.find("kind")) optimizer.kind = kKinds[read_choice(*kind, kKinds)];
  if (const auto state = value.find("state")) optimizer.state = read_storage_type(*state);
  return optimizer;
}

void check_batch(const JsonValue& batch, const Workload& workload) {
  with_place(batch, [&] {
    if (const auto problem = batch_problem(workload.batch, workload.dp)) throw Error({.message = *problem});
  });
}

}  // namespace

std::span<const std::string_view> workload_keys() { return kKeys; }

Workload read_workload(const JsonDocument& document) {
  const JsonValue root = document.root();
  root.only_keys(kKeys);
  check_schema(root);
  refuse_keys(root, kRefusals);
  require_value(root.find("recompute"), "none", "recomputing activations");
  Workload workload;
  const auto name = root.find("name");
  workload.name = name ? name->string() : document.name();
  workload.model = read_model(root.at("model"));
  workload.batch = read_batch(root.at("batch"), workload.model.transformer.has_value());
  read_parallel(root.at("parallel"), workload);
  check_batch(root.at("batch"), workload);
  if (const auto precision = root.find("precision")) workload.precision = read_precision(*precision);
  if (const auto fsdp = root.find("fsdp")) workload.fsdp = read_fsdp(*fsdp);
  if (const auto ddp = root.find("ddp")) workload.ddp = read_ddp(*ddp);
  if (const auto overlap = root.find("overlap")) workload.overlap_dp = read_overlap(*overlap);
  if (const auto optimizer = root.find("optimizer")) workload.optimizer = read_optimizer(*optimizer);
  return workload;
}

}  // namespace busbar
