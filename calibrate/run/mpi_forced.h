// Forcing an algorithm of Open MPI's coll/tuned, so that what is measured is what Busbar's plans describe.
#pragma once

#include <string>
#include <vector>

#include "sim/base/collective_kind.h"

namespace busbar {

/// Busbar's names of the algorithms that can be forced in the running library; none where it is not Open MPI
/// or the variables are missing.
[[nodiscard]] std::vector<std::string> forcible_algorithms(CollectiveKind kind, std::int64_t ranks);

/// Communicators made while it lives use the algorithm; "" leaves the choice to the library. Every rank of
/// the new communicator must force the same.
class ForcedAlgorithm {
 public:
  ForcedAlgorithm(CollectiveKind kind, const std::string& algorithm);
  ForcedAlgorithm(const ForcedAlgorithm&) = delete;
  ForcedAlgorithm& operator=(const ForcedAlgorithm&) = delete;
  ~ForcedAlgorithm();

 private:
  const struct ForcedRow* row_ = nullptr;
};

}  // namespace busbar
