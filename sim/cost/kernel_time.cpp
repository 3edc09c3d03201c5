#include "sim/cost/kernel_time.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/collective_kind.h"

namespace busbar {

namespace {

struct Tile {
  double m, n;
};

// What libraries choose from; the largest is the full tile that a ceiling holds for.
constexpr std::array<Tile, 6> kTiles = {{{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}}};
constexpr double kFullTile = 256 * 128;
constexpr std::array<double, 4> kSplits = {1, 2, 4, 8};
constexpr double kShortestPart = 256;  // of k, that a split leaves
constexpr double kWholeWaves = 0.8;    // of the last, partial wave that costs as much as a full one
constexpr double kThrottle_s = 1e-3;   // after which the power limit starts to hold
constexpr double kCorner = 4;          // of (compute^p + memory^p)^(1/p)

double us(double value) { return 1e-6 * value; }

// Waves of t tiles: t / SMs, drawn towards the next whole number.
double waves(double tiles, double sms) {
  const double even = tiles / sms;
  return std::max(1.0, kWholeWaves * std::ceil(even) + (1 - kWholeWaves) * even);
}

// The clock falls under a load that lasts.
double throttled(double seconds, double throttle) {
  return seconds * (1 + throttle * (1 - std::exp(-seconds / kThrottle_s)));
}

struct Product {
  double m, n, k;
};

// Seconds of one tile's part of k: 2 a b (k + fill) FLOPs at one SM's share of the ceiling.
double tile_s(const Tile& tile, double k, const TileRates& rates, const KernelChip& chip) {
  const double halvings = std::log2(kFullTile / (tile.m * tile.n));
  const double rate = chip.flops / chip.sms * rates.ceiling * std::pow(1 - rates.narrow_loss, halvings);
  return 2 * tile.m * tile.n * (k + rates.fill) / rate;
}

// The best of the tiles and splits along k. A split's parts write and read back fp32 results.
double product_s(const Product& p, const TileRates& rates, double partial_passes, const KernelChip& chip) {
  double best = HUGE_VAL;
  for (const Tile& tile : kTiles)
    for (const double split : kSplits) {
      if (split > 1 && p.k / split < kShortestPart) continue;
      const double tiles = std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n) * split;
      const double partial = split > 1 ? partial_passes * 4 * p.m * p.n * split / chip.memory_Bps : 0;
      best = std::min(best, waves(tiles, chip.sms) * tile_s(tile, p.k / split, rates, chip) + partial);
    }
  return throttled(best, rates.throttle);
}

// Weights come from HBM; activations stay in the L2 from the kernel before as far as they fit.
double product_bytes(const Product& p, double element, double result, double kept) {
  const double activations = p.m * p.k * element + p.m * p.n * result;
  const double missed = std::clamp(activations / kept - 1, 0.0, 1.0);
  return p.n * p.k * element + missed * activations;
}

// The side that bounds carries what `around` adds, and the corner.
KernelDemand demand(double compute_s, double memory_s, double around_s) {
  const double corner = std::pow(std::pow(compute_s, kCorner) + std::pow(memory_s, kCorner), 1 / kCorner);
  if (compute_s >= memory_s) return {.sm_s = corner + around_s, .memory_s = memory_s};
  return {.sm_s = std::min(compute_s + around_s, corner + around_s), .memory_s = corner + around_s};
}

// Keys that a tile of queries sees: the longest tile, and the mean as a share of that.
struct KeysSeen {
  double most = 0, mean = 1;
};

// Causal tiles see half the keys on average, the last one all of them; in a window at most the window of each
// of their rows. The queries of a context-parallel rank are spread over all keys.
KeysSeen keys_seen(const AttentionShape& shape, double rows) {
  const auto keys = static_cast<double>(shape.keys == 0 ? shape.sequence : shape.keys);
  const auto window = static_cast<double>(shape.window);
  if (!shape.causal) return {keys, 1};
  if (shape.window == 0 || window + rows >= keys) return {keys, (1 + rows / keys) / 2};
  const double mean = window - window * window / (2 * keys) + rows / 2;
  return {window + rows, mean / (window + rows)};
}

// Of head sizes between the three that were measured, the nearest class.
double head_share(double head_dim, const AttentionModel& a) {
  if (head_dim < 128) return a.head64;
  return head_dim > 128 ? a.head256 : 1;
}

}  // namespace

KernelDemand matmul_demand(const MatmulShape& shape, DataType type, const KernelChip& chip,
                           const KernelModel& model) {
  const Product p{static_cast<double>(shape.m), static_cast<double>(shape.n), static_cast<double>(shape.k)};
  const bool fp8 = type == DataType::kFp8;
  const auto element = static_cast<double>(size_of(type));
  const MatmulModel& m = model.matmul;
  const double compute = product_s(p, fp8 ? model.fp8.rates : m.rates, m.partial_passes, chip);
  const double memory = product_bytes(p, element, std::max(2.0, element), m.l2_share * 1e6 * model.l2_MB) /
                        (chip.memory_Bps * m.memory);
  double around = us(m.floor_us);
  if (fp8)
    around += us(model.fp8.quantise_us) + 3 * p.m * p.k / (chip.memory_Bps * model.fp8.quantise_memory);
  const KernelDemand one = demand(compute, memory, around);
  const auto count = static_cast<double>(shape.count);
  return {.sm_s = count * one.sm_s, .memory_s = count * one.memory_s};
}

// Tiles of queries over the SMs, longest first: the mean load, and a share of the longest tile at the end.
KernelDemand attention_demand(const AttentionShape& shape, DataType type, const KernelChip& chip,
                              const KernelModel& model) {
  const AttentionModel& a = model.attention;
  const auto sequence = static_cast<double>(shape.sequence);
  const auto heads = static_cast<double>(shape.heads);
  const auto head_dim = static_cast<double>(shape.head_dim);
  const auto batch = static_cast<double>(shape.batch);
  const auto value_dim = static_cast<double>(shape.value_dim == 0 ? shape.head_dim : shape.value_dim);
  // Widths of the two products, backward of the five, or four.
  const double widths =
      shape.backward ? (shape.scores_kept ? 2 : 3) * head_dim + 2 * value_dim : head_dim + value_dim;
  const double rows = std::min(a.rows, a.elements / head_dim);
  const double rate =
      chip.flops / chip.sms * a.ceiling * head_share(head_dim, a) * (shape.backward ? a.backward : 1);
  const KeysSeen seen = keys_seen(shape, rows);
  const double longest = 2 * rows * widths * seen.most / rate;
  const double mean = longest * seen.mean;
  const double tiles = batch * heads * std::ceil(sequence / rows);
  const double compute = tiles / chip.sms * (mean + us(a.tile_us)) + a.tail * (longest + us(a.tile_us));
  const double passed = (shape.backward ? 2 : 1) * 2 * batch * sequence *
                        (heads * head_dim + static_cast<double>(shape.kv_heads) * (head_dim + value_dim)) *
                        static_cast<double>(size_of(type));
  const double seconds =
      throttled(compute, a.throttle) + us(a.floor_us) + passed / (chip.memory_Bps * a.pass_memory);
  return {.sm_s = seconds, .memory_s = std::min(seconds, passed / chip.memory_Bps)};
}

double plain_efficiency(DataType type, const KernelModel& model) {
  const TileRates& rates = type == DataType::kFp8 ? model.fp8.rates : model.matmul.rates;
  return rates.ceiling / (1 + rates.throttle);
}

}  // namespace busbar
