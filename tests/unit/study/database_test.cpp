// The file of results against what other programs, disks and hands may make of it.
#include "sim/study/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/base/error.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(ResultsFile, RefusesAFileThatIsNone) {
  const TemporaryFolder folder;
  std::FILE* file = std::fopen(folder.file("x").c_str(), "w");
  std::fputs("this is no database, however long it is meant to be read", file);
  std::fclose(file);
  EXPECT_THROW(ResultsFile(folder.file("x")), Error);
  EXPECT_THROW(ResultsFile(folder.file("no/such/folder/x")), Error);
}

/// What the error of `use` says.
template <class Use>
std::string refusal(Use use) {
  try {
    use();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ResultsFile, LeavesAnotherProgramsDatabaseAsItIs) {
  const TemporaryFolder folder;
  const std::string path = folder.file("other.sqlite");
  run_sql(path, "CREATE TABLE steps (walked INTEGER); INSERT INTO steps VALUES (10000)");
  const std::string before = bytes_of(path);
  const std::string said = refusal([&] { const ResultsFile file(path); });
  EXPECT_NE(said.find(path), std::string::npos) << said;
  EXPECT_NE(said.find("another program's database"), std::string::npos) << said;
  EXPECT_EQ(bytes_of(path), before);
}

TEST(ResultsFile, SaysThatItsTableIsNotAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.sqlite");
  { const ResultsFile file(path); }
  run_sql(path, "DROP TABLE steps; CREATE TABLE steps (key TEXT, figures TEXT)");
  const std::string said = refusal([&] { const ResultsFile file(path); });
  EXPECT_NE(said.find(path), std::string::npos) << said;
  EXPECT_NE(said.find("failure"), std::string::npos) << said;
}

TEST(ResultsFile, RefusesRowsThatAreNoSteps) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.sqlite");
  const StepFigures good{.step_s = 1, .compute_s = 0.5, .failure = {}};
  {
    ResultsFile file(path);
    file.add("k", "tp 1", good);
    EXPECT_EQ(file.find("k")->compute_s, 0.5);
  }
  for (const char* figures :
       {"''", "'0x1p+0'", "x'00ff'", "replace(figures, '0x1p+0', 'inf')", "replace(figures, '0x1p+0', 'nan')",
        "replace(figures, '0x1p+0', '-1')", "replace(figures, '0x1p+0', '0')", "figures || '0x1p+0 '",
        "replace(figures, ' ', ',')"}) {
    run_sql(path,
            std::string("CREATE TABLE kept AS SELECT * FROM steps; UPDATE steps SET figures = ") + figures);
    const std::string said = refusal([&] { static_cast<void>(ResultsFile(path).find("k")); });
    EXPECT_NE(said.find("row 'k'"), std::string::npos) << figures << ": " << said;
    EXPECT_NE(said.find("tp 1"), std::string::npos) << figures << ": " << said;
    run_sql(path, "UPDATE steps SET figures = (SELECT figures FROM kept); DROP TABLE kept");
    EXPECT_EQ(ResultsFile(path).find("k")->step_s, 1);
  }
}

TEST(ResultsFile, OfWhichPartsAreMissingIsAnErrorNotACrash) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.sqlite"), cut = folder.file("cut.sqlite");
  {
    ResultsFile file(path);
    for (int i = 0; i < 300; ++i) file.add("key " + std::to_string(i), "tp 1", {.step_s = 1, .failure = {}});
  }
  const std::string whole = bytes_of(path);
  ASSERT_GT(whole.size(), 20000U);
  for (const std::size_t size : {std::size_t{1}, std::size_t{50}, std::size_t{100}, std::size_t{4096},
                                 std::size_t{6000}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(cut, std::ios::binary) << whole.substr(0, size);
    const std::string said = refusal([&] {
      const ResultsFile file(cut);
      for (int i = 0; i < 300; ++i) static_cast<void>(file.find("key " + std::to_string(i)));
    });
    EXPECT_NE(said.find(cut), std::string::npos) << size << ": " << said;
    std::filesystem::remove(cut);
    std::filesystem::remove(cut + "-wal");
    std::filesystem::remove(cut + "-shm");
  }
}

}  // namespace
}  // namespace busbar
