// "gpus": models that the table lacks, or that are to replace one of its rows.
#include <cmath>

#include "topologies/topology_readers.h"

namespace busbar {
namespace {

constexpr std::int64_t kMaxSms = 1'000'000;

std::map<DataType, FlopRate> read_peaks(const JsonValue& peaks) {
  std::map<DataType, FlopRate> read;
  peaks.only_keys(data_type_names());
  for (const std::string& name : peaks.keys()) read[*parse_data_type(name)] = peaks.at(name).flop_rate();
  return read;
}

GpuModel read_gpu_model(const JsonValue& value, std::string name) {
  value.only_keys({"peak", "memory", "memory_bandwidth", "sms", "compute_capability", "power", "source"});
  GpuModel model;
  model.name = std::move(name);
  model.peak = read_peaks(value.at("peak"));
  model.memory = value.at("memory").bytes();
  model.memory_bandwidth = value.at("memory_bandwidth").bandwidth();
  model.sms = value.at("sms").integer(1, kMaxSms);
  // 9.0 as CUDA writes it.
  if (const auto cc = value.find("compute_capability"))
    model.compute_capability = static_cast<int>(std::lround(10 * cc->number(1, 99)));
  if (const auto power = value.find("power")) model.watts = power->watts();
  if (const auto source = value.find("source")) model.source = source->string();
  return model;
}

}  // namespace

void read_gpu_models(const JsonValue& gpus, TopologyBuilder& builder) {
  for (std::string& name : gpus.keys()) {
    const JsonValue model = gpus.at(name);
    builder.add_gpu_model(read_gpu_model(model, std::move(name)));
  }
}

}  // namespace busbar
