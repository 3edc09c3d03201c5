// busbar.measured/1: measured collectives in the project's own form.
#pragma once

#include "calibrate/import/raw_table.h"
#include "sim/base/json_reader.h"

namespace busbar {

/// One table per operation, number of ranks, members, type and way of calling. Keys are closed: schema, name,
/// source, origin, topology, workload, collectives, kernels, steps; a collective has operation, size_bytes,
/// time_s and optional ranks, members, type, in_place, isolated, algorithm, protocol, channels. An in-place
/// row completes the row of its size, algorithm and protocol before it; alone it counts as out of place too,
/// with a note. `ranks` may come from the members or the hints. `steps` are for validate, and left alone
/// here. Throws Error (kInput) with the JSON pointer.
/// Checks the keys of the file, its schema and its origin; its source, "" for none.
std::string read_measured_head(const JsonValue& root);
[[nodiscard]] Measurement read_measured_json(const JsonDocument& document, const ImportHints& hints = {});

}  // namespace busbar
