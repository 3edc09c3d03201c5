#include "sim/study/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/base/digest.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr int kPatience_ms = 60'000;  // for other studies that write to the same file
// "busb" in the file's header (SQLite's application_id), so that another program's database is not taken for
// ours.
constexpr const char* kOpen =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "CREATE TABLE IF NOT EXISTS steps (key TEXT PRIMARY KEY, layout TEXT NOT NULL, figures TEXT NOT NULL, "
    "failure TEXT NOT NULL) WITHOUT ROWID;"
    "PRAGMA application_id = 1651864418;";

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

std::optional<StepFigures> unpacked(const std::string& text) {
  StepFigures figures;
  const char* at = text.c_str();
  for (const auto number : kStepNumbers) {
    char* end = nullptr;
    figures.*number = std::strtod(at, &end);
    if (end == at) return std::nullopt;
    at = end;
  }
  return figures;
}

}  // namespace

struct ResultsFile::Impl {
  std::string path;
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
  ~Impl() {
    find.reset();
    add.reset();
    sqlite3_close(db);
  }
};

ResultsFile::ResultsFile(const std::string& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->check(sqlite3_open(path.c_str(), &impl_->db));
  sqlite3_busy_timeout(impl_->db, kPatience_ms);
  impl_->check(sqlite3_exec(impl_->db, kOpen, nullptr, nullptr, nullptr));
  impl_->find = impl_->prepare("SELECT figures, failure FROM steps WHERE key = ?");
  impl_->add = impl_->prepare("INSERT OR IGNORE INTO steps VALUES (?, ?, ?, ?)");
}

ResultsFile::~ResultsFile() = default;

std::optional<StepFigures> ResultsFile::find(const std::string& key) const {
  sqlite3_stmt* s = impl_->find.get();
  impl_->bind(impl_->find, 1, key);
  const int code = sqlite3_step(s);
  impl_->check(code);
  std::optional<StepFigures> figures;
  if (code == SQLITE_ROW) {
    figures = unpacked(text_of(s, 0));
    if (!figures) {
      sqlite3_reset(s);
      throw Error(
          {.kind = ErrorKind::kSystem, .where = impl_->path, .message = "holds a result that is not whole"});
    }
    figures->failure = text_of(s, 1);
  }
  sqlite3_reset(s);
  return figures;
}

void ResultsFile::add(const std::string& key, const std::string& layout, const StepFigures& figures) {
  const std::string texts[] = {key, layout, packed(figures), figures.failure};
  for (int i = 0; i < 4; ++i) impl_->bind(impl_->add, i + 1, texts[i]);
  impl_->check(sqlite3_step(impl_->add.get()));
  impl_->check(sqlite3_reset(impl_->add.get()));
}

std::int64_t ResultsFile::size() const {
  const Statement s = impl_->prepare("SELECT count(*) FROM steps");
  impl_->check(sqlite3_step(s.get()));
  return sqlite3_column_int64(s.get(), 0);
}

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
