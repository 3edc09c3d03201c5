#include "calibrate/run/mpi_gang.h"

#include <mpi.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "calibrate/run/tcp_socket.h"

namespace busbar {

namespace {

constexpr int kTag = 7;
constexpr auto kPause = std::chrono::microseconds(50);

// Point to point and polled, so that whoever does not come can be named.
class MpiGang final : public Gang {
 public:
  explicit MpiGang(const MpiSession& session) : session_(session) {}
  [[nodiscard]] std::size_t process() const override { return static_cast<std::size_t>(session_.rank()); }
  [[nodiscard]] std::size_t processes() const override { return static_cast<std::size_t>(session_.size()); }
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine, double timeout_s) override {
    ++round_;
    const Deadline deadline = deadline_in(timeout_s);
    std::vector<MPI_Request> sends(processes(), MPI_REQUEST_NULL);
    for (std::size_t p = 0; p < processes(); ++p)
      if (p != process())
        MPI_Isend(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, static_cast<int>(p), tag(),
                  MPI_COMM_WORLD, &sends[p]);
    std::vector<std::string> texts(processes());
    texts[process()] = mine;
    std::vector<std::size_t> missing;
    for (std::size_t p = 0; p < processes(); ++p)
      if (p != process() && !receive(p, texts[p], deadline)) missing.push_back(p);
    if (!missing.empty()) fail_missing(missing, timeout_s);
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    return texts;
  }

 private:
  // Rounds are told apart by turns: a process may already be in the next one.
  [[nodiscard]] int tag() const { return kTag + static_cast<int>(round_ % 2); }

  bool receive(std::size_t from, std::string& text, Deadline deadline) const {
    MPI_Status status;
    for (int there = 0; there == 0;) {
      MPI_Iprobe(static_cast<int>(from), tag(), MPI_COMM_WORLD, &there, &status);
      if (there != 0) break;
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(kPause);
    }
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    text.resize(static_cast<std::size_t>(length));
    MPI_Recv(text.data(), length, MPI_CHAR, static_cast<int>(from), tag(), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
  }

  const MpiSession& session_;
  std::size_t round_ = 0;
};

}  // namespace

std::unique_ptr<Gang> meet_by_mpi(const MpiSession& session) { return std::make_unique<MpiGang>(session); }

}  // namespace busbar
