// A table as a source printed it, and what its figures say of its operation and its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result/measurement.h"

namespace busbar {

/// What a bare table cannot say of itself.
struct ImportHints {
  std::optional<CollectiveKind> operation;  // --collective
  std::optional<std::int64_t> ranks;        // --ranks
};

/// A figure and half a unit of its last printed digit: "41.20" is 41.2 +- 0.005.
struct Printed {
  double value = 0, half = 0;
};
[[nodiscard]] std::optional<Printed> parse_printed(std::string_view text);

struct RawRow {
  std::int64_t size = 0;
  std::int64_t count = 0;  // 0: not printed
  Printed time_us;
  std::optional<Printed> algbw, busbw;  // GB/s
  std::optional<double> in_place_us;
  bool checked = false, checked_in_place = false;  // a number stands in the columns of wrong elements
  std::int64_t wrong = 0;                          // elements, out of place
};

/// What a list of ranks says; a table's share of it.
struct RankSummary {
  std::int64_t ranks = 0;                               // the highest rank + 1, 0 without a list
  bool complete = false;                                // every rank below the highest is there
  std::optional<std::int64_t> hosts, gpus_per_process;  // of a complete list whose hosts are told
  std::string gpu;                                      // the first rank's
  std::vector<std::string> rank_hosts;                  // of a complete list, by rank; else empty
  friend bool operator==(const RankSummary&, const RankSummary&) = default;
};

/// The lines "Rank 3 Group 0 Pid 123 on host device 3 [0x1b] GPU".
class RankList {
 public:
  void add(std::int64_t rank, std::string_view host, std::int64_t pid, std::string_view gpu);
  [[nodiscard]] RankSummary summary() const;

 private:
  struct Entry {
    std::int64_t rank = 0, pid = 0;
    std::string host, gpu;
  };
  std::vector<Entry> entries_;
};

struct RawTable {
  std::string where;                 // "log.txt:12"
  std::vector<std::string> names;    // of the operation, by the source itself; the first counts most
  std::vector<std::string> guesses;  // from the file's name or from the table before; a hint counts more
  std::string type, redop;           // "" not printed; redop may be "none"
  std::optional<std::int64_t> root;
  RankSummary devices;
  std::int64_t told_ranks = 0;  // in so many words, by a column or field; 0: not told
  std::optional<std::int64_t> gpus_per_process;
  std::string nccl_version;
  std::optional<bool> cuda_graph;
  std::vector<RawRow> rows;
  bool cut = false;  // the last row ends the file without a line feed: it may be torn
  std::vector<std::string> notes;
};

/// Drops a last row that may be torn and whose figures disagree with the rows above it, with a note.
void drop_torn_end(RawTable& table);

/// busbw / algbw of the row with the largest algbw, with its rounding. Unknown where all are tiny.
struct FactorRange {
  double low = 0, high = 0;
};
[[nodiscard]] std::optional<FactorRange> factor_of(const RawTable& table);

/// The operation: of the names (the source's, the hint, guesses) the first that fits the figures, else what
/// the figures alone say. Adds a note where a name is overruled. nullopt: they do not say.
[[nodiscard]] std::optional<CollectiveKind> operation_of(RawTable& table, const ImportHints& hints);

/// The number of ranks from count (gathers and scatters), else from the factor, the list of ranks and the
/// hint; figures win over words, with a note. 0: unknown.
[[nodiscard]] std::int64_t ranks_of(RawTable& table, CollectiveKind kind, const ImportHints& hints);

/// Bytes of an element by nccl-tests' name of its type ("bfloat16"), 0 for an unknown one.
[[nodiscard]] std::int64_t element_bytes(std::string_view type);

/// The operation that a path's last part names: "a100x8_all_gather.csv" -> "all_gather"; "" if none.
[[nodiscard]] std::string operation_in_name(std::string_view path);

/// Tables of one-row runs whose sizes grow, joined where everything else agrees.
[[nodiscard]] std::vector<RawTable> joined(std::vector<RawTable> tables);

/// Measured tables out of raw ones. Rows of size 0, rows with wrong results, rows whose algbw is not size /
/// time, in-place times that no hardware reaches, and tables of operations that are not modelled are left
/// out, with a note. Throws Error (kInput): an operation that nothing tells, or no rows left.
[[nodiscard]] Measurement finish_tables(std::vector<RawTable> tables, const ImportHints& hints,
                                        const std::string& name);

}  // namespace busbar
