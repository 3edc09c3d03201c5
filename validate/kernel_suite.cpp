#include "validate/kernel_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/cost/kernel_models.h"
#include "topologies/host_type.h"
#include "validate/csv_table.h"
#include "validate/figures.h"
#include "validate/run_suites.h"

namespace busbar {

namespace {

struct NamedGpu {
  std::string_view name, model;
};
constexpr std::array<NamedGpu, 7> kGpus = {{{"a100-sxm", "A100-SXM4-80GB"},
                                            {"h100-sxm", "H100-SXM5-80GB"},
                                            {"h200-sxm", "H200-SXM-141GB"},
                                            {"b200-sxm", "B200-SXM-180GB"},
                                            {"b300-sxm", "B300-SXM-288GB"},
                                            {"gb200", "GB200-186GB"},
                                            {"l40s", "L40S-48GB"}}};
constexpr std::array<std::string_view, 5> kMatmulColumns = {"dtype", "m", "n", "k", "time_us"};
constexpr std::array<std::string_view, 7> kAttentionColumns = {"dtype",    "batch",    "sequence", "heads",
                                                               "kv_heads", "head_dim", "time_us"};

const GpuModel& gpu_called(std::string_view name) {
  const auto models = gpu_models();
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const GpuModel& m) { return m.name == name; });
  BUSBAR_CHECK(found != models.end());
  return *found;
}

// As PyTorch and the tables' own benchmarks spell them, modelled or not.
constexpr std::array<std::string_view, 8> kTypes = {"float32", "tfloat32",  "float16", "bfloat16",
                                                    "fp8",     "fp8_block", "fp4",     "int8"};

const std::string& type_named(const CsvRow& row) {
  const std::string& name = row.needed_text("dtype");
  if (std::find(kTypes.begin(), kTypes.end(), name) == kTypes.end())
    row.fail("dtype", one_of(kTypes), did_you_mean(name, kTypes));
  return name;
}

DataType type_of(const KernelRow& row) { return row.type == "fp8" ? DataType::kFp8 : DataType::kBf16; }

std::string shape_text(const KernelRow& row) { return fmt::format("{}", fmt::join(row.shape, " x ")); }

// 2 m n k; causal attention has half of two such products per head.
double flops_of(const KernelRow& row) {
  double all = 2;
  for (const std::int64_t side : row.shape) all *= static_cast<double>(side);
  if (row.shape.size() == 3) return all;
  return all * static_cast<double>(row.shape[1]) /
         static_cast<double>(row.shape[3]);  // no key heads; s twice
}

KernelChip chip_of(const GpuModel& gpu, DataType type) {
  return {gpu.peak.at(type).flops(), gpu.memory_bandwidth.Bps(), static_cast<double>(gpu.sms)};
}

ValidationRow record_of(const KernelTable& table, const KernelRow& row) {
  ValidationRow record{.id = fmt::format("{} {} {}", table.kind, row.type, shape_text(row)),
                       .what = fmt::format("{} {}", table.kind, shape_text(row)),
                       .system = fmt::format("{}, {} {}", table.gpu, table.kind, row.type),
                       .gpu = table.gpu};
  record.measured = row.measured_s;
  record.predicted = predict_kernel(row, gpu_called(table.gpu));
  return record;
}

}  // namespace

KernelTable read_kernels(std::string_view text, const std::string& path) {
  const std::string name = source_of(path);
  KernelTable table;
  for (const NamedGpu& gpu : kGpus)
    if (name.starts_with(std::string(gpu.name) + "-")) {
      table.gpu = gpu.model;
      table.kind = name.substr(gpu.name.size() + 1);
    }
  if (table.kind == "attention-forward-causal") table.kind = "attention";
  if (table.kind != "matmul" && table.kind != "attention")
    throw Error({.where = path,
                 .expected = fmt::format("a name of a GPU and \"matmul\" or \"attention-forward-causal\", "
                                         "such as {}-matmul.csv",
                                         kGpus.front().name),
                 .given = quoted(name)});
  const bool matmul = table.kind == "matmul";
  const std::span<const std::string_view> columns =
      matmul ? std::span<const std::string_view>(kMatmulColumns) : kAttentionColumns;
  const CsvTable csv(text, path, columns);
  for (const CsvRow& row : csv.rows()) {
    KernelRow kernel{.type = type_named(row), .measured_s = 1e-6 * row.needed_number("time_us")};
    for (const std::string_view column : columns.subspan(1, columns.size() - 2))
      kernel.shape.push_back(row.needed_whole(column));
    table.rows.push_back(std::move(kernel));
  }
  return table;
}

std::string kernel_outside(const KernelRow& row) {
  if (row.type != "bfloat16" && row.type != "fp8") return fmt::format("no model of {} kernels", row.type);
  if (row.type == "fp8" && row.shape.front() % 16 != 0)
    return "fp8 kernels take another path where m is no multiple of 16";
  return "";
}

double predict_kernel(const KernelRow& row, const GpuModel& gpu) {
  const std::vector<std::int64_t>& s = row.shape;
  const DataType type = type_of(row);
  const KernelChip chip = chip_of(gpu, type);
  const KernelModel& model = kernel_model_of(gpu.name);
  const KernelDemand d =
      s.size() == 3
          ? matmul_demand({.m = s[0], .n = s[1], .k = s[2]}, type, chip, model)
          : attention_demand(
                {.batch = s[0], .sequence = s[1], .heads = s[2], .kv_heads = s[3], .head_dim = s[4]}, type,
                chip, model);
  return std::max(d.sm_s, d.memory_s);
}

// Why a row has no prediction on its GPU; "" where it has.
std::string kernel_outside_on(const GpuModel& gpu, const KernelRow& row) {
  if (std::string outside = kernel_outside(row); !outside.empty()) return outside;
  return gpu.peak.contains(type_of(row)) ? "" : fmt::format("{} has no {} peak", gpu.name, row.type);
}

bool beats_its_gpu(const KernelTable& table) {
  const GpuModel& gpu = gpu_called(table.gpu);
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const KernelRow& row) {
    return kernel_outside_on(gpu, row).empty() &&
           row.measured_s < flops_of(row) / gpu.peak.at(type_of(row)).flops();
  });
}

// A kernel's time depends on its GPU, not on the profile.
Validation predict_kernels(std::span<const KernelTable> tables, const Profile& profile,
                           const SuiteOptions& options) {
  Validation validation = validation_of("kernels", "kernel time", "s", profile, options);
  std::size_t number = 0;
  for (const KernelTable& table : tables) {
    const bool impossible = beats_its_gpu(table);
    for (const KernelRow& row : table.rows) {
      if (!matches({{"gpu", table.gpu}, {"kind", table.kind}, {"type", row.type}}, options.filters)) continue;
      if (number++ % options.every != 0) continue;
      const std::string outside = impossible ? "the table has times that the GPU's peak rules out"
                                             : kernel_outside_on(gpu_called(table.gpu), row);
      if (outside.empty())
        validation.rows.push_back(record_of(table, row));
      else
        validation.not_simulated.push_back(
            {fmt::format("{} {}", row.type, shape_text(row)), table.gpu + ", " + table.kind, outside});
    }
  }
  if (validation.rows.empty()) fail_empty("kernels");
  sum_up(validation);
  return validation;
}

Validation run_kernels(const std::string& folder, const Profile& profile, const SuiteOptions& options) {
  std::vector<KernelTable> tables;
  for (const std::string& path : tables_in(folder + "/kernels"))
    tables.push_back(read_kernels(load_text(path), path));
  return predict_kernels(tables, profile, options);
}

}  // namespace busbar
