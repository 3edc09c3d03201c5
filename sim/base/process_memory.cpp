#include "sim/base/process_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace busbar {

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

namespace {

constexpr std::size_t kHeap = std::size_t{2} << 30;             // address space alone, until it is touched
constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;  // of x86-64 and of arm64 with pages of 4 KiB

}  // namespace

void prepare_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  // The heap grows by the block and keeps it, so that it can be told of all pages to come.
  void* block = std::malloc(kHeap);
  if (block == nullptr) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + kLargePage - 1) & ~(kLargePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + kHeap) & ~(kLargePage - 1);
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(block);
}

int end_process(int exit_code) {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

#else

void prepare_memory() {}
int end_process(int exit_code) { return exit_code; }

#endif

}  // namespace busbar
