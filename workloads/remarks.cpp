#include "workloads/remarks.h"

#include <fmt/format.h>

#include "sim/base/unit_text.h"
#include "workloads/memory.h"

namespace busbar {

namespace {

constexpr double kPaddingWorthSaying = 0.01;  // of the vocabulary
constexpr double kMemoryWorthSaying = 0.1;    // of the stage's

void warn_of_few_microbatches(const Workload& w, std::vector<Remark>& remarks) {
  const std::int64_t pp = w.parallel.pp, m = microbatches_of(w);
  if (pp < 2 || m >= pp) return;
  remarks.push_back(
      {"few-microbatches",
       fmt::format("{} microbatches on {} stages: some stages always wait; {} or more need a global batch of "
                   "{}, a smaller micro, or fewer stages",
                   m, pp, pp, pp * w.batch.micro * w.parallel.dp)});
}

void warn_of_vocabulary(const Workload& w, std::vector<Remark>& remarks) {
  const TransformerDims& d = *w.model.transformer;
  const std::int64_t tp = w.parallel.tp, rows = padded_vocab(d, tp);
  const double padding = static_cast<double>(rows - d.vocab) / static_cast<double>(d.vocab);
  if (d.vocab % tp == 0 || padding < kPaddingWorthSaying) return;
  remarks.push_back({"padded-vocabulary",
                     fmt::format("tp = {} does not divide the vocabulary of {}: padded to {} rows, {:.1f} % "
                                 "more logits; a vocabulary of a multiple of {} would have none",
                                 tp, d.vocab, rows, 100 * padding, 128 * tp)});
}

void warn_of_whole_sequences(const Workload& w, const std::vector<Layer>& layers, const MemoryUse& memory,
                             std::vector<Remark>& remarks) {
  const ParallelSpec& p = w.parallel;
  if (p.tp < 2 || p.sequence_parallel || w.batch.sequence % (p.tp * p.cp) != 0) return;
  Workload cut = w;
  cut.parallel.sequence_parallel = true;
  const Bytes with = stage_memory(layers, cut, 0).activations;
  const Bytes without = stage_memory(layers, w, 0).activations;
  const double share = (without - with).as_double() / memory.total().as_double();
  if (share < kMemoryWorthSaying) return;
  remarks.push_back(
      {"no-sequence-parallelism",
       fmt::format("activations outside the tensor-parallel regions are kept {} times: \"sequence_parallel\" "
                   "would save {} per GPU ({:.0f} % of its memory) and move the same bytes",
                   p.tp, to_si_text(without - with), 100 * share)});
}

}  // namespace

std::vector<Remark> layout_remarks(const Workload& w, const std::vector<Layer>& layers,
                                   const MemoryUse& memory) {
  std::vector<Remark> remarks;
  warn_of_few_microbatches(w, remarks);
  if (!w.model.transformer) return remarks;
  warn_of_vocabulary(w, remarks);
  warn_of_whole_sequences(w, layers, memory, remarks);
  return remarks;
}

}  // namespace busbar
