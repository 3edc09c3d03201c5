#include "calibrate/run/nccl_graph.h"

#include "calibrate/run/cuda_check.h"

namespace busbar {

LaunchGraphs::~LaunchGraphs() {
  for (cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
}

void LaunchGraphs::capture(const std::vector<NcclMember>& members, const std::function<void()>& enqueue) {
  for (const NcclMember& member : members) {
    member.device->use();
    // NCCL may call CUDA from threads of its own meanwhile.
    check_cuda(cudaStreamBeginCapture(member.device->stream(), cudaStreamCaptureModeRelaxed),
               "capturing a graph");
  }
  enqueue();
  for (const NcclMember& member : members) {
    member.device->use();
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(member.device->stream(), &graph), "capturing a graph");
    cudaGraphExec_t ready = nullptr;
    const cudaError_t made = cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(made, "making a graph");
    graphs_.push_back(ready);
  }
}

void LaunchGraphs::launch(const std::vector<NcclMember>& members) const {
  for (std::size_t m = 0; m < members.size(); ++m) {
    members[m].device->use();
    check_cuda(cudaGraphLaunch(graphs_[m], members[m].device->stream()), "launching a graph");
  }
}

}  // namespace busbar
