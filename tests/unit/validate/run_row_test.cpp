#include "validate/run_row.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/errors.h"
#include "validate/run_suites.h"

namespace busbar {
namespace {

using Fields = std::map<std::string, std::string>;

// Llama 2 7B with FSDP on two hosts; `more` changes fields.
std::string table(const Fields& more, const Fields& last = {{"measured_s", "1.5"}, {"measured", "derived"}}) {
  Fields fields = {{"id", "r1"},
                   {"gpu", "H100"},
                   {"host", "dgx-h100"},
                   {"hosts", "2"},
                   {"gpus_per_host", "8"},
                   {"fabric", "rail-optimized"},
                   {"framework", "pytorch"},
                   {"model", "Llama2-7B"},
                   {"layers", "32"},
                   {"hidden", "4096"},
                   {"ffn_hidden", "11008"},
                   {"heads", "32"},
                   {"kv_heads", "32"},
                   {"head_dim", "128"},
                   {"vocab", "32000"},
                   {"gated_mlp", "yes"},
                   {"sequence", "4096"},
                   {"micro", "2"},
                   {"global", "32"},
                   {"dp", "16"},
                   {"sharding", "fsdp"},
                   {"compute", "bf16"}};
  for (const auto& [column, value] : more) fields[column] = value;
  std::vector<std::string_view> added;
  for (const auto& [column, value] : last) {
    fields[column] = value;
    added.push_back(column);
  }
  std::string header, line;
  for (const std::string_view column : run_columns_and(added)) {
    header += fmt::format("{}{}", header.empty() ? "" : ",", column);
    line += fmt::format("{}{}", line.empty() ? "" : ",", fields[std::string(column)]);
    if (line.empty()) line = " ";
  }
  return header + "\n" + line + "\n";
}

RunRow run(const Fields& more = {}) { return read_steps(table(more), "steps/x.csv").front().run; }

TEST(RunRow, BuildsTheWorkloadThatItsColumnsState) {
  const RunRow row = run({{"recompute", "selective"}, {"attention", "unfused"}, {"gradients", "fp32"}});
  EXPECT_EQ(row.source, "x");
  EXPECT_EQ(row.where, "steps/x.csv:2");
  EXPECT_EQ(row.layout, "dp 16");
  const Workload w = workload_of(row);
  EXPECT_EQ(parameter_count(w.model), 6'738'415'616);  // Llama 2 7B
  EXPECT_EQ(w.batch.global, 32);
  EXPECT_EQ(w.parallel.sharding, Sharding::kFsdp);
  EXPECT_EQ(w.recompute, Recompute::kSelective);
  EXPECT_EQ(w.attention, AttentionKernels::kUnfused);
  EXPECT_EQ(w.precision.gradients, DataType::kFp32);
  EXPECT_EQ(w.precision.reduce, DataType::kFp32);  // as kept, where nothing else is said
  EXPECT_EQ(w.framework->name, "pytorch");
}

TEST(RunRow, TakesPresetsAndExperts) {
  EXPECT_EQ(parameter_count(workload_of(run({{"preset", "llama-2-13b"},
                                             {"layers", ""},
                                             {"hidden", ""},
                                             {"ffn_hidden", ""},
                                             {"heads", ""},
                                             {"kv_heads", ""},
                                             {"head_dim", ""}}))
                                .model),
            13'015'864'320);
  const Workload w = workload_of(
      run({{"experts", "8"}, {"top_k", "2"}, {"expert_ffn_hidden", "14336"}, {"ep", "8"}, {"etp", "1"}}));
  EXPECT_EQ(w.model.transformer->experts->count, 8);
  EXPECT_EQ(w.parallel.ep, 8);
}

TEST(RunRow, LaysBlocksOutAsListed) {
  const Fields layout = {{"pp", "2"}, {"dp", "8"}, {"sharding", "none"}, {"stages", "15 17"}};
  EXPECT_EQ(workload_of(run(layout)).parallel.stages, (std::vector<std::int64_t>{15, 17}));
  EXPECT_EQ(error_of([] {
              (void)run({{"stages", "15 x"}});
            }),
            "steps/x.csv:2, column stages: expected whole numbers between blanks, got '15 x'");
}

TEST(RunRow, BuildsTheMachine) {
  const Topology plain = topology_of(run());
  EXPECT_EQ(plain.ranks().size(), 16U);
  EXPECT_EQ(plain.hosts().front().nics.size(), 8U);
  const Topology slow = topology_of(run({{"nics", "4"}, {"nic_Gbps", "100"}}));
  EXPECT_EQ(slow.hosts().front().nics.size(), 4U);
  const LinkId cable = slow.out_links(slow.hosts().front().nics.front()).front();
  bool found = false;
  for (const LinkId link : slow.out_links(slow.hosts().front().nics.front()))
    found = found || slow.link(link).bandwidth == Bandwidth::gigabits_per_second(100);
  EXPECT_TRUE(found) << slow.link_name(cable);
  const Topology rack =
      topology_of(run({{"host", "gb200-nvl72"}, {"gpus_per_host", "4"}, {"nvlink_domain", "18"}}));
  EXPECT_EQ(rack.ranks().size(), 8U);
  EXPECT_EQ(rack.hosts()[0].domain, rack.hosts()[1].domain);
}

TEST(RunRow, SaysWhatItsReadersRefuse) {
  EXPECT_EQ(error_of([] {
              (void)workload_of(run({{"global", "40"}}));
            }).substr(0, 21),
            "steps/x.csv:2#/batch:");
  EXPECT_EQ(error_of([] {
              (void)run({{"hosts", "two"}});
            }),
            "steps/x.csv:2, column hosts: expected a whole number, got 'two'");
  EXPECT_EQ(error_of([] {
              (void)run({{"gated_mlp", "true"}});
            }),
            "steps/x.csv:2, column gated_mlp: expected yes or no, got 'true'");
}

TEST(RunRow, RefusesNamesThatNoReaderKnows) {
  const auto refusal = [](const Fields& more) { return error_of([&] { (void)run(more); }); };
  EXPECT_EQ(refusal({{"sharding", "fsdq"}}).substr(0, 49),
            "steps/x.csv:2, column sharding: expected none, ze");
  EXPECT_NE(refusal({{"sharding", "fsdq"}}).find("got 'fsdq'; did you mean 'fsdp'?"), std::string::npos);
  for (const char* column : {"host", "gpu_model", "fabric", "wire", "preset", "schedule", "compute",
                             "parameters", "gradients", "reduce", "framework", "recompute", "attention"})
    EXPECT_EQ(
        refusal({{column, "nosuchname"}}).find(fmt::format("steps/x.csv:2, column {}: expected", column)), 0U)
        << column << ": " << refusal({{column, "nosuchname"}});
}

// Known and not modelled, or known and not for this job: the row is listed, the table stays good.
TEST(RunRow, TakesNamesThatItsJobCannotHave) {
  EXPECT_NO_THROW((void)run({{"schedule", "dualpipe"}}));
  EXPECT_NO_THROW((void)run({{"compute", "nvfp4"}}));
  EXPECT_NO_THROW((void)run({{"sharding", "hsdp"}}));
}

TEST(StepRows, NeedATimeAndItsOrigin) {
  const auto refusal = [](const Fields& last) {
    return error_of([&] { (void)read_steps(table({}, last), "steps/x.csv"); });
  };
  EXPECT_EQ(refusal({{"measured_s", "0"}, {"measured", "published"}}),
            "steps/x.csv:2, column measured_s: expected a number above 0, got '0'");
  EXPECT_EQ(refusal({{"measured_s", "1"}, {"measured", "guessed"}}),
            "steps/x.csv:2, column measured: expected published, derived or here, got 'guessed'");
}

TEST(MemoryRows, NeedAPeakWhereTheJobFits) {
  const auto rows = [](const std::string& fits, const std::string& peak) {
    return read_memory(
        table({}, {{"fits", fits}, {"peak_reserved_bytes", peak}, {"peak_allocated_bytes", ""}}),
        "memory/x.csv");
  };
  EXPECT_EQ(rows("yes", "1000").front().peak_bytes, 1000);
  EXPECT_FALSE(rows("no", "").front().fits);
  EXPECT_EQ(error_of([&] { (void)rows("yes", ""); }),
            "memory/x.csv:2, column peak_reserved_bytes: expected a number above 0, got nothing");
}

TEST(Filters, MustNameAColumnOfTheSuite) {
  const auto all = suites();
  const Suite& steps =
      *std::find_if(all.begin(), all.end(), [](const Suite& s) { return s.name == "steps"; });
  EXPECT_EQ(parse_filter("gpu=H100", steps).value, "H100");
  EXPECT_EQ(error_of([&] { (void)parse_filter("gpu", steps); }),
            "--filter: expected column=value, such as source=..., got 'gpu'");
  EXPECT_EQ(error_of([&] { (void)parse_filter("sourc=dgxc", steps); }),
            "--filter: expected of the suite steps source, framework, gpu, id or model, got 'sourc'; did you "
            "mean 'source'?");
}

}  // namespace
}  // namespace busbar
