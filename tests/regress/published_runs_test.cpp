// The suites of training steps and memory on a sample that takes seconds: the whole suites are for
// `validate`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "validate/run_suites.h"

namespace busbar {
namespace {

const std::string kData = std::string(BUSBAR_SOURCE_DIR) + "/validate/data";

Validation sample_of(std::string_view name, std::int64_t most_gpus, std::size_t every) {
  for (const Suite& suite : suites())
    if (suite.name == name) {
      Validation v =
          suite.run(kData, default_profile(), {.threads = 2, .most_gpus = most_gpus, .every = every});
      fmt::print("{}: {} rows, median {:.1f} %, p90 {:.1f} %, bias {:+.1f} %, not simulated {}\n", name,
                 v.rows.size(), 100 * v.overall.median, 100 * v.overall.p90, 100 * v.overall.bias,
                 v.not_simulated.size());
      return v;
    }
  throw std::runtime_error("no such suite");
}

// Each sixth row of at most 16 GPUs. Bounds are just above what is reached; the whole suite is to reach 10
// and 30 %.
TEST(PublishedSteps, AreForetoldOnASample) {
  const Validation v = sample_of("steps", 16, 6);
  EXPECT_EQ(v.rows.size() + v.not_simulated.size(), 46U);
  EXPECT_TRUE(v.not_simulated.empty());
  EXPECT_LE(v.overall.median, 0.07);
  EXPECT_LE(v.overall.p90, 0.33);
}

// Each tenth job. Peaks that fits reached, and whether jobs fit; the whole suite is to reach 7 and 95 %.
TEST(PublishedMemory, IsForetoldOnASample) {
  const Validation v = sample_of("memory", 0, 10);
  ASSERT_TRUE(v.fits);
  EXPECT_EQ(v.fits->jobs(), 188U);
  EXPECT_LE(v.overall.median, 0.095);
  EXPECT_GE(v.fits->right(), 0.97);
}

TEST(PublishedSteps, HaveOneResultOnAnyNumberOfThreads) {
  const auto predicted = [](std::size_t threads) {
    std::vector<double> list;
    for (const ValidationRow& row :
         run_steps(kData, default_profile(),
                   {.filters = {{"source", "torchtitan"}}, .threads = threads, .most_gpus = 8})
             .rows)
      list.push_back(row.predicted);
    return list;
  };
  EXPECT_EQ(predicted(1), predicted(3));
}

// Every row of every table builds its machine and its workload, or says why not.
TEST(PublishedRuns, AreAllDescribedInFull) {
  std::size_t rows = 0;
  std::set<std::string> ids;
  const auto check = [&](const RunRow& run) {
    ++rows;
    EXPECT_TRUE(ids.insert(run.id).second) << run.id << " stands in two rows";
    if (!run.not_simulated.empty()) return;
    try {
      EXPECT_EQ(workload_of(run).parallel.world(), run.gpus()) << run.where;
    } catch (const Error& refusal) {  // a layout that Megatron or Nanotron takes: fewer blocks than chunks
      EXPECT_NE(std::string(refusal.what()).find("parallel.pp"), std::string::npos) << refusal.what();
    }
  };
  for (const char* suite : {"/steps", "/sweeps"})
    for (const std::string& path : tables_in(kData + suite))
      for (const StepRow& row : read_steps(load_text(path), path)) check(row.run);
  EXPECT_EQ(rows, 2289U);
  for (const std::string& path : tables_in(kData + "/memory"))
    for (const MemoryRow& row : read_memory(load_text(path), path)) check(row.run);
  EXPECT_EQ(rows, 1585U + 704U + 1875U);
}

}  // namespace
}  // namespace busbar
