#include "workloads/kernel_work_io.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/named_table.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 7> kKeys = {"duration", "flops",     "bytes", "type",
                                                   "matmul",   "attention", "share"};
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 31;
// More floating-point operations than any step has; keeps sums of them finite.
constexpr double kMaxFlops = 1e30;

std::int64_t dimension(const JsonValue& value) { return value.integer(1, kMaxDimension); }

MatmulShape read_matmul(const JsonValue& value) {
  if (!value.is_array()) value.fail("a matmul shape as [m, n, k] or [m, n, k, count]");
  const std::vector<JsonValue> sides = value.items();
  if (sides.size() != 3 && sides.size() != 4) value.fail("a matmul shape as [m, n, k] or [m, n, k, count]");
  return {dimension(sides[0]), dimension(sides[1]), dimension(sides[2]),
          sides.size() > 3 ? dimension(sides[3]) : 1};
}

bool is_backward(const JsonValue& pass) {
  const std::string name = pass.string();
  if (name != "forward" && name != "backward") pass.fail("\"forward\" or \"backward\"");
  return name == "backward";
}

AttentionShape read_attention(const JsonValue& value) {
  value.only_keys({"batch", "sequence", "heads", "kv_heads", "head_dim", "causal", "pass", "keys",
                   "value_dim", "window", "scores_kept"});
  AttentionShape shape;
  shape.batch = dimension(value.at("batch"));
  shape.sequence = dimension(value.at("sequence"));
  shape.heads = dimension(value.at("heads"));
  shape.head_dim = dimension(value.at("head_dim"));
  const auto kv_heads = value.find("kv_heads");
  shape.kv_heads = kv_heads ? dimension(*kv_heads) : shape.heads;
  if (shape.heads % shape.kv_heads != 0) kv_heads->fail(fmt::format("a divisor of heads = {}", shape.heads));
  if (const auto causal = value.find("causal")) shape.causal = causal->boolean();
  if (const auto pass = value.find("pass")) shape.backward = is_backward(*pass);
  if (const auto kept = value.find("scores_kept")) shape.scores_kept = kept->boolean();
  if (const auto keys = value.find("keys")) shape.keys = dimension(*keys);
  if (const auto width = value.find("value_dim")) shape.value_dim = dimension(*width);
  const auto window = value.find("window");
  if (window) shape.window = dimension(*window);
  if (window && !shape.causal) window->fail_because("a window needs causal attention");
  return shape;
}

double read_share(const JsonValue& value, const KernelWork& work) {
  if (!work.matmul && !work.attention) value.fail_because("'share' needs a shape ('matmul', 'attention')");
  return value.number(0.01, 1);
}

void check_combination(const JsonValue& value) {
  const bool matmul = value.find("matmul").has_value();
  const bool attention = value.find("attention").has_value();
  const bool roofline = value.find("flops") || value.find("bytes");
  if (matmul && attention) value.fail_because("'matmul' and 'attention' exclude each other");
  if ((matmul || attention) && roofline)
    value.fail_because("a shape ('matmul', 'attention') excludes 'flops' and 'bytes'");
  if (!matmul && !attention && !roofline && !value.find("duration"))
    value.fail_because("expected the work: 'duration', 'flops' and 'bytes', 'matmul' or 'attention'");
}

}  // namespace

std::span<const std::string_view> kernel_work_keys() { return kKeys; }

KernelWork read_kernel_work(const JsonValue& value) {
  check_combination(value);
  KernelWork work;
  if (const auto duration = value.find("duration")) work.duration = duration->time();
  if (const auto flops = value.find("flops")) work.flops = flops->number(0, kMaxFlops);
  if (const auto bytes = value.find("bytes")) work.bytes = bytes->bytes().as_double();
  if (const auto type = value.find("type")) work.type = read_data_type(*type);
  if (const auto matmul = value.find("matmul")) work.matmul = read_matmul(*matmul);
  if (const auto attention = value.find("attention")) work.attention = read_attention(*attention);
  if (const auto share = value.find("share")) work.share = read_share(*share, work);
  resolve_shape(work);
  return work;
}

DataType read_data_type(const JsonValue& value) {
  const std::string name = value.string();
  const std::optional<DataType> type = parse_data_type(name);
  if (!type) value.fail(one_of(data_type_names()), did_you_mean(name, data_type_names()));
  return *type;
}

}  // namespace busbar
