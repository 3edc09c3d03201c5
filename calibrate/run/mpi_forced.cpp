#include "calibrate/run/mpi_forced.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string_view>

#include "sim/base/error.h"

namespace busbar {

/// How coll/tuned calls one of Busbar's algorithms. Source: the enumerators that `ompi_info --param coll
/// tuned --level 9` lists; what each does: ompi/mca/coll/base/coll_base_*.c of Open MPI 4.1.
struct ForcedRow {
  CollectiveKind kind;
  std::string_view algorithm;  // Busbar's
  std::string_view variable;   // coll_tuned_<variable>_algorithm
  std::string_view value;      // its enumerator
  int segment;                 // bytes of a pipeline's pieces; 0: the variable is left alone
  bool power_of_two = false;   // other group sizes first fold ranks away, which the plan does not describe
};

namespace {

// Pieces of a pipelined chain: small against the sizes where a chain pays, large against TCP's packets.
constexpr int kPiece = 32 * 1024;

constexpr ForcedRow kRows[] = {
    {CollectiveKind::kAllReduce, "ring", "allreduce", "ring", 0},
    // Recursive halving, then recursive doubling.
    {CollectiveKind::kAllReduce, "halving-doubling", "allreduce", "rabenseifner", 0, true},
    {CollectiveKind::kAllGather, "ring", "allgather", "ring", 0},
    {CollectiveKind::kReduceScatter, "ring", "reduce_scatter", "ring", 0},
    {CollectiveKind::kBroadcast, "ring", "bcast", "pipeline", kPiece},
    {CollectiveKind::kBroadcast, "binomial", "bcast", "binomial", 0},
    {CollectiveKind::kReduce, "ring", "reduce", "pipeline", kPiece},
    {CollectiveKind::kReduce, "binomial", "reduce", "binomial", 0},
    {CollectiveKind::kGather, "direct", "gather", "basic_linear", 0},
    {CollectiveKind::kScatter, "direct", "scatter", "basic_linear", 0},
    {CollectiveKind::kAllToAll, "direct", "alltoall", "linear", 0},
    {CollectiveKind::kAllToAll, "pairwise", "alltoall", "pairwise", 0},
};

// MPI's tool interface lives apart from MPI_Init; it is started once and left to the end of the process.
void start_tools() {
  static const int once = [] {
    int provided = 0;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  }();
  static_cast<void>(once);
}

struct Variable {
  int index = 0;
  MPI_T_enum values = MPI_T_ENUM_NULL;
};

std::optional<Variable> find_variable(const std::string& name) {
  start_tools();
  Variable found;
  if (MPI_T_cvar_get_index(name.c_str(), &found.index) != MPI_SUCCESS) return std::nullopt;
  int name_size = 0, about_size = 0, verbosity = 0, bind = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (MPI_T_cvar_get_info(found.index, nullptr, &name_size, &verbosity, &type, &found.values, nullptr,
                          &about_size, &bind, &scope) != MPI_SUCCESS)
    return std::nullopt;
  return found;
}

std::optional<int> value_of(const Variable& variable, std::string_view wanted) {
  if (variable.values == MPI_T_ENUM_NULL) return std::nullopt;
  int count = 0, size = 0;
  std::array<char, 64> text{};
  MPI_T_enum_get_info(variable.values, &count, nullptr, &size);
  for (int i = 0; i < count; ++i) {
    int value = 0, length = static_cast<int>(text.size());
    MPI_T_enum_get_item(variable.values, i, &value, text.data(), &length);
    if (wanted == text.data()) return value;
  }
  return std::nullopt;
}

bool write(const std::string& name, int value) {
  const auto variable = find_variable(name);
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (!variable || MPI_T_cvar_handle_alloc(variable->index, nullptr, &handle, &count) != MPI_SUCCESS)
    return false;
  const bool ok = MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  return ok;
}

std::string algorithm_variable(const ForcedRow& row) {
  return fmt::format("coll_tuned_{}_algorithm", row.variable);
}

bool force(const ForcedRow& row) {
  const auto variable = find_variable(algorithm_variable(row));
  const auto value = variable ? value_of(*variable, row.value) : std::nullopt;
  if (!value || !write(algorithm_variable(row), *value)) return false;
  return row.segment == 0 || write(algorithm_variable(row) + "_segmentsize", row.segment);
}

void release(const ForcedRow& row) {
  write(algorithm_variable(row), 0);  // "ignore"
  if (row.segment != 0) write(algorithm_variable(row) + "_segmentsize", 0);
}

const ForcedRow* find_row(CollectiveKind kind, const std::string& algorithm) {
  for (const ForcedRow& row : kRows)
    if (row.kind == kind && row.algorithm == algorithm) return &row;
  return nullptr;
}

}  // namespace

std::vector<std::string> forcible_algorithms(CollectiveKind kind, std::int64_t ranks) {
  std::vector<std::string> names;
  for (const ForcedRow& row : kRows) {
    if (row.kind != kind || (row.power_of_two && !std::has_single_bit(static_cast<std::uint64_t>(ranks))))
      continue;
    static std::map<const ForcedRow*, bool> works;  // tried once
    const auto [known, is_new] = works.try_emplace(&row, false);
    if (is_new && force(row)) {
      known->second = true;
      release(row);
    }
    if (known->second) names.emplace_back(row.algorithm);
  }
  return names;
}

ForcedAlgorithm::ForcedAlgorithm(CollectiveKind kind, const std::string& algorithm) {
  if (algorithm.empty()) return;
  row_ = find_row(kind, algorithm);
  if (row_ == nullptr || !force(*row_))
    throw Error({.kind = ErrorKind::kSystem,
                 .where = std::string(name_of(kind)),
                 .message = fmt::format("this MPI cannot force {}", quoted(algorithm))});
}

ForcedAlgorithm::~ForcedAlgorithm() {
  if (row_ != nullptr) release(*row_);
}

}  // namespace busbar
