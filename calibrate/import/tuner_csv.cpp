#include "calibrate/import/tuner_csv.h"

#include <fmt/format.h>

#include <limits>
#include <span>

#include "calibrate/import/text_scan.h"
#include "sim/base/named_table.h"

namespace busbar {
namespace {

// The plugin reads lines into a buffer of this size; what is longer becomes a second line.
constexpr std::size_t kPluginLine = 256;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostRanks = std::numeric_limits<std::uint32_t>::max();

// The plugin's own spellings, in the order of the enums they stand for.
constexpr std::string_view kCollectives[] = {"allreduce", "allgather", "reducescatter", "broadcast",
                                             "reduce"};
constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast,
                                     CollectiveKind::kReduce};
constexpr std::string_view kAlgorithms[] = {"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                            "nvls_tree", "pat"};
constexpr std::string_view kProtocols[] = {"ll", "ll128", "simple"};

class Rule {
 public:
  Rule(std::string where, std::vector<std::string_view> fields)
      : where_(std::move(where)), fields_(std::move(fields)) {
    if (fields_.size() < 8 || fields_.size() > 10)
      throw Error({.where = where_,
                   .expected = "8 to 10 fields (collective, least bytes, most bytes, algorithm, protocol, "
                               "channels, hosts, ranks[, numPipeOps[, regBuff]])",
                   .given = std::to_string(fields_.size())});
  }

  [[nodiscard]] std::size_t name(std::size_t field, const char* what,
                                 std::span<const std::string_view> names) const {
    const std::string given = lower(fields_[field]);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == given) return i;
    throw Error({.where = where_,
                 .expected = fmt::format("{}: {}", what, one_of(names)),
                 .given = quoted(fields_[field]),
                 .suggestion = did_you_mean(given, names)});
  }

  /// nullopt for -1.
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t field, const char* what, std::int64_t low,
                                                   std::int64_t high) const {
    const auto value = parse_whole(fields_[field]);
    if (value && *value == -1) return std::nullopt;
    if (!value || *value < low || *value > high)
      throw Error({.where = where_,
                   .expected = fmt::format("{}: -1 or a whole number of at least {}", what, low),
                   .given = quoted(fields_[field])});
    return value;
  }

  [[nodiscard]] std::optional<std::uint32_t> count(std::size_t field, const char* what) const {
    const auto value = number(field, what, 1, kMostRanks);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  }

  [[nodiscard]] bool is_for(const TunerCalls& calls) const {
    // Both are read, so that an error in either is told.
    const bool is_grouped = matches(8, "numPipeOps", kMost, calls.grouped);
    const bool is_registered = matches(9, "regBuff", 1, calls.registered_buffers ? 1 : 0);
    return is_grouped && is_registered;
  }

  [[nodiscard]] TunerRule rule() const {
    TunerRule rule;
    rule.kind = kKinds[name(0, "a collective", kCollectives)];
    rule.least = Bytes(number(1, "the least bytes", 0, kMost).value_or(0));
    rule.most = Bytes(number(2, "the most bytes", 0, kMost).value_or(kMost));
    rule.algorithm = static_cast<NcclAlgorithm>(name(3, "an algorithm", kAlgorithms));
    rule.protocol = static_cast<Protocol>(name(4, "a protocol", kProtocols));
    rule.channels = number(5, "channels", 1, 1024);
    rule.hosts = count(6, "hosts");
    rule.ranks = count(7, "ranks");
    if (rule.least > rule.most)
      throw Error({.where = where_,
                   .expected = "the least bytes first",
                   .given = fmt::format("{}, {}", rule.least.count(), rule.most.count())});
    return rule;
  }

 private:
  // A field that is absent, or says nothing, matches.
  [[nodiscard]] bool matches(std::size_t field, const char* what, std::int64_t most, std::int64_t own) const {
    if (field >= fields_.size()) return true;
    const auto value = number(field, what, 0, most);
    return !value || *value == own;
  }

  std::string where_;
  std::vector<std::string_view> fields_;
};

}  // namespace

std::vector<TunerRule> read_tuner_csv(std::string_view text, const std::string& name,
                                      const TunerCalls& calls) {
  std::vector<TunerRule> rules;
  for (LineScanner lines(text); lines.next();) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = at_line(name, lines.number());
    if (lines.line().size() >= kPluginLine)
      throw Error({.where = where,
                   .expected = "at most 255 characters, which is what the plugin reads",
                   .given = std::to_string(lines.line().size())});
    const Rule rule(where, split(line, ','));
    TunerRule read = rule.rule();
    if (rule.is_for(calls)) rules.push_back(read);
    if (rules.size() > kMaxRows)
      throw Error({.where = where, .expected = "at most 1000000 rules", .given = "more"});
  }
  return rules;
}

std::vector<TunerRule> load_tuner_csv(const std::string& path, const TunerCalls& calls) {
  return read_tuner_csv(load_text(path), path, calls);
}

}  // namespace busbar
