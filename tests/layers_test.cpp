// Holds every #include of the tree against the table of who may include what, and third-party libraries
// inside their fences. The table is docs/architecture.md's.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace busbar {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>>& table() {
  static const std::map<std::string, std::set<std::string>> rows = {
      {"sim/base", {}},
      {"sim/engine", {"sim/base"}},
      {"sim/symmetry", {"sim/base"}},
      {"sim/result", {"sim/base"}},
      {"topologies", {"sim/base"}},
      {"workloads", {"sim/base"}},
      {"sim/collectives", {"sim/base"}},
      {"sim/cost", {"sim/base", "sim/collectives"}},
      {"sim/replay",
       {"sim/base", "sim/engine", "sim/symmetry", "sim/result", "topologies", "workloads", "sim/collectives",
        "sim/cost"}},
      {"sim/study", {"sim/base", "sim/result", "sim/cost", "topologies", "workloads", "sim/replay"}},
      {"reports", {"sim/base", "sim/result"}},
      {"calibrate",
       {"sim/base", "sim/engine", "sim/result", "topologies", "sim/collectives", "sim/cost", "sim/replay"}},
      {"validate",
       {"sim/base", "sim/result", "sim/cost", "topologies", "workloads", "sim/replay", "sim/study",
        "calibrate"}},
  };
  return rows;
}

// Where each third-party header may be included: a regular expression over the path.
const std::vector<std::pair<std::string, std::string>>& fences() {
  static const std::vector<std::pair<std::string, std::string>> rows = {
      {"nlohmann/", R"(.*_io\.(cpp|h)|sim/base/json_reader\.cpp|tests/unit/reports/.*)"},
      {"boost/", R"(topologies/routing\.cpp|sim/base/statistics\.cpp|sim/study/solve_(curve|rows)\.cpp)"},
      {"CLI/", R"(sim/cli/.*\.cpp)"},
      {"zlib.h", R"(sim/base/input\.cpp|reports/deflate\.cpp|tests/support/inflate\.h)"},
      {"gtest/", R"(tests/.*)"},
      {"benchmark/", R"(tests/bench/.*)"},
      {"ceres/", R"(calibrate/fit\.cpp)"},
      {"mpi.h", R"(calibrate/run/mpi_.*|sim/study/mpi_.*)"},
      {"sqlite3.h", R"(sim/study/database\.cpp|tests/unit/study/database_test\.cpp)"},
      {"nccl.h", R"(calibrate/run/(nccl|cuda)_.*)"},
      {"cu", R"(calibrate/run/(nccl|cuda)_.*)"},
      {"Eigen/", R"(calibrate/identify\.cpp)"},
      {"simgrid/", R"(tests/(crosscheck/.*|bench/simgrid_bench\.cpp))"},
  };
  return rows;
}

struct Include {
  std::string file, target;
};

std::vector<Include> includes_of_the_tree() {
  const fs::path root = BUSBAR_SOURCE_DIR;
  const std::regex line(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> found;
  for (const std::string top :
       {"sim", "topologies", "workloads", "reports", "calibrate", "validate", "tests"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      std::ifstream in(entry.path());
      std::smatch match;
      for (std::string text; std::getline(in, text);)
        if (std::regex_search(text, match, line))
          found.push_back({fs::relative(entry.path(), root).string(), match[1]});
    }
  }
  return found;
}

// The folder of the table that a path lies in: "topologies/hosts/x.cpp" in "topologies". A program's main
// stands in none, wherever it lies.
std::optional<std::string> folder_of(const std::string& path) {
  if (fs::path(path).filename().string().starts_with("main")) return std::nullopt;
  for (const auto& [folder, unused] : table())
    if (path.starts_with(folder + "/")) return folder;
  return std::nullopt;
}

TEST(Layers, EveryIncludeIsInTheTable) {
  const std::vector<Include> includes = includes_of_the_tree();
  EXPECT_GT(includes.size(), 300U);  // the tree was found
  for (const Include& i : includes) {
    const auto from = folder_of(i.file);
    if (!from) continue;  // programs, sim/cli and tests may include everything
    EXPECT_FALSE(i.target.starts_with("sim/cli/") || i.target.starts_with("tests/"))
        << i.file << " includes " << i.target;
    const auto to = folder_of(i.target);
    if (!to || *to == *from) continue;
    EXPECT_TRUE(table().at(*from).contains(*to)) << i.file << " includes " << i.target;
  }
}

TEST(Layers, ThirdPartyHeadersStayInsideTheirFences) {
  for (const Include& i : includes_of_the_tree())
    for (const auto& [prefix, where] : fences())
      EXPECT_TRUE(!i.target.starts_with(prefix) || std::regex_match(i.file, std::regex(where)))
          << i.file << " includes " << i.target;
}

TEST(Layers, FilesStayShortAndFoldersKnown) {
  std::set<std::string> files;
  for (const Include& i : includes_of_the_tree()) files.insert(i.file);
  for (const std::string& file : files) {
    std::ifstream in(fs::path(BUSBAR_SOURCE_DIR) / file);
    const auto lines = std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
    EXPECT_LE(lines, 350) << file;
  }
}

// Two types of one name, each known to its own sources, would pass the linker and share a destructor.
TEST(Layers, TypesOfHeadersAreDefinedOnce) {
  const std::regex definition(R"(^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;{]*)? \{.*)");
  std::map<std::string, std::string> defined_in;
  std::set<std::string> headers;
  for (const Include& i : includes_of_the_tree())
    if (folder_of(i.file) && i.file.ends_with(".h")) headers.insert(i.file);
  for (const std::string& header : headers) {
    std::ifstream in(fs::path(BUSBAR_SOURCE_DIR) / header);
    std::smatch match;
    for (std::string text; std::getline(in, text);) {
      if (!std::regex_match(text, match, definition)) continue;
      const auto [it, is_new] = defined_in.try_emplace(match[1], header);
      EXPECT_TRUE(is_new) << match[1] << " in " << it->second << " and " << header;
    }
  }
  EXPECT_GT(defined_in.size(), 200U);
}

}  // namespace
}  // namespace busbar
