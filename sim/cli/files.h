// Finding inputs and writing outputs whole.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace busbar {

/// `name` as it is when it exists; a bare file name also in the catalogue of `kind` ("topologies",
/// "workloads"), found beside the executable (build tree or installation). Errors (Error, kInput): found in
/// neither; the message names both and the nearest catalogue entry.
[[nodiscard]] std::string find_input(const std::string& name, std::string_view kind);

/// A folder that comes with the program, beside the executable as the catalogues are: "validate" holds the
/// suites' tables.
[[nodiscard]] std::string shared_folder(std::string_view kind);

/// Replaces a regular file only by a complete one (temporary file and rename); links, pipes and devices are
/// written through; "-" is standard output. Errors (Error, kSystem): the system refused; the old file is
/// untouched.
void write_output(const std::string& path, std::string_view content);

/// Refuses, before any work is done, what could not be written after it: empty paths and "-" are none.
/// Errors (Error, kSystem): a folder that is not there or cannot be written, a folder in place of a file;
/// (kInput): two of them name one file, or one names an input.
void check_outputs(std::span<const std::string> paths, std::span<const std::string> inputs);

/// Whether two paths name one regular file, or would if it were there. "-" and devices are no files.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

}  // namespace busbar
