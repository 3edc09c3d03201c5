#include "sim/study/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "sim/base/digest.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr int kPatience_ms = 60'000;  // for other studies that write to the same file
// "busb" in the file's header (SQLite's application_id), so that another program's database is not taken for
// ours.
constexpr std::int64_t kApplication = 0x62757362;
// The mark before the table: a second study that opens the file meanwhile sees that it is ours.
constexpr const char* kOpen =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "PRAGMA application_id = 0x62757362;"
    "CREATE TABLE IF NOT EXISTS steps (key TEXT PRIMARY KEY, layout TEXT NOT NULL, figures TEXT NOT NULL, "
    "failure TEXT NOT NULL) WITHOUT ROWID;";

struct StatementEnd {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Statement = std::unique_ptr<sqlite3_stmt, StatementEnd>;

std::string text_of(sqlite3_stmt* s, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(s, column)));
}

// Hexadecimal floating point: every bit comes back.
std::string packed(const StepFigures& figures) {
  std::string text;
  for (const auto number : kStepNumbers) text += fmt::format("{:a} ", figures.*number);
  return text;
}

// None: not what packed() writes, or no step's figures: a time that is not above zero where the step ran, a
// negative or infinite number.
std::optional<StepFigures> unpacked(const std::string& text, std::string failure) {
  StepFigures figures{.failure = std::move(failure)};
  const char* at = text.c_str();
  for (const auto number : kStepNumbers) {
    char* end = nullptr;
    figures.*number = std::strtod(at, &end);
    if (end == at || *end != ' ' || !std::isfinite(figures.*number) || figures.*number < 0)
      return std::nullopt;
    at = end + 1;
  }
  if (*at != '\0' || (figures.failure.empty() && figures.step_s <= 0)) return std::nullopt;
  return figures;
}

// SQLite takes a few bytes for an empty file, and would write over them.
void refuse_stumps(const std::string& path) {
  constexpr std::uintmax_t kLeastPage = 512;  // bytes: https://www.sqlite.org/fileformat.html, 1.3.2
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (none || size == 0 || size >= kLeastPage) return;
  throw Error({.where = path,
               .expected = "a results file of plan, or none",
               .given = fmt::format("a file of {} bytes", size)});
}

bool may_write(const std::string& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

// As a URI (https://www.sqlite.org/uri.html). Immutable: without the files beside it that only a writer
// makes.
std::string read_only_name(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

}  // namespace

bool may_only_be_read(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return !may_write(path) || !may_write(folder.empty() ? "." : folder);
}

struct ResultsFile::Impl {
  std::string path;
  bool read_only = false;
  sqlite3* db = nullptr;
  Statement find, add;

  [[noreturn]] void fail() const {
    throw Error({.kind = ErrorKind::kSystem,
                 .where = path,
                 .message = fmt::format("not usable as a results file: {}",
                                        db == nullptr ? "out of memory" : sqlite3_errmsg(db))});
  }
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) fail();
  }
  Statement prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr));
    return Statement(statement);
  }
  void bind(const Statement& s, int place, const std::string& text) const {
    check(sqlite3_bind_text(s.get(), place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  [[nodiscard]] std::int64_t number(const char* sql) const {
    const Statement s = prepare(sql);
    check(sqlite3_step(s.get()));
    return sqlite3_column_int64(s.get(), 0);
  }
  // Before anything is written: an empty file becomes ours, another program's stays as it is.
  void refuse_others() const {
    const bool is_ours = number("PRAGMA application_id") == kApplication;
    if (is_ours || number("SELECT count(*) FROM sqlite_master") == 0) return;
    throw Error({.where = path,
                 .expected = "a results file of plan, or none",
                 .given = "another program's database"});
  }
  ~Impl() {
    find.reset();
    add.reset();
    sqlite3_close(db);
  }
};

ResultsFile::ResultsFile(const std::string& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  refuse_stumps(path);
  impl_->read_only = may_only_be_read(path);
  if (impl_->read_only)
    impl_->check(sqlite3_open_v2(read_only_name(path).c_str(), &impl_->db,
                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr));
  else
    impl_->check(sqlite3_open(path.c_str(), &impl_->db));
  sqlite3_busy_timeout(impl_->db, kPatience_ms);
  impl_->refuse_others();
  if (!impl_->read_only) impl_->check(sqlite3_exec(impl_->db, kOpen, nullptr, nullptr, nullptr));
  impl_->find = impl_->prepare("SELECT figures, failure, layout FROM steps WHERE key = ?");
  if (!impl_->read_only) impl_->add = impl_->prepare("INSERT OR IGNORE INTO steps VALUES (?, ?, ?, ?)");
}

bool ResultsFile::is_read_only() const { return impl_->read_only; }

ResultsFile::~ResultsFile() = default;

std::optional<StepFigures> ResultsFile::find(const std::string& key) const {
  sqlite3_stmt* s = impl_->find.get();
  impl_->bind(impl_->find, 1, key);
  const int code = sqlite3_step(s);
  impl_->check(code);
  std::optional<StepFigures> figures;
  if (code == SQLITE_ROW) {
    figures = unpacked(text_of(s, 0), text_of(s, 1));
    const std::string layout = text_of(s, 2);
    if (!figures) {
      sqlite3_reset(s);
      throw Error({.where = fmt::format("{}, row '{}'", impl_->path, key),
                   .message = fmt::format("the figures of {} are not those of a step", quoted(layout)),
                   .suggestion = "delete the row, or the file: plan simulates again what it lacks"});
    }
  }
  sqlite3_reset(s);
  return figures;
}

void ResultsFile::add(const std::string& key, const std::string& layout, const StepFigures& figures) {
  if (impl_->read_only) return;
  const std::string texts[] = {key, layout, packed(figures), figures.failure};
  for (int i = 0; i < 4; ++i) impl_->bind(impl_->add, i + 1, texts[i]);
  impl_->check(sqlite3_step(impl_->add.get()));
  impl_->check(sqlite3_reset(impl_->add.get()));
}

std::int64_t ResultsFile::size() const { return impl_->number("SELECT count(*) FROM steps"); }

std::string key_of(const Cell& cell, const Candidate& candidate) {
  std::string text = fmt::format("{}|{}", kFiguresVersion, cell.key);
  for (const std::int64_t number : numbers_of(candidate)) text += fmt::format("|{}", number);
  return fmt::format("{:016x}{:016x}", fnv1a(text), fnv1a(text, mix(kFnvStart, text.size())));
}

EvaluateTasks tasks_kept_in(ResultsFile& file, const std::vector<Cell>& cells, EvaluateTasks inner,
                            std::int64_t& reused) {
  return [&file, &cells, inner = std::move(inner), &reused](std::span<const StudyTask> tasks,
                                                            const TaskDone& done) {
    std::vector<StudyTask> missing;
    std::vector<std::size_t> number;
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      std::string key = key_of(cells[tasks[i].cell], tasks[i].candidate);
      if (const auto known = file.find(key)) {
        ++reused;
        done(i, *known);
        continue;
      }
      missing.push_back(tasks[i]);
      number.push_back(i);
      keys.push_back(std::move(key));
    }
    if (missing.empty()) return;
    inner(missing, [&](std::size_t i, const StepFigures& figures) {
      file.add(keys[i], busbar::text_of(missing[i].candidate), figures);
      done(number[i], figures);
    });
  };
}

}  // namespace busbar
