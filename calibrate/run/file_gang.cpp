#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "calibrate/run/gang.h"
#include "calibrate/run/tcp_socket.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

namespace fs = std::filesystem;
constexpr auto kPause = std::chrono::milliseconds(2);
constexpr std::uintmax_t kLongestFile = kLongestMessage;

[[noreturn]] void refused(const fs::path& path, const std::string& what) {
  throw Error({.kind = ErrorKind::kSystem, .where = path.string(), .message = what});
}

class FileGang final : public Gang {
 public:
  FileGang(Membership me, fs::path folder) : me_(std::move(me)), folder_(std::move(folder)) {
    if (me_.token.find_first_of("/\\") != std::string::npos)
      refused(folder_, fmt::format("a token cannot be a file name: {}", quoted(me_.token)));
    std::error_code error;
    if (!fs::is_directory(folder_, error)) refused(folder_, "is no folder");
    if (fs::exists(file(0, me_.process), error))
      refused(file(0, me_.process), "this token was used before; give each run its own");
  }
  [[nodiscard]] std::size_t process() const override { return me_.process; }
  [[nodiscard]] std::size_t processes() const override { return me_.processes; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine, double timeout_s) override;

 private:
  [[nodiscard]] fs::path file(std::size_t round, std::size_t process) const {
    return folder_ / fmt::format("{}.{}.{}", me_.token, round, process);
  }
  void put(const std::string& mine);
  [[nodiscard]] std::optional<std::string> get(std::size_t process) const;
  // Once all have come to round k, all have read round k-1.
  void forget(std::size_t round) {
    std::error_code ignored;
    if (round > 0)
      fs::remove(file(round, me_.process), ignored);  // round 0 stays: it marks the token as used
  }

  Membership me_;
  fs::path folder_;
  std::size_t round_ = 0;
};

// Under its name only once it is whole.
void FileGang::put(const std::string& mine) {
  const fs::path path = file(round_, me_.process), part = path.string() + ".part";
  std::ofstream out(part, std::ios::binary);
  out << mine;
  out.close();
  std::error_code error;
  if (!out) refused(part, "cannot write");
  fs::rename(part, path, error);
  if (error) refused(path, "cannot write: " + error.message());
}

std::optional<std::string> FileGang::get(std::size_t process) const {
  const fs::path path = file(round_, process);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return std::nullopt;
  if (size > kLongestFile) refused(path, "is longer than any message");
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return in || in.eof() ? std::optional(std::move(text)) : std::nullopt;
}

std::vector<std::string> FileGang::gather(const std::string& mine, double timeout_s) {
  put(mine);
  const Deadline deadline = deadline_in(timeout_s);
  std::vector<std::optional<std::string>> found(me_.processes);
  while (true) {
    std::vector<std::size_t> missing;
    for (std::size_t p = 0; p < me_.processes; ++p) {
      if (!found[p]) found[p] = get(p);
      if (!found[p]) missing.push_back(p);
    }
    if (missing.empty()) break;
    if (std::chrono::steady_clock::now() >= deadline) fail_missing(missing, timeout_s);
    std::this_thread::sleep_for(kPause);
  }
  if (round_ >= 1) forget(round_ - 1);
  ++round_;
  std::vector<std::string> texts;
  texts.reserve(found.size());
  for (auto& text : found) texts.push_back(std::move(*text));
  return texts;
}

}  // namespace

std::unique_ptr<Gang> meet_in_folder(const Membership& me, const std::string& folder) {
  return std::make_unique<FileGang>(me, folder);
}

}  // namespace busbar
