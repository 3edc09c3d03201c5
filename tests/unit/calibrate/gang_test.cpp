#include "calibrate/run/gang.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include "calibrate/run/roll_call.h"
#include "calibrate/run/tcp_socket.h"
#include "calibrate/run/watchdog.h"
#include "sim/base/error.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

constexpr const char* kHere = "127.0.0.1";

std::uint16_t free_port() { return TcpSocket::listen(kHere, 0).port(); }

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kSystem);
    return e.what();
  }
  return "no error";
}

// What each of `n` processes, here threads, gathers in two rounds.
using Make = std::function<std::unique_ptr<Gang>(std::size_t)>;
std::vector<std::vector<std::string>> two_rounds(std::size_t n, const Make& make) {
  std::vector<std::future<std::vector<std::string>>> threads;
  for (std::size_t p = 0; p < n; ++p)
    threads.push_back(std::async(std::launch::async, [&make, p] {
      const auto gang = make(p);
      std::vector<std::string> all = gang->gather("a" + std::to_string(p), 10);
      const std::vector<std::string> second = gang->gather(std::string(p * 100000, 'x'), 10);
      for (const std::string& text : second) all.push_back(std::to_string(text.size()));
      return all;
    }));
  std::vector<std::vector<std::string>> results;
  for (auto& thread : threads) results.push_back(thread.get());
  return results;
}

void expect_both_rounds(const std::vector<std::vector<std::string>>& results) {
  for (const auto& all : results)
    EXPECT_EQ(all, (std::vector<std::string>{"a0", "a1", "a2", "0", "100000", "200000"}));
}

TEST(TcpGang, EverybodyHearsEverybody) {
  const std::uint16_t port = free_port();
  expect_both_rounds(two_rounds(3, [&](std::size_t p) {
    return meet_by_tcp({p, 3, "word-of-run"}, kHere, port, 10);
  }));
}

TEST(TcpGang, StrangersAndWrongTokensAreLeftAloneAndTheMissingNamed) {
  const std::uint16_t port = free_port();
  auto first = std::async(std::launch::async, [&] {
    return failure_of([&] { static_cast<void>(meet_by_tcp({0, 3, "word-of-run"}, kHere, port, 1)); });
  });
  const TcpSocket stranger = TcpSocket::connect(kHere, port, deadline_in(5));
  EXPECT_TRUE(stranger.send("GET / HTTP/1.1", deadline_in(1)));
  EXPECT_NE(failure_of([&] {
              static_cast<void>(meet_by_tcp({1, 3, "other word"}, kHere, port, 3));
            }).find("process 0 did not take process 1 in"),
            std::string::npos);
  EXPECT_EQ(first.get(), "processes 1, 2: do not answer within 1 s");
}

TEST(TcpGang, AProcessThatStopsIsNamedByTheOthers) {
  const std::uint16_t port = free_port();
  std::promise<void> over;
  auto silent = std::async(std::launch::async, [&] {
    const auto gang = meet_by_tcp({2, 3, "word-of-run"}, kHere, port, 10);
    over.get_future().wait();
  });
  auto waiting = std::async(std::launch::async, [&] {
    const auto gang = meet_by_tcp({1, 3, "word-of-run"}, kHere, port, 10);
    return failure_of([&] { static_cast<void>(gang->gather("one", 0.3)); });
  });
  std::string said;
  {
    const auto gang = meet_by_tcp({0, 3, "word-of-run"}, kHere, port, 10);
    said = failure_of([&] { static_cast<void>(gang->gather("zero", 0.3)); });
  }
  over.set_value();
  EXPECT_EQ(said, "process 2: does not answer within 0.3 s");
  EXPECT_EQ(waiting.get(), "process 0: does not answer within 0.3 s");
  silent.get();
}

TEST(TcpSocket, RefusesMessagesLongerThanAnnouncedAsBounded) {
  const TcpSocket listener = TcpSocket::listen(kHere, 0);
  const TcpSocket client = TcpSocket::connect(kHere, listener.port(), deadline_in(5));
  const auto server = listener.accept(deadline_in(5));
  ASSERT_TRUE(server.has_value());
  ASSERT_TRUE(client.send(std::string(100, 'x'), deadline_in(1)));
  EXPECT_EQ(server->receive(deadline_in(1), 99), std::nullopt);
}

TEST(FileGang, EverybodyHearsEverybodyAndATokenServesOnce) {
  const TemporaryFolder temporary;
  const std::string folder = temporary.path().string();
  expect_both_rounds(two_rounds(3, [&](std::size_t p) { return meet_in_folder({p, 3, "word"}, folder); }));
  EXPECT_NE(failure_of([&] {
              static_cast<void>(meet_in_folder({1, 3, "word"}, folder));
            }).find("used before"),
            std::string::npos);
  const auto gang = meet_in_folder({0, 2, "next"}, folder);
  EXPECT_EQ(failure_of([&] { static_cast<void>(gang->gather("x", 0.1)); }),
            "process 1: does not answer within 0.1 s");
}

TEST(RollCall, NamesWhoDoesNotAnswer) {
  const TcpSocket listener = TcpSocket::listen(kHere, 0);
  const RollCallPlace place{.address = kHere, .token = random_token(), .port = listener.port()};
  auto one =
      std::async(std::launch::async, [&] { return report_to_roll_call(place, 1, "all_reduce of 1 MiB", 5); });
  auto stranger = std::async(std::launch::async, [&] {
    return report_to_roll_call({.address = kHere, .token = "guess", .port = place.port}, 2, "x", 5);
  });
  const auto reports = hear_roll_call(listener, place.token, {"all_reduce of 1 MiB", "", ""}, 0.5);
  EXPECT_EQ(roll_call_verdict(reports, {"rank 0 on a", "rank 1 on b", "rank 2 on c"}),
            "rank 2 on c does not answer; the others wait in all_reduce of 1 MiB");
  EXPECT_TRUE(one.get());
  static_cast<void>(stranger.get());
}

TEST(Watchdog, WakesOnlyForWhatTakesTooLong) {
  std::promise<std::string> heard;
  Watchdog watchdog(0.05, [&](const std::string& what) { heard.set_value(what); });
  watchdog.arm("short");
  watchdog.disarm();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  watchdog.arm("long");
  EXPECT_EQ(heard.get_future().get(), "long");
}

}  // namespace
}  // namespace busbar
