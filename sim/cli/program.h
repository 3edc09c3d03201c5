// What all programs do alike: read their line and common options, end with an exit code.
#pragma once

#include <functional>
#include <string>

#include "sim/base/collective_kind.h"
#include "sim/cost/nccl_types.h"
#include "sim/cost/profile.h"

namespace CLI {
class App;
}

namespace busbar {

/// Runs `body` and returns its exit code; what it throws goes to standard error as one line that begins with
/// the program's name.
[[nodiscard]] int run_program(const char* name, const std::function<int()>& body);

/// False when the line was answered (--help, --version); then its exit code is in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values.
[[nodiscard]] bool parse_line(CLI::App& app, int argc, const char* const* argv, int& exit_code);

/// Standard output is a terminal, and NO_COLOR (no-color.org) is not set to anything.
[[nodiscard]] bool colours_wanted();

/// Of --collective. Errors (Error, kInput): no operation has that name.
[[nodiscard]] CollectiveKind collective_called(const std::string& name);

/// Of --tolerance, between 0 and 1. Errors (Error, kInput): anything else; `example` shows one ("2%").
[[nodiscard]] double tolerance_called(const std::string& text, const char* example);

/// Of --nccl-version. Errors (Error, kInput): no release of NCCL 2.
[[nodiscard]] NcclVersion nccl_version_called(const std::string& text);

/// Of --calibration: "default", "ideal" or a file. Errors (Error, kInput): none of these, or what its reader
/// says.
[[nodiscard]] Profile profile_called(const std::string& name);

}  // namespace busbar
