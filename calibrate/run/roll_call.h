// Who still answers when a collective hangs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/run/tcp_socket.h"

namespace busbar {

/// Where processes report that they wait: a listener of the first one, and a word that only this run knows.
struct RollCallPlace {
  std::string address, token;
  std::uint16_t port = 0;
};

/// A word of 32 hex digits from the system's random source.
[[nodiscard]] std::string random_token();

/// The first process's side: hears the others until each has reported or `patience_s` is over. Returns
/// reports[process]; "" where none came. Its own report is given.
[[nodiscard]] std::vector<std::string> hear_roll_call(const TcpSocket& listener, const std::string& token,
                                                      std::vector<std::string> own_and_others,
                                                      double patience_s);

/// The others' side: true once the first process has heard it.
[[nodiscard]] bool report_to_roll_call(const RollCallPlace& place, std::size_t process,
                                       const std::string& what, double patience_s);

/// "rank 2 on b does not answer; the others wait in all_reduce of 1 MiB", or, when all answer, where each
/// waits. `names[process]`.
[[nodiscard]] std::string roll_call_verdict(const std::vector<std::string>& reports,
                                            const std::vector<std::string>& names);

}  // namespace busbar
