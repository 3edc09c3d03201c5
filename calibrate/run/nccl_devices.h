// The GPUs that one process drives.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/run/tcp_socket.h"
#include "sim/base/units.h"

namespace busbar {

/// One GPU: its stream, its events, and buffers that serve calls up to some size. Freed with the object.
class NcclDevice {
 public:
  explicit NcclDevice(int device);
  NcclDevice(NcclDevice&& other) noexcept;
  NcclDevice& operator=(NcclDevice&&) = delete;
  ~NcclDevice();

  void use() const;
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::int64_t memory_bytes() const;
  void reserve(Bytes size);
  [[nodiscard]] char* send() const { return send_; }
  [[nodiscard]] char* receive() const { return receive_; }
  /// A word of memory for the barrier before a batch.
  [[nodiscard]] void* flag() const { return flag_; }

  void mark_start() const;
  void mark_stop() const;
  /// False: not at the end of the batch yet.
  [[nodiscard]] bool finished() const;
  /// Between the two marks.
  [[nodiscard]] double seconds() const;

 private:
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  char *send_ = nullptr, *receive_ = nullptr;
  void* flag_ = nullptr;
  std::int64_t size_ = 0;
};

/// GPUs that CUDA sees here; 0 also where there is no driver.
[[nodiscard]] int visible_gpus();

}  // namespace busbar
