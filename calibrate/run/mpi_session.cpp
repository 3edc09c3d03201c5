#include "calibrate/run/mpi_session.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <limits>
#include <utility>

#include "sim/base/error.h"

namespace busbar {

MpiSession::MpiSession() {
  // Without it coll/tuned ignores the variables that name an algorithm.
  // Source: Open MPI, `ompi_info --param coll tuned --level 9`.
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
  int provided = 0, rank = 0, size = 1;
  // A watchdog may speak while the main thread is stuck outside MPI.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = rank;
  size_ = size;
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() == 0) MPI_Finalize();
}

std::string MpiSession::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data(), static_cast<std::size_t>(length));
  // "Open MPI v4.1.4, package: ..." or "MPICH Version:\t4.0.2\n...".
  name.resize(std::min(name.find(','), name.size()));
  name.resize(std::min(name.find('\n'), name.size()));
  std::replace(name.begin(), name.end(), '\t', ' ');
  if (const std::size_t v = name.find(" v"); v != std::string::npos) name.erase(v + 1, 1);
  return name;
}

std::string MpiSession::host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
  int length = 0;
  MPI_Get_processor_name(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::vector<std::string> MpiSession::gather(const std::string& mine) const {
  const auto n = static_cast<std::size_t>(size_);
  BUSBAR_CHECK(mine.size() < (std::size_t{1} << 20));
  int length = static_cast<int>(mine.size());
  std::vector<int> lengths(n), places(n);
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < n; ++i) places[i] = places[i - 1] + lengths[i - 1];
  std::string all(static_cast<std::size_t>(places.back() + lengths.back()), '\0');
  MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR,
                 MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

std::string MpiSession::from_first(std::string text) const {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace busbar
