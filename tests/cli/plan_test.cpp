// `plan` as a user calls it.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <regex>
#include <thread>

#include "reports/html.h"
#include "reports/web_bundle.h"
#include "tests/support/job.h"

namespace busbar {
namespace {

class Plan : public JobTest {
 protected:
  /// Layouts enough that a run can be stopped in its middle.
  void write_study(const std::string& more = "") {
    file("study.json", R"({"schema": "busbar.study/1", "name": "test",
      "model": {"layers": 16, "hidden": 2048, "ffn_hidden": 8192, "heads": 16, "kv_heads": 16, "head_dim": 128, "vocab": 32000},
      "batch": {"sequence": 1024, "global": 256},
      "clusters": [{"topology": {"hosts": {"type": "dgx-h100"}, "fabric": {"family": "rail-optimized"}}, "gpus": "8:32:2"}],
      "search": {"simulate": 16})" +
                           more + "}");
  }

  /// A shell command in the folder, in a process group of its own.
  pid_t start(const std::string& line) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);
      const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(null, 1);
      ::dup2(null, 2);
      if (::chdir(path("").c_str()) != 0) ::_exit(1);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(1);
    }
    ::setpgid(child, child);
    return child;
  }
  /// Until the results file has grown beyond its schema, a minute at most.
  void wait_for_results() const {
    std::error_code failed;
    for (int i = 0; i < 6000; ++i) {
      const auto size = std::filesystem::file_size(path("r.sqlite-wal"), failed);
      if (!failed && size > 24'000) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  static void wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  /// The process in the folder that an MPI launcher gave this number; 0: none.
  [[nodiscard]] pid_t process_of_rank(int rank) const {
    const std::string mark = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const auto folder = std::filesystem::read_symlink(entry.path() / "cwd", failed);
      if (failed || folder != std::filesystem::canonical(path(""))) continue;
      if (read_file(entry.path() / "environ").find(mark) != std::string::npos) return std::stoi(name);
    }
    return 0;
  }

  /// simulated and reused, of the last line.
  static std::pair<int, int> effort(const std::string& text) {
    std::smatch m;
    if (!std::regex_search(text, m, std::regex(R"((\d+) steps simulated, (\d+) taken from earlier studies)")))
      return {-1, -1};
    return {std::stoi(m[1]), std::stoi(m[2])};
  }
  /// The stopped study of r.sqlite goes on: nothing lost, wrong or computed twice.
  void expect_to_go_on(int all, const std::string& whole_csv) {
    const Outcome rest = plan("study.json --database r.sqlite --csv rest.csv");
    ASSERT_EQ(rest.exit_code, 0) << rest.err;
    const auto [simulated, reused] = effort(rest.out);
    EXPECT_GT(reused, 0);
    EXPECT_EQ(simulated + reused, all);
    EXPECT_EQ(read_file(path("rest.csv")), whole_csv);
  }
};

const std::string kShort =
    "--model gpt2 --host-type dgx-a100 --gpus 8:16:2 --global-batch 32 --sequence 1024 --simulate 4 ";

TEST_F(Plan, AnswersAShortQuestionWithoutAFile) {
  const Outcome o = plan(kShort + "--price '2 USD/GPU-hour' --tokens '1e9 tokens' -o r.md -o r.csv");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  for (const char* part :
       {"Recommended", "16 GPUs of dgx-a100", "Strong scaling", "Left out on", "does not fit", "USD"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
  const std::string md = read_file(path("r.md"));
  for (const char* part : {"# gpt2 on dgx-a100", "## In short", "### Assumptions", "| layouts | reason |"})
    EXPECT_NE(md.find(part), std::string::npos) << part << " is missing from:\n" << md;
  const std::string csv = read_file(path("r.csv"));
  EXPECT_EQ(csv.rfind("cluster,variant,scaling,gpus", 0), 0U);
  EXPECT_GE(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 4);
  EXPECT_EQ(o.err, "");
}

TEST_F(Plan, WritesAnExampleThatRuns) {
  ASSERT_EQ(plan("--init > study.json").exit_code, 0);
  const std::string example = plan("--init").out;
  file("study.json", example);
  const Outcome o =
      plan("study.json --set clusters.0.gpus=32 --simulate 2 --set search.tp=[1] --set search.pp=[1]");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("Failures and checkpoints"), std::string::npos) << o.out;
}

TEST_F(Plan, WritesOneRecordAsJsonAndAsAPage) {
  const Outcome o = plan(kShort + "-o r.json --json - ");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("same report"), std::string::npos) << o.err;
  const Outcome json = plan(kShort + "--json -");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(json.out.rfind("{\n  \"schema\": \"busbar.study-result/1\"", 0), 0U) << json.out.substr(0, 80);
  EXPECT_NE(json.out.find("\"elasticity\""), std::string::npos);
  if (!web_bundle().missing.empty()) {
    const Outcome page = plan(kShort + "-o r.html -o r.md");
    EXPECT_EQ(page.exit_code, 3);
    EXPECT_NE(page.err.find(web_bundle().missing), std::string::npos) << page.err;
    EXPECT_FALSE(std::filesystem::exists(path("r.md")));
    return;
  }
  // All but what the work took is the same in both.
  ASSERT_EQ(plan(kShort + "--quiet --html r.html").exit_code, 0);
  const std::string page = read_file(path("r.html"));
  const std::string same = json.out.substr(0, json.out.find("\"engine\""));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find(for_script(same)), std::string::npos);
}

TEST_F(Plan, SweepsAnyKeyOfTheInput) {
  const Outcome o = plan(kShort + "--sweep fabric.oversubscription=1,4 --quiet --csv -");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("fabric.oversubscription=1,strong,16"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("fabric.oversubscription=4,strong,16"), std::string::npos) << o.out;
}

TEST_F(Plan, FindsTheSmallestClusterForAGoalOrSaysThatNoneIs) {
  const std::string study = kShort + "--price '2 USD/GPU-hour' --tokens '1e9 tokens' ";
  EXPECT_NE(plan(study + "--goal time=30d,budget=5e6USD").out.find("Recommended (the smallest cluster"),
            std::string::npos);
  const Outcome none = plan(study + "--goal time=1s");
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_NE(none.out.find("Nothing qualifies"), std::string::npos) << none.out;
}

TEST_F(Plan, NamesWhatIsWrongOnOneLine) {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "--init prints an example"},
      {"--model gpt2", "--host-type"},
      {kShort + "--set fabric.famly=x", "famly"},
      {"--model gpt3 --host-type dgx-a100 --gpus 8 --global-batch 8 --sequence 1024", "gpt3"},
      {"--model gpt2 --host-type dgx-a1000 --gpus 8 --global-batch 8 --sequence 1024", "dgx-a100"},
      {"--model gpt2 --host-type dgx-a100 --gpus 12 --global-batch 8 --sequence 1024",
       "multiples of the 8 GPUs"},
      {kShort + "--tokens '1e9 tokens' --goal time=30", "30 d"},
      {kShort + "--goal speed=30", "time"},
      {kShort + "--price 2.5", "USD/GPU-hour"},
      {kShort + "--sweep fabric", "key=value"},
      {"study.json --tokens '1e12 tokens'", "--set changes a study"},
      {kShort + "-o report.pdf", ".html"},
      {kShort + "-o a.md -o b.md", "same report"},
      {kShort + "--html - --json -", "only one of"},
      {"no-such-study.json", "no-such-study.json"},
  };
  for (const auto& [arguments, part] : wrong) {
    const Outcome o = plan(arguments);
    EXPECT_EQ(o.exit_code, arguments == "no-such-study.json" ? o.exit_code : 2) << arguments;
    EXPECT_NE(o.exit_code, 0) << arguments;
    EXPECT_NE(o.err.find(part), std::string::npos) << arguments << ": " << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(o.out, "");
  }
}

TEST_F(Plan, GoesOnWhereItWasKilledAndComputesNothingTwice) {
  write_study();
  const Outcome whole = plan("study.json --quiet --csv -");
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const int all = effort(plan("study.json").out).first;
  const pid_t child = start("exec '" BUSBAR_BIN_DIR "/plan' study.json --database r.sqlite --threads 1");
  wait_for_results();
  ::kill(child, SIGKILL);
  wait_for(child);
  expect_to_go_on(all, whole.out);
  EXPECT_EQ(effort(plan("study.json --database r.sqlite").out), std::pair(0, all));
}

#ifdef BUSBAR_HAS_PLAN_MPI
TEST_F(Plan, GivesTheSameOverMpiRanks) {
  write_study();
  const Outcome alone = plan("study.json --quiet --csv -");
  const Outcome ranks = shell(mpirun(4) + "'%BIN/plan' study.json --quiet --csv mpi.csv");
  ASSERT_EQ(ranks.exit_code, 0) << ranks.out << ranks.err;
  EXPECT_EQ(read_file(path("mpi.csv")), alone.out);
}

TEST_F(Plan, LosesOnlyWhatAKilledRankHadInHand) {
  write_study();
  const Outcome whole = plan("study.json --quiet --csv -");
  const int all = effort(plan("study.json").out).first;
  // One of four ranks dies while all work: mpirun ends the others, and the next run goes on.
  const pid_t job = start(mpirun(4) + "'" BUSBAR_BIN_DIR "/plan' study.json --database r.sqlite");
  wait_for_results();
  const pid_t rank = process_of_rank(2);
  ASSERT_GT(rank, 0);
  ::kill(rank, SIGKILL);
  wait_for(job);
  expect_to_go_on(all, whole.out);
}

// Where the launcher lets a job go on without a rank, nobody but the ranks themselves can end it.
TEST_F(Plan, EndsEveryRankSoonAfterTheFirstHasDied) {
  write_study();
  const pid_t job =
      start(mpirun(3) + "--enable-recovery '" BUSBAR_BIN_DIR "/plan' study.json --database r.sqlite 2> said");
  wait_for_results();
  const pid_t first = process_of_rank(0);
  ASSERT_GT(first, 0);
  ASSERT_GT(process_of_rank(1), 0);
  ::kill(first, SIGKILL);
  const auto others_live = [&] { return process_of_rank(1) > 0 || process_of_rank(2) > 0; };
  for (int i = 0; i < 600 && others_live(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(others_live());
  ::kill(-job, SIGKILL);
  wait_for(job);
  EXPECT_NE(read_file(path("said")).find("rank 0 has said nothing"), std::string::npos)
      << read_file(path("said"));
}
#endif

}  // namespace
}  // namespace busbar
