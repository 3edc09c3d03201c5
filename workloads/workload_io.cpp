#include "workloads/workload_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "workloads/input_checks.h"
#include "workloads/model_io.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

constexpr std::string_view kSchema = "busbar.workload/1";
constexpr std::array<std::string_view, 18> kKeys = {
    "schema",  "name",      "model", "batch",   "parallel", "precision", "recompute", "fsdp",      "ddp",
    "overlap", "optimizer", "moe",   "context", "stages",   "jitter",    "framework", "attention", "launch"};
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
  static constexpr std::array<std::string_view, 9> kNames = {
      "none", "zero1", "zero2", "zero3", "fsdp", "hsdp", "distributed", "parameter-server", "horovod"};
  return static_cast<Sharding>(read_choice(value, kNames));
}

PipelineSchedule read_schedule(const JsonValue& value) {
  static constexpr std::array<std::string_view, 6> kNames = {"gpipe", "1f1b",  "interleaved",
                                                             "zb-h1", "zb-2p", "dualpipe"};
  const std::size_t choice = read_choice(value, kNames);
  if (choice > 4) fail_not_modelled(value, fmt::format("the schedule {}", kNames[choice]));
  return static_cast<PipelineSchedule>(choice);
}

/// "tp-cp-dp-pp": each direction once.
std::vector<std::string> read_order(const JsonValue& value) {
  const std::string text = value.string();
  std::vector<std::string> order;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('-', begin), text.size());
    order.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<std::string> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != std::vector<std::string>{"cp", "dp", "pp", "tp"})
    value.fail("tp, cp, dp and pp in some order, fastest first, such as \"tp-cp-dp-pp\"");
  return order;
}

std::int64_t read_degree(const JsonValue& parallel, std::string_view key, std::int64_t otherwise) {
  const auto value = parallel.find(key);
  return value ? value->integer(1, kMaxRanks) : otherwise;
}

ParallelSpec read_parallel(const JsonValue& value) {
  value.only_keys({"tp", "pp", "cp", "ep", "etp", "dp", "sharding", "shard_size", "order",
                   "sequence_parallel", "schedule", "virtual_stages"});
  ParallelSpec p;
  p.tp = read_degree(value, "tp", 1);
  p.pp = read_degree(value, "pp", 1);
  p.cp = read_degree(value, "cp", 1);
  p.ep = read_degree(value, "ep", 1);
  p.etp = read_degree(value, "etp", p.tp);
  p.dp = value.at("dp").integer(1, kMaxRanks);
  p.virtual_stages = read_degree(value, "virtual_stages", 1);
  if (p.virtual_stages > 1) p.schedule = PipelineSchedule::kInterleaved;
  if (const auto sharding = value.find("sharding")) p.sharding = read_sharding(*sharding);
  if (const auto size = value.find("shard_size")) p.shard_size = size->integer(1, kMaxRanks);
  if (const auto order = value.find("order")) p.order = read_order(*order);
  if (const auto sp = value.find("sequence_parallel")) p.sequence_parallel = sp->boolean();
  if (const auto schedule = value.find("schedule")) p.schedule = read_schedule(*schedule);
  if (p.sharding == Sharding::kHsdp && !p.shard_size)
    value.fail_because("hsdp needs \"shard_size\", the ranks that share one copy of the parameters");
  return p;
}

// Megatron's distributed optimizer is that of Megatron-Core.
const Framework& read_framework(const JsonValue& root, Sharding sharding) {
  const auto value = root.find("framework");
  if (!value && sharding == Sharding::kDistributed) return framework_called("megatron-core");
  if (!value) return frameworks().front();
  return frameworks()[read_choice(*value, names_of(frameworks()))];
}

Recompute read_recompute(const JsonValue& value) {
  static constexpr std::array<std::string_view, 3> kNames = {"none", "selective", "full"};
  return static_cast<Recompute>(read_choice(value, kNames));
}

AttentionKernels read_attention(const JsonValue& value) {
  static constexpr std::array<std::string_view, 2> kNames = {"fused", "unfused"};
  return static_cast<AttentionKernels>(read_choice(value, kNames));
}

ContextMethod read_context(const JsonValue& value) {
  static constexpr std::array<std::string_view, 3> kNames = {"ring", "all_gather", "ulysses"};
  value.only_keys({"method"});
  return static_cast<ContextMethod>(read_choice(value.at("method"), kNames));
}

std::vector<double> read_histogram(const JsonValue& value) {
  std::vector<double> weights;
  for (const JsonValue& weight : value.items()) weights.push_back(weight.number(0, 1e18));
  if (std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; }))
    value.fail("a weight above 0");
  return weights;
}

void read_imbalance(const JsonValue& value, MoeSpec& moe) {
  value.only_keys({"zipf", "histogram", "hot_expert"});
  if (value.keys().size() > 1) value.fail_because("one of zipf, histogram and hot_expert");
  if (const auto zipf = value.find("zipf")) moe.zipf = zipf->number(0, 10);
  if (const auto hot = value.find("hot_expert")) moe.hot = hot->number(0, 1e6);
  if (const auto histogram = value.find("histogram")) moe.histogram = read_histogram(*histogram);
}

MoeSpec read_moe(const JsonValue& value) {
  value.only_keys({"capacity_factor", "imbalance", "node_limit"});
  MoeSpec moe;
  if (const auto factor = value.find("capacity_factor"); factor && !factor->is_null())
    moe.capacity_factor = factor->number(0.01, 1000);
  if (const auto imbalance = value.find("imbalance")) read_imbalance(*imbalance, moe);
  if (const auto limit = value.find("node_limit"); limit && !limit->is_null())
    moe.node_limit = limit->integer(1, kMaxRanks);
  if (moe.node_limit && (moe.zipf != 0 || moe.hot != 1 || !moe.histogram.empty()))
    value.fail_because("node_limit goes with evenly loaded experts");
  return moe;
}

/// Beyond a sigma of 1 it is no jitter.
JitterSpec read_jitter(const JsonValue& value) {
  static constexpr std::array<std::string_view, 3> kPer = {"rank", "replica", "role"};
  value.only_keys({"compute"});
  const JsonValue compute = value.at("compute");
  compute.only_keys({"lognormal", "per"});
  JitterSpec jitter{.lognormal = compute.at("lognormal").number(0, 1)};
  if (const auto per = compute.find("per"))
    jitter.per = static_cast<JitterSpec::Per>(read_choice(*per, kPer));
  return jitter;
}

std::vector<std::int64_t> read_stages(const JsonValue& value) {
  value.only_keys({"layers"});
  std::vector<std::int64_t> layers;
  for (const JsonValue& count : value.at("layers").items()) layers.push_back(count.integer(0, kMaxLayers));
  return layers;
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

OverlapSpec read_overlap(const JsonValue& value, OverlapSpec overlap) {
  value.only_keys({"dp", "tp", "pp", "ep", "cp"});
  const std::pair<const char*, bool*> flags[] = {{"dp", &overlap.dp},
                                                 {"tp", &overlap.tp},
                                                 {"pp", &overlap.pp},
                                                 {"ep", &overlap.ep},
                                                 {"cp", &overlap.cp}};
  for (const auto& [key, flag] : flags)
    if (const auto given = value.find(key)) *flag = given->boolean();
  return overlap;
}

LaunchSpec read_launch(const JsonValue& value) {
  value.only_keys({"forward", "backward", "member", "message", "copy"});
  LaunchSpec launch;
  if (const auto time = value.find("forward")) launch.forward = time->time();
  if (const auto time = value.find("backward")) launch.backward = time->time();
  if (const auto time = value.find("member")) launch.member = time->time();
  if (const auto time = value.find("message")) launch.message = time->time();
  if (const auto time = value.find("copy")) launch.copy = time->time();
  return launch;
}

OptimizerSpec read_optimizer(const JsonValue& value) {
  static constexpr std::array<std::string_view, 3> kKinds = {"adamw", "sgd", "none"};
  static constexpr std::array<std::string_view, 2> kCuts = {"buckets", "tensors"};
  value.only_keys({"kind", "state", "distributed", "cut"});
  OptimizerSpec optimizer;
  if (const auto kind = value.find("kind")) optimizer.kind = kKinds[read_choice(*kind, kKinds)];
  if (const auto state = value.find("state")) optimizer.state = read_storage_type(*state);
  if (const auto cut = value.find("cut")) optimizer.cut = static_cast<ZeroCut>(read_choice(*cut, kCuts));
  return optimizer;
}

void check_batch(const JsonValue& batch, const Workload& workload) {
  with_place(batch, [&] {
    if (const auto problem = batch_problem(workload.batch, workload.parallel.dp))
      throw Error({.message = *problem});
  });
}

/// "optimizer": {"distributed": true} is "sharding": "distributed".
void read_distributed(const JsonValue& optimizer, ParallelSpec& parallel) {
  const auto distributed = optimizer.find("distributed");
  if (!distributed || !distributed->boolean()) return;
  if (parallel.sharding != Sharding::kNone && parallel.sharding != Sharding::kDistributed)
    distributed->fail_because(fmt::format("a distributed optimizer does not go with \"sharding\": \"{}\"",
                                          name_of(parallel.sharding)));
  parallel.sharding = Sharding::kDistributed;
}

void check_experts(const JsonValue& root, const Workload& workload) {
  const bool has = workload.model.transformer && workload.model.transformer->experts;
  if (const auto moe = root.find("moe"); moe && !has) moe->fail_because("the model has no experts");
  if (!has || !root.find("moe") || !root.at("moe").find("imbalance")) return;
  const JsonValue imbalance = root.at("moe").at("imbalance");
  const auto experts = static_cast<std::size_t>(workload.model.transformer->experts->count);
  if (workload.moe.hot > static_cast<double>(experts))
    imbalance.at("hot_expert").fail(fmt::format("at most {} times its share, which is all tokens", experts));
  if (imbalance.find("histogram") && workload.moe.histogram.size() != experts)
    imbalance.at("histogram").fail(fmt::format("{} weights, one per expert", experts));
}

}  // namespace

std::span<const std::string_view> workload_keys() { return kKeys; }

Workload read_workload(const JsonDocument& document) {
  const JsonValue root = document.root();
  root.only_keys(kKeys);
  check_schema(root);
  Workload workload;
  const auto name = root.find("name");
  workload.name = name ? name->string() : document.name();
  workload.model = read_model(root.at("model"), document.folder());
  workload.batch = read_batch(root.at("batch"), workload.model.transformer.has_value());
  workload.parallel = read_parallel(root.at("parallel"));
  if (const auto precision = root.find("precision")) workload.precision = read_precision(*precision);
  if (const auto attention = root.find("attention")) workload.attention = read_attention(*attention);
  if (const auto recompute = root.find("recompute")) workload.recompute = read_recompute(*recompute);
  if (const auto fsdp = root.find("fsdp")) workload.fsdp = read_fsdp(*fsdp);
  if (const auto ddp = root.find("ddp")) workload.ddp = read_ddp(*ddp);
  if (const auto launch = root.find("launch")) workload.launch = read_launch(*launch);
  if (const auto optimizer = root.find("optimizer")) {
    workload.optimizer = read_optimizer(*optimizer);
    read_distributed(*optimizer, workload.parallel);
  }
  if (const auto moe = root.find("moe")) workload.moe = read_moe(*moe);
  if (const auto jitter = root.find("jitter")) workload.jitter = read_jitter(*jitter);
  if (const auto context = root.find("context")) workload.context = read_context(*context);
  if (const auto stages = root.find("stages")) workload.parallel.stages = read_stages(*stages);
  workload.framework = &read_framework(root, workload.parallel.sharding);
  if (workload.framework->reduces_at_end) workload.overlap.dp = false;
  if (workload.framework->waits_for_messages) workload.overlap.pp = false;
  if (const auto overlap = root.find("overlap")) workload.overlap = read_overlap(*overlap, workload.overlap);
  check_experts(root, workload);
  check_batch(root.at("batch"), workload);
  with_place(root.at("parallel"), [&] { check_layout(workload); });
  return workload;
}

}  // namespace busbar
