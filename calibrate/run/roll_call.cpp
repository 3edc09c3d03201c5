#include "calibrate/run/roll_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

namespace busbar {

namespace {

constexpr std::uint32_t kLongestReport = 4096;
constexpr double kOneMessage_s = 1;

// "TOKEN PROCESS WHAT" into its place; anything else is a stranger's.
void take_report(const std::string& message, const std::string& token, std::vector<std::string>& reports) {
  if (!message.starts_with(token + " ")) return;
  const char* const begin = message.data() + token.size() + 1;
  const char* const end = message.data() + message.size();
  std::size_t process = 0;
  const auto [after, error] = std::from_chars(begin, end, process);
  if (error != std::errc() || after == end || *after != ' ' || process >= reports.size()) return;
  reports[process] = std::string(after + 1, end);
}

}  // namespace

std::string random_token() {
  std::random_device source;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", source());
  return token;
}

std::vector<std::string> hear_roll_call(const TcpSocket& listener, const std::string& token,
                                        std::vector<std::string> own_and_others, double patience_s) {
  const Deadline deadline = deadline_in(patience_s);
  const auto missing = [&] {
    return std::any_of(own_and_others.begin(), own_and_others.end(),
                       [](const std::string& r) { return r.empty(); });
  };
  while (missing()) {
    const auto caller = listener.accept(deadline);
    if (!caller) break;
    const auto message = caller->receive(std::min(deadline, deadline_in(kOneMessage_s)), kLongestReport);
    if (!message) continue;
    take_report(*message, token, own_and_others);
    static_cast<void>(caller->send("heard", deadline_in(kOneMessage_s)));
  }
  return own_and_others;
}

bool report_to_roll_call(const RollCallPlace& place, std::size_t process, const std::string& what,
                         double patience_s) try {
  const Deadline deadline = deadline_in(patience_s);
  const TcpSocket socket = TcpSocket::connect(place.address, place.port, deadline);
  if (!socket.send(fmt::format("{} {} {}", place.token, process, what), deadline)) return false;
  return socket.receive(deadline, kLongestReport).has_value();
} catch (const std::exception&) {
  return false;  // nobody listens: that is what the caller reports
}

std::string roll_call_verdict(const std::vector<std::string>& reports,
                              const std::vector<std::string>& names) {
  std::vector<std::string> missing, waiting;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].empty())
      missing.push_back(names[i]);
    else if (std::find(waiting.begin(), waiting.end(), reports[i]) == waiting.end())
      waiting.push_back(reports[i]);
  }
  if (missing.empty())
    return fmt::format("every rank answers, yet none goes on; they wait in {}", fmt::join(waiting, "; "));
  return fmt::format("{} {} not answer; the others wait in {}", fmt::join(missing, ", "),
                     missing.size() == 1 ? "does" : "do", fmt::join(waiting, "; "));
}

}  // namespace busbar
