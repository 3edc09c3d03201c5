// busbar.profile/1: a profile as a file.
#pragma once

#include <string>

#include "sim/base/json_reader.h"
#include "sim/cost/profile.h"

namespace busbar {

/// Keys are closed: schema, name, source, created_from, base, parameters, ranges, error, draws. Numbers
/// that the file does not list are the default profile's, or the ideal one's where `base` says so. Errors
/// (Error, kInput) with the JSON pointer: an unknown parameter (with the nearest one), a value without its
/// unit or not above zero, an interval that does not hold its value, draws of another length than the
/// parameters with an interval.
[[nodiscard]] Profile read_profile(const JsonDocument& document);

/// Every number of the parts that were calibrated, each with origin; what is not listed is the default's.
/// Reading it gives the same numbers to the digits that the file carries, and writing them the same text.
[[nodiscard]] std::string write_profile(const Profile& profile);

/// The part that a parameter belongs to: "hopper", "rdma", "pcie_peer", "kernels.hopper", "shared".
[[nodiscard]] std::string part_of_parameter(std::string_view parameter);

}  // namespace busbar
