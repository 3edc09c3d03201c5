// What the figures of a table say of its operation and its ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/import/raw_table.h"
#include "calibrate/import/text_scan.h"
#include "sim/base/rank_range.h"

namespace busbar {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<FactorRange> factor_of(const RawRow& row) {
  if (!row.algbw || !row.busbw || row.algbw->value < 100 * row.algbw->half) return std::nullopt;
  return FactorRange{(row.busbw->value - row.busbw->half) / (row.algbw->value + row.algbw->half),
                     (row.busbw->value + row.busbw->half) / (row.algbw->value - row.algbw->half)};
}

const RawRow* fastest(const RawTable& table) {
  const RawRow* best = nullptr;
  for (const RawRow& row : table.rows)
    if (row.algbw && row.size > 0 && (best == nullptr || row.algbw->value > best->algbw->value)) best = &row;
  return best;
}

bool reduces(const RawTable& table) { return !table.redop.empty() && table.redop != "none"; }

// A factor of 0 is a run on one rank, which every operation allows.
bool fits(CollectiveKind kind, const RawTable& table, const std::optional<FactorRange>& f) {
  if (table.redop == "none" && is_reducing(kind)) return false;
  if (!f || f->high < 0.02) return true;
  if (kind == CollectiveKind::kAllReduce) return f->high > 0.98 && f->low < 2.01;
  if (busbw_factor(kind, 2) < 1) return f->low < 1.02;  // old gathers print 1
  return f->low < 1.02 && f->high > 0.98;
}

std::optional<CollectiveKind> unnamed(const RawTable& table, const std::optional<FactorRange>& f) {
  const bool rooted = table.root && *table.root >= 0;
  const RawRow* row = table.rows.empty() ? nullptr : &table.rows.back();
  const bool in_place_unchecked = row != nullptr && row->checked && !row->checked_in_place;
  const bool both_checked = row != nullptr && row->checked && row->checked_in_place;
  if (f && f->low > 1.02) return CollectiveKind::kAllReduce;
  if (rooted && f && f->high < 0.98) return std::nullopt;  // gather or scatter
  if (rooted) return reduces(table) ? CollectiveKind::kReduce : CollectiveKind::kBroadcast;
  if (!f) return std::nullopt;
  if (f->high < 0.98 && reduces(table)) return CollectiveKind::kReduceScatter;
  // nccl-tests does not check all-to-all and send-receive in place.
  if (f->high < 0.98 && in_place_unchecked) return CollectiveKind::kAllToAll;
  if (f->high < 0.98 && both_checked) return CollectiveKind::kAllGather;
  if (f->high < 0.98 || !reduces(table)) return std::nullopt;
  if (in_place_unchecked) return CollectiveKind::kSendRecv;
  return table.devices.ranks == 2 ? std::optional(CollectiveKind::kAllReduce) : std::nullopt;
}

// n of factor f: all_reduce f = 2(n-1)/n, so n = 2/(2-f); gathers f = (n-1)/n, so n = 1/(1-f).
double ranks_at(double f, double limit) {
  return f >= limit ? kInfinity : limit / (limit - std::max(f, 0.0));
}

struct PossibleRanks {
  std::int64_t low = 1, high = kMaxRanks;
  [[nodiscard]] bool holds(std::int64_t n) const { return n >= low && n <= high; }
};

PossibleRanks range_of(const FactorRange& f, double limit) {
  const double most = static_cast<double>(kMaxRanks);
  const double low = std::ceil(std::min(ranks_at(f.low, limit), most) * (1 - 1e-9));
  const double high = std::floor(std::min(ranks_at(f.high, limit), most) * (1 + 1e-9));
  return {static_cast<std::int64_t>(std::max(low, 1.0)), static_cast<std::int64_t>(high)};
}

// In the convention of 2019 algbw of gathers is busbw, so the factor comes from busbw and time instead.
std::optional<FactorRange> factor_by_time(const RawRow& row) {
  if (!row.busbw || row.busbw->value < 100 * row.busbw->half || row.size <= 0) return std::nullopt;
  const double per_GBps = 1e3 / static_cast<double>(row.size);
  return FactorRange{
      (row.busbw->value - row.busbw->half) * (row.time_us.value - row.time_us.half) * per_GBps,
      (row.busbw->value + row.busbw->half) * (row.time_us.value + row.time_us.half) * per_GBps};
}

// The fastest row says it, other rows narrow it as far as they agree.
std::optional<PossibleRanks> range_of(const RawTable& table, CollectiveKind kind, bool by_time) {
  const double limit = kind == CollectiveKind::kAllReduce ? 2.0 : 1.0;
  const auto factor = [&](const RawRow& row) { return by_time ? factor_by_time(row) : factor_of(row); };
  const RawRow* best = fastest(table);
  const auto first = best == nullptr ? std::nullopt : factor(*best);
  if (!first || busbw_factor(kind, 1) != 0) return std::nullopt;
  PossibleRanks range = range_of(*first, limit);
  for (const RawRow& row : table.rows) {
    const auto f = factor(row);
    if (!f) continue;
    const PossibleRanks other = range_of(*f, limit);
    const PossibleRanks both{std::max(range.low, other.low), std::min(range.high, other.high)};
    if (both.low <= both.high) range = both;
  }
  return range.low <= range.high ? std::optional(range) : std::nullopt;
}

// Clusters come in powers of two: of the numbers in a narrow range, the one with the most factors of 2.
std::int64_t likeliest(const PossibleRanks& range) {
  if (range.high > 2 * range.low) return 0;
  std::int64_t step = 1;
  while (range.high / (2 * step) * (2 * step) >= range.low) step *= 2;
  return range.high / step * step;
}

// count is per rank for gathers and scatters: size = count x n x element.
std::int64_t ranks_by_count(const RawTable& table, CollectiveKind kind) {
  const std::int64_t element = element_bytes(table.type);
  if (!divides_by_ranks(kind) || element == 0 || table.rows.empty()) return 0;
  const RawRow& row = table.rows.back();
  std::int64_t part = 0;
  if (row.count <= 0 || row.size <= 0 || __builtin_mul_overflow(row.count, element, &part)) return 0;
  const std::int64_t ranks = row.size % part == 0 ? row.size / part : 0;
  const auto f = factor_of(table);
  const bool alone = !f || f->high < 0.02;
  return ranks > kMaxRanks || (ranks == 1 && !alone) ? 0 : ranks;
}

bool old_convention(const RawTable& table, CollectiveKind kind, const std::optional<FactorRange>& f) {
  return divides_by_ranks(kind) && !table.rows.empty() && f && f->low > 0.985 && f->high < 1.02 &&
         f->high >= 1;
}

// The rank list of a run, unless a field told the number outright.
std::int64_t claimed(const RawTable& table) {
  return table.told_ranks > 0 ? table.told_ranks : table.devices.ranks;
}

// A factor near 1 may belong to many ranks as well: then time tells, by which the old figures fall short.
bool is_old(const RawTable& table, CollectiveKind kind, const std::optional<FactorRange>& f) {
  const RawRow* best = fastest(table);
  if (best == nullptr || !old_convention(table, kind, f)) return false;
  const auto by_time = factor_by_time(*best);
  return by_time && by_time->high < f->low;
}

}  // namespace

void drop_torn_end(RawTable& table) {
  if (!table.cut || table.rows.size() < 2) return;
  RawTable above = table;
  above.rows.pop_back();
  const auto before = factor_of(above), last = factor_of(table.rows.back());
  const bool agrees = before && last && last->low <= before->high && before->low <= last->high;
  if (agrees || !before) return;
  table.rows.pop_back();
  table.notes.emplace_back("the last row is torn; left out");
}

std::optional<FactorRange> factor_of(const RawTable& table) {
  const RawRow* best = fastest(table);
  return best == nullptr ? std::nullopt : factor_of(*best);
}

std::optional<CollectiveKind> operation_of(RawTable& table, const ImportHints& hints) {
  const auto f = factor_of(table);
  std::string overruled;
  const auto accept = [&](std::optional<CollectiveKind> kind) {
    if (kind && fits(*kind, table, f)) return true;
    if (kind && overruled.empty()) overruled = name_of(*kind);
    return false;
  };
  std::vector<std::optional<CollectiveKind>> candidates;
  for (const std::string& name : table.names) candidates.push_back(parse_collective(name));
  candidates.push_back(hints.operation);
  for (const std::string& name : table.guesses) candidates.push_back(parse_collective(name));
  auto found = std::find_if(candidates.begin(), candidates.end(), accept);
  const bool named = found != candidates.end();
  const auto kind = named ? *found : unnamed(table, f);
  if (kind && !named && overruled.empty())
    table.notes.push_back(fmt::format(
        "names no operation; its figures look like {} (--collective says another)", name_of(*kind)));
  if (kind && !overruled.empty())
    table.notes.push_back(
        fmt::format("called {}, but its figures are those of {}", overruled, name_of(*kind)));
  return kind;
}

std::int64_t ranks_of(RawTable& table, CollectiveKind kind, const ImportHints& hints) {
  const bool old = is_old(table, kind, factor_of(table));
  if (old) table.notes.push_back("algbw is in the convention of 2019, equal to busbw");
  const std::int64_t listed = claimed(table), hinted = hints.ranks.value_or(0);
  const std::int64_t exact = old ? 0 : ranks_by_count(table, kind);
  const auto range = range_of(table, kind, old);
  std::int64_t ranks = exact;
  if (ranks == 0 && !range) ranks = listed > 0 ? listed : hinted;
  if (ranks == 0 && listed > 0 && range->holds(listed)) ranks = listed;
  if (ranks == 0 && hinted > 0 && range->holds(hinted)) ranks = hinted;
  if (ranks == 0 && range) ranks = likeliest(*range);
  if (ranks > 0 && listed > 0 && ranks != listed)
    table.notes.push_back(fmt::format("the figures are those of {} ranks; the list says {}", ranks, listed));
  if (ranks > 0 && listed == 0 && hinted > 0 && ranks != hinted)
    table.notes.push_back(fmt::format("the figures are those of {} ranks, not of {}", ranks, hinted));
  if (ranks > 0 && ranks == listed && table.devices.ranks > 0 && !table.devices.complete)
    table.notes.push_back("the list of ranks is cut; their number is the highest rank's");
  return ranks;
}

}  // namespace busbar
