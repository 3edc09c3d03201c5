#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "sim/base/unit_text.h"
#include "validate/compare_collectives.h"

namespace busbar {

namespace {

bool same_size(Bytes a, Bytes b) {
  const double larger = std::max(a.as_double(), b.as_double());
  return std::abs(a.as_double() - b.as_double()) <= kSameSize * larger;
}

std::string name_of_class(std::string_view operation, std::optional<Bytes> bytes, const std::string& group) {
  std::string text(operation);
  if (bytes) text += " " + to_text(*bytes);
  return group.empty() ? text : text + ", " + group;
}

/// One class in the model's words.
struct Known {
  std::string operation, group;
  std::optional<Bytes> bytes;
  std::uint32_t ranks = 0;
  double count = 0, seconds = 0;  // per step and rank that takes part; of one, on average
  // Predicted ones alone: over what stands together here.
  double groups = 0, least = 0, most = 0;  // groups; counts of one rank

  void add(double more, double each) {
    if (more <= 0) return;
    seconds = (seconds * count + each * more) / (count + more);
    count += more;
  }
  [[nodiscard]] double all() const { return count * seconds; }
};

// Sizes from the predicted calls, where both sides make as many calls of an operation whose sizes are not
// measured.
std::optional<Bytes> size_by_position(const MeasuredCollective& c, const MeasuredStep& m,
                                      const PredictedStep& p) {
  if (!c.position || !c.operation) return std::nullopt;
  std::size_t measured = 0;
  for (const MeasuredCollective& other : m.collectives)
    if (other.position && other.operation == c.operation && other.group == c.group)
      measured = std::max(measured, *other.position + 1);
  std::vector<Bytes> sizes;
  for (const auto& [operation, bytes] : p.calls)
    if (operation == *c.operation) sizes.push_back(bytes);
  return sizes.size() == measured ? std::optional(sizes[*c.position]) : std::nullopt;
}

// Where two sizes read alike.
std::string name_in_bytes(const Known& k) {
  return fmt::format("{} {} B{}{}", k.operation, k.bytes->count(), k.group.empty() ? "" : ", ", k.group);
}

std::vector<Known> known_classes(const MeasuredStep& m, const PredictedStep& p) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, Known> classes;
  for (const MeasuredCollective& c : m.collectives) {
    const std::optional<Bytes> bytes = c.bytes ? c.bytes : size_by_position(c, m, p);
    const std::string kind = group_kind_of(c.group, c.ranks, p.result);
    const std::string operation = c.operation        ? std::string(name_of(*c.operation))
                                  : c.kernel.empty() ? "communication"
                                                     : c.kernel;
    const std::string group = kind.empty() ? c.group : kind;
    Known& known = classes[{operation, group, bytes ? bytes->count() : -1}];
    known.operation = operation;
    known.group = group;
    known.bytes = bytes;
    known.add(c.count, c.time.seconds());
  }
  std::vector<Known> list;
  list.reserve(classes.size());
  for (auto& [key, known] : classes) list.push_back(std::move(known));
  return list;
}

// One record for each choice and place in the machine: those of one size are one class here.
std::vector<Known> predicted_classes(const RunResult& p) {
  std::vector<Known> list;
  for (const CollectiveRecord& c : p.collectives) {
    const auto same = std::find_if(list.begin(), list.end(), [&](const Known& k) {
      return k.operation == c.operation && k.group == c.group && k.bytes == c.bytes;
    });
    Known& known = same != list.end() ? *same : list.emplace_back();
    known.operation = c.operation;
    known.group = c.group;
    known.bytes = c.bytes;
    known.ranks = std::max(known.ranks, c.ranks);
    const auto count = static_cast<double>(c.count);
    known.least = known.groups > 0 ? std::min(known.least, count) : count;
    known.most = std::max(known.most, count);
    known.groups += static_cast<double>(c.groups);
    known.add(count * static_cast<double>(c.groups), c.time.seconds());
  }
  for (Known& known : list) known.count /= known.groups;
  return list;
}

// The predicted class nearest in size.
std::optional<std::size_t> like(const Known& known, const std::vector<Known>& predicted) {
  std::optional<std::size_t> found;
  if (!known.bytes) return found;
  const auto off = [&](std::size_t i) { return std::abs((*predicted[i].bytes - *known.bytes).as_double()); };
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const Known& k = predicted[i];
    if (k.operation != known.operation || k.group != known.group || !same_size(*k.bytes, *known.bytes))
      continue;
    if (!found || off(i) < off(*found)) found = i;
  }
  return found;
}

}  // namespace

void compare_classes(Validation& v, const MeasuredStep& m, const PredictedStep& p) {
  Comparison& comparison = *v.comparison;
  const std::vector<Known> predicted = predicted_classes(p.result);
  std::vector<Known> measured(predicted.size());
  const auto lack = [&](const Known& known, const char* why) {
    comparison.missing.push_back(
        {fmt::format("{} ({:.3g} a step)", name_of_class(known.operation, known.bytes, known.group),
                     known.count),
         known.seconds, std::nullopt, why});
  };
  for (const Known& known : known_classes(m, p)) {
    if (const auto i = like(known, predicted))
      measured[*i].add(known.count, known.seconds);
    else
      lack(known, known.bytes ? "not in the prediction" : "the measurement does not say its size");
  }
  std::map<std::string, int> named;
  for (const Known& k : predicted) ++named[name_of_class(k.operation, k.bytes, k.group)];
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return measured[a].all() > measured[b].all(); });
  for (const std::size_t i : order) {
    const Known& like = predicted[i];
    const Known& known = measured[i];
    std::string name = name_of_class(like.operation, like.bytes, like.group);
    if (named[name] > 1) name = name_in_bytes(like);
    if (known.all() <= 0) {
      comparison.missing.push_back(
          {name, known.count > 0 ? std::optional(0.0) : std::nullopt, like.seconds,
           known.count > 0 ? "measured as 0: no relative error" : "not in the measurement"});
      continue;
    }
    ValidationRow row{.id = name,
                      .what = m.waiting_separated ? name : name + ", waiting included",
                      .system = m.source,
                      .source = m.format};
    row.gpus = like.ranks;
    row.measured = known.seconds;
    row.predicted = like.seconds;
    v.rows.push_back(std::move(row));
    // Ranks between stages send and receive for several pairs.
    const bool differs = known.count < like.least * (1 - 1e-9) || known.count > like.most * (1 + 1e-9);
    if (differs && like.operation != name_of(CollectiveKind::kSendRecv))
      comparison.notes.push_back(
          fmt::format("{}: {:.3g} a step measured, {:.3g} predicted", name, known.count, like.count));
  }
}

std::optional<double> classes_error(const MeasuredStep& m, const PredictedStep& p) {
  if (!m.waiting_separated) return std::nullopt;
  Validation v{.comparison = Comparison{}};
  compare_classes(v, m, p);
  if (v.rows.empty()) return std::nullopt;
  double squares = 0;
  for (const ValidationRow& row : v.rows) squares += std::pow(std::log(row.predicted / row.measured), 2);
  return std::sqrt(squares / static_cast<double>(v.rows.size()));
}

}  // namespace busbar
