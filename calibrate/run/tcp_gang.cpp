#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "calibrate/run/gang.h"
#include "calibrate/run/tcp_socket.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr std::string_view kHello = "busbar-gang/1";
constexpr std::uint32_t kLongestHello = 512;
constexpr double kHello_s = 2;       // strangers get no more
constexpr double kAnswerMore_s = 5;  // the first process is given longer than the others' messages to it

// Texts in one message: each behind its length in 8 hex digits.
std::string packed(const std::vector<std::string>& texts) {
  std::string message;
  for (const std::string& text : texts) message += fmt::format("{:08x}{}", text.size(), text);
  return message;
}

std::vector<std::string> unpacked(const std::string& message) {
  constexpr std::size_t kDigits = 8;
  constexpr int kHex = 16;
  std::vector<std::string> texts;
  for (std::size_t at = 0; at + kDigits <= message.size();) {
    std::size_t length = 0;
    std::from_chars(message.data() + at, message.data() + at + kDigits, length, kHex);
    at += kDigits;
    if (length > message.size() - at) break;
    texts.push_back(message.substr(at, length));
    at += length;
  }
  return texts;
}

class TcpGang final : public Gang {
 public:
  TcpGang(Membership me, const std::string& address, std::uint16_t port, double timeout_s)
      : me_(std::move(me)), members_(me_.processes) {
    if (me_.process == 0)
      welcome(TcpSocket::listen(address, port), timeout_s);
    else
      join(address, port, timeout_s);
  }
  [[nodiscard]] std::size_t process() const override { return me_.process; }
  [[nodiscard]] std::size_t processes() const override { return me_.processes; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine, double timeout_s) override {
    return me_.process == 0 ? collect(mine, timeout_s) : contribute(mine, timeout_s);
  }

 private:
  void welcome(const TcpSocket& listener, double timeout_s);
  void join(const std::string& address, std::uint16_t port, double timeout_s);
  std::vector<std::string> collect(const std::string& mine, double timeout_s);
  std::vector<std::string> contribute(const std::string& mine, double timeout_s);

  Membership me_;
  std::vector<TcpSocket> members_;  // of process 0: by process; of others: only [0]
};

// Who sends anything but this run's greeting is left alone.
void TcpGang::welcome(const TcpSocket& listener, double timeout_s) {
  const Deadline deadline = deadline_in(timeout_s);
  for (std::size_t joined = 1; joined < me_.processes;) {
    auto caller = listener.accept(deadline);
    if (!caller) break;
    const auto hello = caller->receive(std::min(deadline, deadline_in(kHello_s)), kLongestHello);
    if (!hello) continue;
    for (std::size_t p = 1; p < me_.processes; ++p) {
      if (*hello != fmt::format("{} {} {} {}", kHello, me_.token, p, me_.processes) || members_[p].is_open())
        continue;
      members_[p] = std::move(*caller);
      ++joined;
      break;
    }
  }
  std::vector<std::size_t> missing;
  for (std::size_t p = 1; p < me_.processes; ++p)
    if (!members_[p].is_open() || !members_[p].send("welcome", deadline_in(kHello_s))) missing.push_back(p);
  if (!missing.empty()) fail_missing(missing, timeout_s);
}

void TcpGang::join(const std::string& address, std::uint16_t port, double timeout_s) {
  const Deadline deadline = deadline_in(timeout_s);
  members_[0] = TcpSocket::connect(address, port, deadline);
  const std::string hello = fmt::format("{} {} {} {}", kHello, me_.token, me_.process, me_.processes);
  if (members_[0].send(hello, deadline) && members_[0].receive(deadline, kLongestHello) == "welcome") return;
  throw Error({.kind = ErrorKind::kSystem,
               .where = fmt::format("{}:{}", address, port),
               .message = fmt::format("process 0 did not take process {} in", me_.process),
               .suggestion = "it waits for others, or has another --token or number of processes"});
}

std::vector<std::string> TcpGang::collect(const std::string& mine, double timeout_s) {
  const Deadline deadline = deadline_in(timeout_s);
  std::vector<std::string> texts(me_.processes);
  std::vector<std::size_t> missing;
  texts[0] = mine;
  for (std::size_t p = 1; p < me_.processes; ++p) {
    auto text = members_[p].receive(deadline);
    if (text)
      texts[p] = std::move(*text);
    else
      missing.push_back(p);
  }
  if (!missing.empty()) fail_missing(missing, timeout_s);
  const std::string all = packed(texts);
  for (std::size_t p = 1; p < me_.processes; ++p)
    if (!members_[p].send(all, deadline_in(timeout_s))) missing.push_back(p);
  if (!missing.empty()) fail_missing(missing, timeout_s);
  return texts;
}

std::vector<std::string> TcpGang::contribute(const std::string& mine, double timeout_s) {
  const Deadline deadline = deadline_in(timeout_s + kAnswerMore_s);
  if (!members_[0].send(mine, deadline)) fail_missing({0}, timeout_s);
  const auto all = members_[0].receive(deadline);
  if (!all) fail_missing({0}, timeout_s);
  std::vector<std::string> texts = unpacked(*all);
  if (texts.size() != me_.processes) fail_missing({0}, timeout_s);
  return texts;
}

}  // namespace

void fail_missing(const std::vector<std::size_t>& missing, double timeout_s) {
  throw Error(
      {.kind = ErrorKind::kSystem,
       .where = fmt::format("process{} {}", missing.size() == 1 ? "" : "es", fmt::join(missing, ", ")),
       .message =
           fmt::format("{} not answer within {:g} s", missing.size() == 1 ? "does" : "do", timeout_s)});
}

std::unique_ptr<Gang> meet_by_tcp(const Membership& me, const std::string& address, std::uint16_t port,
                                  double timeout_s) {
  return std::make_unique<TcpGang>(me, address, port, timeout_s);
}

}  // namespace busbar
