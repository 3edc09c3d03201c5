#include "sim/base/process_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace busbar {

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

namespace {

constexpr std::size_t kHeap = std::size_t{2} << 30;       // address space alone, until it is touched
constexpr std::size_t kLargePage = std::size_t{2} << 20;  // of x86-64 and of arm64 with pages of 4 KiB

}  // namespace

void prepare_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  // The heap grows by the block and keeps it, so that it can be told of all pages to come.
  void* block = std::malloc(kHeap);
  if (block == nullptr) return;
  void* begin = block;
  std::size_t length = kHeap;
  if (std::align(kLargePage, kLargePage, begin, length) != nullptr)
    ::madvise(begin, length / kLargePage * kLargePage, MADV_HUGEPAGE);
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
