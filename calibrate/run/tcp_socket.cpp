#include "calibrate/run/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr int kBacklog = 4096;
constexpr auto kRetry = std::chrono::milliseconds(50);

[[noreturn]] void refused(const std::string& where, const std::string& what) {
  throw Error({.kind = ErrorKind::kSystem, .where = where, .message = what});
}

sockaddr_in address_from(const std::string& address, std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1)
    refused(quoted(address), "is not an IPv4 address");
  return place;
}

int new_socket() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) refused("TCP", fmt::format("cannot open a socket: {}", std::strerror(errno)));
  return file;
}

// True once the socket is ready; false at the deadline.
bool wait_for(int file, short what, Deadline deadline) {
  using std::chrono::milliseconds;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{file, what, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0 && left <= 60000) return false;
  }
}

// Moves `size` bytes with `move` (send or recv); false: gone or too late.
template <class Move>
bool move_all(int file, std::size_t size, short what, Deadline deadline, Move move) {
  for (std::size_t at = 0; at < size;) {
    const ssize_t n = move(at, size - at);
    if (n > 0) {
      at += static_cast<std::size_t>(n);
      continue;
    }
    const bool later = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (!later || (errno == EAGAIN && !wait_for(file, what, deadline))) return false;
  }
  return true;
}

std::string text_of(const sockaddr* address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  sockaddr_in place{};
  std::memcpy(&place, address, sizeof place);
  inet_ntop(AF_INET, &place.sin_addr, text.data(), static_cast<socklen_t>(text.size()));
  return text.data();
}

struct NamedAddress {
  std::string interface, address;
  bool outside = false;  // up and no loopback
};

std::vector<NamedAddress> addresses() {
  std::vector<NamedAddress> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET)
      found.push_back({entry->ifa_name, text_of(entry->ifa_addr),
                       (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0});
  freeifaddrs(list);
  return found;
}

}  // namespace

Deadline deadline_in(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(seconds));
}

TcpSocket::TcpSocket(TcpSocket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
TcpSocket& TcpSocket::operator=(TcpSocket&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
TcpSocket::~TcpSocket() {
  if (file_ >= 0) ::close(file_);
}

TcpSocket TcpSocket::listen(const std::string& address, std::uint16_t port) {
  const sockaddr_in place = address_from(address, port);
  TcpSocket socket(new_socket());
  const int on = 1;
  static_cast<void>(::setsockopt(socket.file_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  if (::bind(socket.file_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
      ::listen(socket.file_, kBacklog) != 0)
    refused(fmt::format("{}:{}", address, port), fmt::format("cannot listen: {}", std::strerror(errno)));
  return socket;
}

TcpSocket TcpSocket::connect(const std::string& address, std::uint16_t port, Deadline deadline) {
  const sockaddr_in place = address_from(address, port);
  while (true) {
    TcpSocket socket(new_socket());
    int error =
        ::connect(socket.file_, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 ? 0 : errno;
    if (error == EINPROGRESS && wait_for(socket.file_, POLLOUT, deadline)) {
      socklen_t size = sizeof error;
      static_cast<void>(::getsockopt(socket.file_, SOL_SOCKET, SO_ERROR, &error, &size));
    }
    if (error == 0) {
      const int on = 1;
      static_cast<void>(::setsockopt(socket.file_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
      return socket;
    }
    if (std::chrono::steady_clock::now() + kRetry >= deadline)
      refused(fmt::format("{}:{}", address, port),
              fmt::format("nobody answers: {}", std::strerror(error == EINPROGRESS ? ETIMEDOUT : error)));
    std::this_thread::sleep_for(kRetry);
  }
}

std::uint16_t TcpSocket::port() const {
  sockaddr_in place{};
  socklen_t size = sizeof place;
  static_cast<void>(::getsockname(file_, reinterpret_cast<sockaddr*>(&place), &size));
  return ntohs(place.sin_port);
}

std::optional<TcpSocket> TcpSocket::accept(Deadline deadline) const {
  while (wait_for(file_, POLLIN, deadline)) {
    const int file = ::accept4(file_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0) continue;
    const int on = 1;
    static_cast<void>(::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    return TcpSocket(file);
  }
  return std::nullopt;
}

bool TcpSocket::send(const std::string& message, Deadline deadline) const {
  if (message.size() > kLongestMessage) return false;
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(message.size()));
  std::string frame(sizeof length, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  frame += message;
  return move_all(file_, frame.size(), POLLOUT, deadline, [&](std::size_t at, std::size_t size) {
    return ::send(file_, frame.data() + at, size, MSG_NOSIGNAL);
  });
}

std::optional<std::string> TcpSocket::receive(Deadline deadline, std::uint32_t longest) const {
  const auto read_into = [&](char* to, std::size_t bytes) {
    return move_all(file_, bytes, POLLIN, deadline,
                    [&](std::size_t at, std::size_t size) { return ::recv(file_, to + at, size, 0); });
  };
  std::uint32_t length = 0;
  if (!read_into(reinterpret_cast<char*>(&length), sizeof length)) return std::nullopt;
  length = ntohl(length);
  if (length > longest) return std::nullopt;
  std::string message(length, '\0');
  if (!read_into(message.data(), length)) return std::nullopt;
  return message;
}

std::string address_of_interface(const std::string& interface) {
  std::vector<std::string> names;
  for (const NamedAddress& entry : addresses()) {
    if (entry.interface == interface) return entry.address;
    names.push_back(entry.interface);
  }
  throw Error({.kind = ErrorKind::kSystem,
               .where = "--interface",
               .expected = fmt::format("an interface with an IPv4 address: {}", fmt::join(names, ", ")),
               .given = quoted(interface)});
}

std::string usual_address() {
  for (const NamedAddress& entry : addresses())
    if (entry.outside) return entry.address;
  return "127.0.0.1";
}

}  // namespace busbar
