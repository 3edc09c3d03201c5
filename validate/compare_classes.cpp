#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
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

/// One measured class in the model's words.
struct Known {
  std::string operation, group;
  std::optional<Bytes> bytes;
  double count = 0, seconds = 0;  // per step and rank; of one
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
    known.seconds = (known.seconds * known.count + c.time.seconds() * c.count) / (known.count + c.count);
    known.count += c.count;
  }
  std::vector<Known> list;
  list.reserve(classes.size());
  for (auto& [key, known] : classes) list.push_back(std::move(known));
  std::stable_sort(list.begin(), list.end(),
                   [](const Known& a, const Known& b) { return a.count * a.seconds > b.count * b.seconds; });
  return list;
}

const CollectiveRecord* predicted_like(const Known& known, const RunResult& p) {
  if (!known.bytes) return nullptr;
  for (const CollectiveRecord& c : p.collectives)
    if (c.operation == known.operation && c.group == known.group && same_size(c.bytes, *known.bytes))
      return &c;
  return nullptr;
}

}  // namespace

void compare_classes(Validation& v, const MeasuredStep& m, const PredictedStep& p) {
  std::set<const CollectiveRecord*> found;
  Comparison& comparison = *v.comparison;
  for (const Known& known : known_classes(m, p)) {
    const std::string name = name_of_class(known.operation, known.bytes, known.group);
    const CollectiveRecord* const like = predicted_like(known, p.result);
    if (like == nullptr) {
      comparison.missing.push_back(
          {fmt::format("{} ({:.3g} a step)", name, known.count), known.seconds, std::nullopt,
           known.bytes ? "not in the prediction" : "the measurement does not say its size"});
      continue;
    }
    found.insert(like);
    const std::string what = m.waiting_separated ? name : name + ", waiting included";
    ValidationRow row{.id = name, .what = what, .system = m.source, .source = m.format};
    row.gpus = like->ranks;
    row.measured = known.seconds;
    row.predicted = like->time.seconds();
    v.rows.push_back(std::move(row));
    const auto count = static_cast<double>(like->count);
    if (std::abs(count - known.count) > 1e-9 * count)
      comparison.notes.push_back(
          fmt::format("{}: {:.3g} a step measured, {} predicted", name, known.count, like->count));
  }
  for (const CollectiveRecord& c : p.result.collectives)
    if (!found.contains(&c))
      comparison.missing.push_back({name_of_class(c.operation, c.bytes, c.group), std::nullopt,
                                    c.time.seconds(), "not in the measurement"});
}

}  // namespace busbar
