// The processes of a run and what they tell each other before and between measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace busbar {

/// Processes that meet. All make the same calls in the same order.
class Gang {
 public:
  Gang() = default;
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;
  virtual ~Gang() = default;

  [[nodiscard]] virtual std::size_t process() const = 0;
  [[nodiscard]] virtual std::size_t processes() const = 0;
  /// Everybody's text, by process. Errors (kSystem): some did not come in time; names them.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine, double timeout_s) = 0;
};

/// One process by itself.
class LonelyGang final : public Gang {
 public:
  [[nodiscard]] std::size_t process() const override { return 0; }
  [[nodiscard]] std::size_t processes() const override { return 1; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine, double) override { return {mine}; }
};

/// A word that only processes of this run know, and this one's place among them. The word keeps strays and
/// other runs out; it travels unencrypted, so it is no protection on a network that others read.
struct Membership {
  std::size_t process = 0, processes = 1;
  std::string token;
};

/// Meets at a TCP port of process 0, which listens on `address` alone; the others connect to it until the
/// timeout. Messages are bounded. Errors (kSystem): nobody listens, some do not come.
[[nodiscard]] std::unique_ptr<Gang> meet_by_tcp(const Membership& me, const std::string& address,
                                                std::uint16_t port, double timeout_s);

/// Meets in a folder that all processes share. Names begin with the token, and each process removes its own
/// files once they are read, but for its first and last (the folder may be removed after the run). Errors
/// (kSystem): the folder cannot be written; the token was used before.
[[nodiscard]] std::unique_ptr<Gang> meet_in_folder(const Membership& me, const std::string& folder);

/// "process 2 does not answer", "processes 1, 3 do not answer": the error of a `gather`.
[[noreturn]] void fail_missing(const std::vector<std::size_t>& missing, double timeout_s);

}  // namespace busbar
