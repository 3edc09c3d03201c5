// TCP with deadlines and bounded messages: what processes of a run say to each other beside MPI and NCCL.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace busbar {

using Deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] Deadline deadline_in(double seconds);

/// Longest message, in bytes: a list of 2^16 ranks' places fits.
inline constexpr std::uint32_t kLongestMessage = 1U << 24;

/// One end of a connection, or a listener. Closed with the object.
class TcpSocket {
 public:
  TcpSocket() = default;
  TcpSocket(TcpSocket&& other) noexcept;
  TcpSocket& operator=(TcpSocket&& other) noexcept;
  ~TcpSocket();

  /// Listens on one address of this host, "10.0.0.1", port 0: any. Errors (kSystem): the system refused.
  [[nodiscard]] static TcpSocket listen(const std::string& address, std::uint16_t port);
  /// Tries again until the deadline while nobody listens. Errors (kSystem): nobody did; not an address.
  [[nodiscard]] static TcpSocket connect(const std::string& address, std::uint16_t port, Deadline deadline);

  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  [[nodiscard]] std::uint16_t port() const;
  /// A connection; none: the deadline came first.
  [[nodiscard]] std::optional<TcpSocket> accept(Deadline deadline) const;

  /// False: the other end is gone or too slow.
  [[nodiscard]] bool send(const std::string& message, Deadline deadline) const;
  /// None: the other end is gone, too slow, or announced more than `longest` bytes.
  [[nodiscard]] std::optional<std::string> receive(Deadline deadline,
                                                   std::uint32_t longest = kLongestMessage) const;

 private:
  explicit TcpSocket(int file) : file_(file) {}
  int file_ = -1;
};

/// The first IPv4 address of a network interface, "eth0". Errors (kSystem): no such interface or address;
/// names those there are.
[[nodiscard]] std::string address_of_interface(const std::string& interface);

/// The address by which `this` host is reached from outside: of the first interface that is up and no
/// loopback, else "127.0.0.1".
[[nodiscard]] std::string usual_address();

}  // namespace busbar
