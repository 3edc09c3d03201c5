#include "workloads/remarks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/workload_helpers.h"

namespace busbar {
namespace {

using namespace test;

std::vector<Remark> remarks(const std::string& model, const std::string& parallel, int global) {
  return expand(workload_of(R"({"schema": "busbar.workload/1", "model": )" + model +
                            R"(, "batch": {"sequence": 4096, "global": )" + std::to_string(global) +
                            R"(}, "parallel": )" + parallel + "}"))
      .warnings;
}

const char* const kLlama = R"({"preset": "llama-2-7b"})";

// 16 samples on dp 2 are 8 microbatches, as many as there are stages; 14 are 7.
TEST(LayoutRemarks, AskForAsManyMicrobatchesAsStages) {
  EXPECT_TRUE(remarks(kLlama, R"({"pp": 8, "dp": 2, "sharding": "zero1"})", 16).empty());
  const std::vector<Remark> few = remarks(kLlama, R"({"pp": 8, "dp": 2, "sharding": "zero1"})", 14);
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(few[0].code, "few-microbatches");
  EXPECT_NE(few[0].text.find("7 microbatches on 8 stages"), std::string::npos);
  EXPECT_NE(few[0].text.find("a global batch of 16"), std::string::npos);
}

// 50,257 is odd; for tp = 8 the next multiple of 1,024 is 51,200: 943 rows, 1.9 %. For tp = 2 it is 50,432:
// 0.3 %. 50,304 (a multiple of 8) is padded too, as much as frameworks do, and passes.
TEST(LayoutRemarks, NameAVocabularyThatDoesNotDivide) {
  const auto gpt = [](int vocab, int tp) {
    return remarks(R"({"layers": 4, "hidden": 1024, "ffn_hidden": 4096, "heads": 16, "vocab": )" +
                       std::to_string(vocab) + "}",
                   R"({"dp": 1, "sequence_parallel": true, "tp": )" + std::to_string(tp) + "}", 1);
  };
  ASSERT_EQ(gpt(50257, 8).size(), 1U);
  EXPECT_EQ(gpt(50257, 8)[0].code, "padded-vocabulary");
  EXPECT_NE(gpt(50257, 8)[0].text.find("51200 rows, 1.9 % more"), std::string::npos);
  EXPECT_TRUE(gpt(50257, 2).empty());
  EXPECT_TRUE(gpt(50304, 8).empty());
  EXPECT_TRUE(gpt(50257, 1).empty());
}

// 4 h of a token's activations per block are kept by each of tp ranks: sharded, 7/8 of them go, 32 blocks x
// 4096 tokens x 4 x 4096 x 2 bytes x 7/8 = 3.76 GB.
TEST(LayoutRemarks, SayWhatSequenceParallelismWouldSave) {
  const std::vector<Remark> whole = remarks(kLlama, R"({"tp": 8, "dp": 1})", 1);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].code, "no-sequence-parallelism");
  const double saved = 32.0 * 4096 * 4 * 4096 * 2 * 7 / 8;
  EXPECT_NE(whole[0].text.find(fmt::format("would save {:.2f} GB", saved / 1e9)), std::string::npos)
      << whole[0].text;
  EXPECT_TRUE(remarks(kLlama, R"({"tp": 8, "dp": 1, "sequence_parallel": true})", 1).empty());
}

}  // namespace
}  // namespace busbar
