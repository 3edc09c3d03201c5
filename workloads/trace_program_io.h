// Programs of busbar.trace/1, the inner part of trace_io.h.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/json_reader.h"
#include "workloads/trace.h"

namespace busbar {

/// Names in order of first use and their indices.
class NameIndex {
 public:
  /// The index of `name`, added at the end when new.
  std::uint32_t intern(std::string_view name);
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  /// The index of the name that `value` holds. Errors: "expected <what>" with a suggestion.
  [[nodiscard]] std::uint32_t lookup(const JsonValue& value, std::string_view what) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
};

/// "+3", "-1" relative to the rank, or "3".
[[nodiscard]] std::optional<Peer> parse_peer(std::string_view text);

/// Everything that can be checked without the bindings.
[[nodiscard]] Program read_program(std::string name, const JsonValue& value, const NameIndex& matrices);

}  // namespace busbar
