// What `plan --init` writes.
#include "sim/study/study.h"

namespace busbar {

std::string example_study() {
  return R"(// A capacity-planning study. Run it: plan study.json -o report.md
// Every quantity carries its unit; lists of counts may be written "from:to:factor".
{
  "schema": "busbar.study/1",
  "name": "Llama 3.1 8B on 32 to 128 H100",

  // The job. "model" takes a preset (plan --list models) or the model's dimensions, as in a workload file.
  "model": {"preset": "llama-3.1-8b"},
  "batch": {"sequence": 8192, "global": 256},
  "tokens": "1e12 tokens",
  // Other keys of a workload file, such as precision, overlap, ddp, moe, context (docs/formats.md).
  "workload": {"framework": "megatron-core", "precision": {"reduce": "fp32", "gradients": "fp32"}},

  // Where it may run. "price" rents GPUs; hosts that are bought have "host_price", "port_price", "lifetime".
  "clusters": [
    {
      "name": "DGX H100",
      "topology": {"hosts": {"type": "dgx-h100"}, "fabric": {"family": "rail-optimized", "oversubscription": 1.0}},
      "gpus": "32:128:2",
      "price": "2.5 USD/GPU-hour",
      "power": "10.2 kW/host"
    }
  ],

  // What must hold. Without either, the recommendation follows the knee of the scaling curve.
  "constraints": {"memory": "95%"},

  // What layouts may use. Left out, lists take every value that divides.
  "search": {"sharding": ["none", "distributed", "fsdp"], "simulate": 16},

  // What fails, and how state is saved: storage is of all hosts together, staging of one host.
  "failures": {"mtbf": "50000 h/GPU", "storage": "20 GB/s", "restart": "10 min", "repair": "24 h", "spares": 1}

  // , "sweep": {"fabric.oversubscription": [1, 2, 4]}
  // , "scaling": "both"
}
)";
}

}  // namespace busbar
