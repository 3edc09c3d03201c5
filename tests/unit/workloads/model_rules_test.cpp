// The rules by which a model can be cut.
#include <gtest/gtest.h>

#include "model_helpers.h"
#include "workload_helpers.h"

namespace busbar {
namespace {

using test::even;
using test::even_experts;
using test::model_of;

std::string problem(const LayerCut& cut, const TransformerDims& dims = even(), std::int64_t sequence = 32) {
  return cut_problem(model_of(dims), {.micro = 1, .sequence = sequence}, cut).value_or("");
}

TEST(CutProblem, TakesWhatDivides) {
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.tp = 4, .cp = 2, .sequence_parallel = true}), "");
  EXPECT_EQ(problem({.tp = 2, .cp = 4, .context = ContextMethod::kUlysses}), "");
  EXPECT_EQ(problem({.tp = 4, .ep = 8, .etp = 2}, even_experts()), "");
}

TEST(CutProblem, NamesTheNearestDegrees) {
  EXPECT_EQ(problem({.tp = 3}), "heads = 8 must be a multiple of tp = 3; the nearest tp are 2 or 4");
  EXPECT_EQ(problem({.tp = 16}), "heads = 8 must be a multiple of tp = 16; the nearest tp are 8");
  TransformerDims dims = even();
  dims.ffn_hidden = 130;
  EXPECT_EQ(problem({.tp = 4}, dims),
            "ffn_hidden = 130 must be a multiple of tp = 4; the nearest tp are 2 or 5");
}

TEST(CutProblem, SharesKeyHeadsEvenly) {
  TransformerDims dims = even();
  dims.heads = 12;
  dims.kv_heads = 3;
  EXPECT_EQ(problem({.tp = 4}, dims),
            "kv_heads = 3 must be a multiple of tp = 4, or tp of it; the nearest tp are 3");
  dims.ffn_hidden = 120;
  EXPECT_EQ(problem({.tp = 6}, dims), "");  // each key head on two ranks
}

TEST(CutProblem, NamesTheNearestSequences) {
  EXPECT_EQ(problem({.cp = 4}, even(), 36),
            "the sequence of 36 tokens must be a multiple of 2 x cp (two pieces a rank) = 8; the nearest: 32 "
            "or 40");
  EXPECT_EQ(problem({.cp = 4}, even(), 4),
            "the sequence of 4 tokens must be a multiple of 2 x cp (two pieces a rank) = 8; the nearest: 8");
  EXPECT_EQ(
      problem({.tp = 4, .sequence_parallel = true}, even(), 30),
      "the sequence of 30 tokens must be a multiple of tp (sequence parallelism) = 4; the nearest: 28 or 32");
  EXPECT_NE(problem({.cp = 4, .context = ContextMethod::kUlysses}, even(), 30).find("of cp = 4"),
            std::string::npos);
  TransformerDims dims = even();
  dims.causal = false;
  EXPECT_EQ(problem({.cp = 4}, dims, 36), "");
}

TEST(CutProblem, GivesEachUlyssesRankWholeHeads) {
  TransformerDims dims = even();
  const LayerCut cut{.tp = 4, .cp = 4, .context = ContextMethod::kUlysses};
  EXPECT_EQ(problem(cut),
            "heads = 8 must be a multiple of tp x cp (Ulysses) = 16; the nearest tp x cp (Ulysses) "
            "are 8");
  dims.kv_heads = 2;
  EXPECT_NE(problem({.cp = 4, .context = ContextMethod::kUlysses}, dims).find("kv_heads = 2"),
            std::string::npos);
}

TEST(CutProblem, SharesExpertsEvenly) {
  EXPECT_EQ(problem({.ep = 2}), "ep = 2 needs a model with experts; this one has none, which leaves ep = 1");
  EXPECT_EQ(problem({.ep = 3}, even_experts()),
            "experts = 8 must be a multiple of ep = 3; the nearest ep are 2 or 4");
  EXPECT_EQ(problem({.tp = 2, .etp = 4}, even_experts()),
            "tp = 2 must be a multiple of etp = 4; the nearest etp are 2");
  TransformerDims dims = even_experts();
  dims.experts->ffn_hidden = 34;
  EXPECT_EQ(problem({.tp = 4, .etp = 4}, dims),
            "expert_ffn_hidden = 34 must be a multiple of etp = 4; the nearest etp are 2");
  dims = even_experts();
  dims.experts->shared = 1;
  dims.experts->shared_ffn_hidden = 30;
  EXPECT_NE(problem({.tp = 4}, dims).find("the shared experts' width = 30"), std::string::npos);
}

TEST(CutProblem, KeepsTheMlpRuleOffModelsWithoutDenseBlocks) {
  TransformerDims dims = even_experts();
  dims.ffn_hidden = 131;
  EXPECT_EQ(problem({.tp = 4}, dims), "");
  dims.experts->dense_layers = 1;
  EXPECT_NE(problem({.tp = 4}, dims), "");
}

TEST(CutProblem, KnowsTheLengthOfAPositionTable) {
  TransformerDims dims = even();
  dims.positions = 16;
  EXPECT_EQ(problem({}, dims),
            "the sequence of 32 tokens must be at most positions = 16, the learned position table");
}

TEST(CutProblem, LeavesListsOfParametersWhole) {
  ModelSpec model;
  model.parameters = {{.name = "a", .shape = {2}, .type = std::nullopt, .forward = {}, .backward = {}}};
  EXPECT_EQ(cut_problem(model, {}, {}), std::nullopt);
  EXPECT_TRUE(cut_problem(model, {}, {.tp = 2}).has_value());
  EXPECT_TRUE(cut_problem(model, {}, {.recompute = Recompute::kFull}).has_value());
}

TEST(LayersOf, ThrowsTheProblem) {
  EXPECT_NE(test::error_of([] {
              static_cast<void>(layers_of(model_of(even()), {.micro = 1, .sequence = 32}, {.tp = 3}));
            }).find("the nearest tp are 2 or 4"),
            std::string::npos);
}

}  // namespace
}  // namespace busbar
