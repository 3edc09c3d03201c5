// The one error type of the project, and the check for our own bugs.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace busbar {

/// What an error means for the process; the value is its exit code.
enum class ErrorKind {
  kTolerance = 1,  // a comparison beyond its tolerance
  kInput = 2,      // bad input or usage
  kSystem = 3,     // a device or tool is missing, or the system refused
  kJob = 4,        // the simulated job itself fails: mismatch, deadlock, does not fit
};

/// The parts of an error. `what()` joins them into one line:
///   "<where>: expected <expected>, got <given>; <suggestion>"   (absent parts are left out).
/// `message` replaces "expected ..., got ..." where that form does not fit.
struct ErrorParts {
  ErrorKind kind = ErrorKind::kInput;
  std::string where;  // file and JSON pointer or line:column, "--option", or "group 'dp', operation 3"
  std::string expected;
  std::string given;
  std::string message;
  std::string suggestion;  // "did you mean 'bandwidth'?"
};

class Error : public std::exception {
 public:
  explicit Error(ErrorParts parts);
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }
  [[nodiscard]] const ErrorParts& parts() const { return parts_; }
  [[nodiscard]] ErrorKind kind() const { return parts_.kind; }
  [[nodiscard]] int exit_code() const { return static_cast<int>(parts_.kind); }

 private:
  ErrorParts parts_;
  std::string line_;  // one line; control bytes of input are escaped
};

/// "did you mean 'x'?" for the nearest candidate, case-insensitive, else "". Near: a Damerau-Levenshtein
/// distance of at most 2 or 1/3 of the candidate's length, and of at most half of the longer word.
[[nodiscard]] std::string did_you_mean(std::string_view given, std::span<const std::string_view> candidates);

/// `text` in single quotes, cut to 60 characters, control bytes escaped as \xNN: safe for a terminal.
[[nodiscard]] std::string quoted(std::string_view text);
// Where <iomanip> is included, std::quoted would be found by its argument and fit a std::string better.
[[nodiscard]] inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }
[[nodiscard]] inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
[[nodiscard]] inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }

/// `text` safe for a terminal: what would move the cursor, break the line or turn the reading direction as
/// \xNN.
[[nodiscard]] std::string printable(std::string_view text);

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

}  // namespace busbar

/// Our own invariants: always on, aborts with the place. Never for user errors.
#define BUSBAR_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::busbar::detail::check_failed(#condition, __FILE__, __LINE__))
