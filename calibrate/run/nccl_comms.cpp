#include "calibrate/run/nccl_comms.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "calibrate/run/cuda_check.h"

namespace busbar {

namespace {

// What a user has set stays for the library's own choice.
class ForcedEnvironment {
 public:
  explicit ForcedEnvironment(const ForcedChoice& choice)
      : algorithm_("NCCL_ALGO", choice.algorithm), protocol_("NCCL_PROTO", choice.protocol) {}

 private:
  class Variable {
   public:
    Variable(const char* name, const std::string& value) : name_(name) {
      if (const char* const before = std::getenv(name)) before_ = before;
      if (!value.empty()) ::setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
      if (before_)
        ::setenv(name_, before_->c_str(), 1);
      else
        ::unsetenv(name_);
    }

   private:
    const char* name_;
    std::optional<std::string> before_;
  };
  Variable algorithm_, protocol_;
};

std::string new_id() {
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id), "making a communicator's id");
  return {id.internal, sizeof id.internal};
}

}  // namespace

NcclComms::~NcclComms() {
  for (auto& [key, members] : made_)
    for (const NcclMember& member : members) {
      if (hung_)
        ncclCommAbort(member.comm);
      else
        ncclCommDestroy(member.comm);
    }
}

const std::vector<NcclMember>& NcclComms::get(const std::vector<std::uint32_t>& group,
                                              const ForcedChoice& choice, double timeout_s) {
  const Key key{group, choice};
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  return made_.emplace(key, make(group, choice, timeout_s)).first->second;
}

std::vector<NcclMember> NcclComms::make(const std::vector<std::uint32_t>& group, const ForcedChoice& choice,
                                        double timeout_s) {
  const auto mine = [&](std::uint32_t rank) {
    return rank >= first_rank_ && rank < first_rank_ + devices_.size();
  };
  const std::vector<std::string> ids = gang_.gather(mine(group.front()) ? new_id() : "", timeout_s);
  const auto made = std::find_if(ids.begin(), ids.end(), [](const std::string& id) { return !id.empty(); });
  ncclUniqueId id;
  BUSBAR_CHECK(made != ids.end() && made->size() == sizeof id.internal);
  std::memcpy(id.internal, made->data(), sizeof id.internal);

  const ForcedEnvironment forced(choice);
  const auto n = static_cast<int>(group.size());
  std::vector<NcclMember> members;
  for (int r = 0; r < n; ++r)
    if (const std::uint32_t rank = group[static_cast<std::size_t>(r)]; mine(rank))
      members.push_back({.device = &devices_[rank - first_rank_], .rank = r, .ranks = n});
  check_nccl(ncclGroupStart(), "grouping");
  for (NcclMember& member : members) {
    member.device->use();
    check_nccl(ncclCommInitRank(&member.comm, n, id, member.rank), "making a communicator");
  }
  check_nccl(ncclGroupEnd(), "making a communicator");
  return members;
}

}  // namespace busbar
