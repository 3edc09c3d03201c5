// Published kernel times by shape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/kernel_shape.h"
#include "sim/base/units.h"
#include "sim/cost/kernel_time.h"
#include "topologies/topology.h"

namespace busbar {

/// One shape and its time. Matmul: m, n, k. Attention (causal forward): batch, sequence, heads, kv_heads,
/// head_dim.
struct KernelRow {
  std::string type;  // as the table spells it: "bfloat16", "fp8"
  std::vector<std::int64_t> shape;
  double measured_s = 0;
};

/// A table: the GPU and the kind of kernel are in its file's name, "h100-sxm-matmul.csv".
struct KernelTable {
  std::string gpu;   // "H100-SXM5-80GB"
  std::string kind;  // "matmul", "attention"
  std::vector<KernelRow> rows;
};

/// Errors (Error, kInput): a GPU or a kind that is not known by that name, columns, fields.
[[nodiscard]] KernelTable read_kernels(std::string_view text, const std::string& path);

/// Seconds. Requires: a type that is modelled.
[[nodiscard]] double predict_kernel(const KernelRow& row, const GpuModel& gpu);
/// Why a shape is not predicted; "": it is.
[[nodiscard]] std::string kernel_outside(const KernelRow& row);

/// Whether a time is below FLOPs / peak: then none of the table's times can be trusted.
[[nodiscard]] bool beats_its_gpu(const KernelTable& table);

}  // namespace busbar
