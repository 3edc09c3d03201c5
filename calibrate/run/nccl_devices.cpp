#include "calibrate/run/nccl_devices.h"

#include <utility>

#include "calibrate/run/cuda_check.h"

namespace busbar {

namespace {

constexpr std::size_t kFlagBytes = 256;

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes), "allocating buffers");
  check_cuda(cudaMemset(memory, 0, bytes), "clearing buffers");
  return memory;
}

}  // namespace

NcclDevice::NcclDevice(int device) : device_(device) {
  use();
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check_cuda(cudaEventCreate(&start_), "making an event");
  check_cuda(cudaEventCreate(&stop_), "making an event");
  flag_ = allocate(kFlagBytes);
}

NcclDevice::NcclDevice(NcclDevice&& other) noexcept
    : device_(other.device_),
      stream_(std::exchange(other.stream_, nullptr)),
      start_(std::exchange(other.start_, nullptr)),
      stop_(std::exchange(other.stop_, nullptr)),
      send_(std::exchange(other.send_, nullptr)),
      receive_(std::exchange(other.receive_, nullptr)),
      flag_(std::exchange(other.flag_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

// What CUDA says here comes too late to matter.
NcclDevice::~NcclDevice() {
  if (stream_ == nullptr) return;
  cudaSetDevice(device_);
  cudaFree(send_);
  cudaFree(receive_);
  cudaFree(flag_);
  cudaEventDestroy(start_);
  cudaEventDestroy(stop_);
  cudaStreamDestroy(stream_);
}

void NcclDevice::use() const { check_cuda(cudaSetDevice(device_), "choosing a GPU"); }

std::string NcclDevice::name() const {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device_), "asking for a GPU's properties");
  return properties.name;
}

std::int64_t NcclDevice::memory_bytes() const {
  use();
  std::size_t free_bytes = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
  return static_cast<std::int64_t>(free_bytes);
}

void NcclDevice::reserve(Bytes size) {
  if (size.count() <= size_) return;
  use();
  check_cuda(cudaFree(std::exchange(send_, nullptr)), "freeing buffers");
  check_cuda(cudaFree(std::exchange(receive_, nullptr)), "freeing buffers");
  send_ = static_cast<char*>(allocate(static_cast<std::size_t>(size.count())));
  receive_ = static_cast<char*>(allocate(static_cast<std::size_t>(size.count())));
  size_ = size.count();
}

void NcclDevice::mark_start() const {
  use();
  check_cuda(cudaEventRecord(start_, stream_), "recording an event");
}

void NcclDevice::mark_stop() const {
  use();
  check_cuda(cudaEventRecord(stop_, stream_), "recording an event");
}

bool NcclDevice::finished() const {
  const cudaError_t state = cudaEventQuery(stop_);
  if (state != cudaErrorNotReady) check_cuda(state, "waiting for a batch");
  return state == cudaSuccess;
}

double NcclDevice::seconds() const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "reading events");
  return static_cast<double>(milliseconds) * 1e-3;
}

int visible_gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace busbar
