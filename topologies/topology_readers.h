// The parts of a busbar.topology/1 file, each read into the builder by a file of its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "topologies/topology.h"

namespace busbar {

void read_gpu_models(const JsonValue& gpus, TopologyBuilder& builder);
void read_short_form(const JsonValue& root, TopologyBuilder& builder);
void read_long_form(const JsonValue& root, TopologyBuilder& builder);
void read_faults(const JsonValue& faults, TopologyBuilder& builder);
void read_rank_order(const JsonValue& order, TopologyBuilder& builder, std::uint64_t seed);

/// "did you mean 'h0.gpu3'?" among the devices so far, or "".
[[nodiscard]] std::string similar_device(const TopologyBuilder& builder, std::string_view id);

/// Does `action`; an error in it that names no place gets the place of `value`.
template <class Action>
auto at_place(const JsonValue& value, Action action) {
  try {
    return action();
  } catch (const Error& error) {
    if (!error.parts().where.empty()) throw;
    ErrorParts parts = error.parts();
    parts.where = value.where();
    throw Error(std::move(parts));
  }
}

}  // namespace busbar
