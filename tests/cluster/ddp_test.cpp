// A real training job against its prediction: PyTorch's DDP over Gloo on an emulated cluster. Profiled on two
// hosts with one size of bucket, its links calibrated on the same two hosts; then other sizes of bucket and
// more hosts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/base/json_reader.h"
#include "tests/cluster/cluster_topology.h"
#include "tests/support/job.h"
#include "tests/support/sanitized.h"
#include "validate/import/measured_input.h"

namespace busbar {
namespace {

constexpr int kSkipped = 77;
constexpr int kLayers = 8, kWidth = 512;  // 1 MiB of fp32 each
constexpr double kRate_bps = 50e6;  // slow against a CPU that all hosts share: a bucket takes 0.1 s and more

struct Point {
  int hosts, bucket_mib;
};

class TrainingJob : public JobTest {
 protected:
  static std::string cluster(int hosts) {
    return fmt::format("timeout 200 '" BUSBAR_SOURCE_DIR
                       "/tests/cluster/emulated_cluster' --hosts {} --rate {:.0f}bit -- ",
                       hosts, kRate_bps);
  }
  Outcome train(const Point& p) {
    return shell(fmt::format(
        "mkdir {1} && {0} /usr/bin/python3 '" BUSBAR_SOURCE_DIR
        "/tests/cluster/ddp_training.py' --folder $PWD/{1} --meet tcp://10.201.0.1:29533 --interface eth0 "
        "--bucket-mib {2} --layers {3} --width {4}",
        cluster(p.hosts), folder_of(p), p.bucket_mib, kLayers, kWidth));
  }
  static std::string folder_of(const Point& p) { return fmt::format("run-{}-{}", p.hosts, p.bucket_mib); }
  std::vector<std::string> traces_of(const Point& p) {
    std::vector<std::string> paths;
    for (int rank = 0; rank < p.hosts; ++rank)
      paths.push_back(path(fmt::format("{}/rank{}.json", folder_of(p), rank)).string());
    return paths;
  }
  void write_topology(int hosts) {
    file(fmt::format("cluster{}.json", hosts), cluster_topology(hosts, kRate_bps / 1e6));
  }
  // Equal layers share what was measured; backward has two products where forward has one.
  void write_workload(const MeasuredStep& profiled) {
    const double layer_us = profiled.split->compute.microseconds() / kLayers;
    std::string parameters;
    for (int i = 0; i < kLayers; ++i)
      parameters += fmt::format(
          R"({}{{"name": "layer{}", "shape": [{}, {}], "forward": "{} us", "backward": "{} us"}})",
          i == 0 ? "" : ", ", i, kWidth, kWidth, layer_us / 3, 2 * layer_us / 3);
    file("stack.json", fmt::format(R"({{"schema": "busbar.workload/1", "name": "stack of layers",
      "model": {{"name": "stack", "parameters": [{}]}}, "batch": {{"micro": 32, "global": 64}},
      "parallel": {{"dp": 2, "sharding": "none"}}, "precision": {{"compute": "fp32", "parameters": "fp32",
      "gradients": "fp32", "reduce": "fp32"}}, "ddp": {{"bucket_cap": "25 MiB", "first_bucket": "1 MiB"}},
      "optimizer": {{"kind": "none"}}}})",
                                   parameters));
  }
  Outcome compare(const Point& p) {
    write_topology(p.hosts);
    return shell(
        fmt::format("'%BIN/validate' --topology cluster{0}.json --workload stack.json --set parallel.dp={0} "
                    "--set batch.global={1} "
                    "--set 'ddp.bucket_cap={2} MiB' --calibration profile.json --measured {3}/rank*.json "
                    "--json {3}.json --tolerance 10%",
                    p.hosts, 32 * p.hosts, p.bucket_mib, folder_of(p)));
  }
  double step_error(const Point& p) {
    const JsonDocument document = JsonDocument::load(path(folder_of(p) + ".json").string());
    return document.root().at("verdict").at("error").number(-10, 1000);
  }
};

TEST_F(TrainingJob, OtherBucketsAndMoreHostsComeOutWithinTenPercent) {
  if (kSanitized) GTEST_SKIP() << "judges times, which the sanitizers change";
  if (shell("/usr/bin/python3 -c 'import torch.distributed as d; assert d.is_gloo_available()'").exit_code !=
      0)
    GTEST_SKIP() << "PyTorch with Gloo is not installed (Debian: python3-torch)";
  const Point profiled{2, 25};
  Outcome o = train(profiled);
  if (o.exit_code == kSkipped) GTEST_SKIP() << o.err;
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const MeasuredInput input = read_measured_inputs(traces_of(profiled));
  ASSERT_EQ(input.steps.size(), 1U);
  write_workload(input.steps[0]);

  o = shell(
      cluster(2) +
      "'%BIN/calibrate' --run mpi --groups all --no-kernels --no-isolated --repetitions 5 -o links.json "
      "--sizes 1M,2M,4M --algorithm ring --collective all_reduce,all_gather");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  write_topology(2);
  o = shell(
      "'%BIN/calibrate' --from links.json --topology cluster2.json --calibration ideal -o profile.json");
  ASSERT_EQ(o.exit_code, 0) << o.err;

  for (const Point& p : {Point{2, 2}, Point{3, 2}, Point{4, 4}}) {
    o = train(p);
    ASSERT_EQ(o.exit_code, 0) << o.err;
    o = compare(p);
    fmt::print("{} hosts, buckets of {} MiB:\n{}\n", p.hosts, p.bucket_mib, o.out);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    fmt::print("error {:+.1f} %\n", 100 * step_error(p));
  }
}

}  // namespace
}  // namespace busbar
