#include "sim/cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/process_memory.h"
#include "sim/base/unit_text.h"
#include "sim/cost/profile_io.h"

namespace busbar {

int run_program(const char* name, const std::function<int()>& body) {
  prepare_memory();
  try {
    return body();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", name);
    return static_cast<int>(ErrorKind::kSystem);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return static_cast<int>(ErrorKind::kSystem);
  }
}

bool parse_line(CLI::App& app, int argc, const char* const* argv, int& exit_code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    exit_code = app.exit(done);
    return false;
  } catch (const CLI::ParseError& e) {
    throw Error({.where = "command line", .message = e.what(), .suggestion = "see --help"});
  }
  // As from a variable of a script that is not set.
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty()) throw Error({.where = option->get_name(), .expected = "a value", .given = "\"\""});
  return true;
}

bool colours_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(STDOUT_FILENO) != 0 && !is_dumb && (no_colour == nullptr || *no_colour == '\0');
}

CollectiveKind collective_called(const std::string& name) {
  const auto kind = parse_collective(name);
  if (!kind)
    throw Error({.where = "--collective",
                 .expected = one_of(collective_names()),
                 .given = quoted(name),
                 .suggestion = did_you_mean(name, collective_names())});
  return *kind;
}

double tolerance_called(const std::string& text, const char* example) {
  const Parsed<double> parsed = parse_percent(text);
  const auto* share = std::get_if<double>(&parsed);
  if (share == nullptr || *share <= 0 || *share >= 1)
    throw Error({.where = "--tolerance",
                 .expected = fmt::format("a share between 0% and 100%, such as {}", example),
                 .given = quoted(text)});
  return *share;
}

NcclVersion nccl_version_called(const std::string& text) {
  const std::optional<NcclVersion> version = parse_nccl_version(text);
  if (!version || version->major < 2)
    throw Error({.where = "--nccl-version",
                 .expected = "a release of NCCL 2, such as 2.21.5",
                 .given = quoted(text)});
  return *version;
}

Profile profile_called(const std::string& name) {
  if (name == "default") return default_profile();
  if (name == "ideal") return ideal_profile();
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return read_profile(JsonDocument::load(name));
  throw Error({.where = "--calibration",
               .expected = "default, ideal or a busbar.profile/1 file",
               .given = quoted(name)});
}

}  // namespace busbar
