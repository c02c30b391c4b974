// What goes on for long costs no memory: launches allocate nothing once they run steadily, and neither launches nor
// pairs of allocation and free leave growth behind.

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <new>

#include "api.h"
#include "driver.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

}  // namespace

// The driver's own allocations come here too: a program's operators take the place of the library's.
void* operator new(size_t bytes) {
  if (counting) ++allocations;
  if (void* const block = std::malloc(bytes ? bytes : 1)) return block;
  std::abort();
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t) noexcept {
  std::free(block);
}

namespace {

struct Numbers {
  long values[24];
};

__global__ void add(long* sum, Numbers numbers, int which) {
  *sum += numbers.values[which];
}
__global__ void nothing() {}

CUfunction function_of(const void* kernel) {
  check::use_context();
  CUfunction function = nullptr;
  CUDA_OK(cudaGetFuncBySymbol(&function, kernel));
  return function;
}

long resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Bytes that `turns` calls of `body` leave, after as many to warm up.
template <typename Body>
long growth(int turns, Body body) {
  for (int i = 0; i < turns; ++i) body(i);
  CU_OK(cuCtxSynchronize());
  const long before = resident_bytes();
  for (int i = 0; i < turns; ++i) body(i);
  CU_OK(cuCtxSynchronize());
  return resident_bytes() - before;
}

constexpr long kMiB = 1 << 20;

}  // namespace

CASE(launches_allocate_nothing) {
  CUfunction function = function_of(reinterpret_cast<const void*>(add));
  CUdeviceptr sum = 0;
  CUstream stream = nullptr;
  CU_OK(cuMemAlloc(&sum, sizeof(long)));
  CU_OK(cuMemsetD32(sum, 0, 2));
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(cuCtxSynchronize());
  Numbers numbers{};
  numbers.values[7] = 3;
  int which = 7;
  void* parameters[] = {&sum, &numbers, &which};
  const auto launch_many = [&] {
    for (int turn = 0; turn < 20; ++turn) {
      counting = true;
      for (int i = 0; i < 100; ++i) CU_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
      counting = false;
      CU_OK(cuStreamSynchronize(stream));
    }
  };
  check::Gate gate;  // so that as many wait at once as may do so later
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  for (int i = 0; i < 100; ++i) CU_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  gate.release();
  int rounds = 0;
  do {  // each of the device's threads allocates when it runs its first block
    allocations = 0;
    launch_many();
  } while (++rounds < 50 && allocations > 0);
  EXPECT_EQUAL(allocations.load(), 0L);
  counting = true;
  delete new int;
  counting = false;
  EXPECT(allocations > 0);  // they are counted
  long result = 0;
  CU_OK(cuMemcpyDtoH(&result, sum, sizeof result));
  EXPECT_EQUAL(result, (2000L * rounds + 100) * 3);
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuMemFree(sum));
}

CASE(a_million_launches_leave_nothing) {
  CUfunction function = function_of(reinterpret_cast<const void*>(nothing));
  const long grown = growth(500000, [&](int i) {
    CU_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    if (i % 1000 == 999) CU_OK(cuStreamSynchronize(nullptr));
  });
  EXPECT(grown < kMiB);
}

CASE(a_million_allocations_leave_nothing) {
  check::use_context();
  const long grown = growth(500000, [](int i) {
    CUdeviceptr block = 0;
    CU_OK(cuMemAlloc(&block, 256u << i % 8));
    CU_OK(cuMemFree(block));
  });
  EXPECT(grown < kMiB);
}

CASE(a_million_ordered_allocations_leave_nothing) {
  check::use_context();
  const long grown = growth(500000, [](int i) {
    CUdeviceptr block = 0;
    CU_OK(cuMemAllocAsync(&block, 256u << i % 8, nullptr));
    CU_OK(cuMemFreeAsync(block, nullptr));
    if (i % 1000 == 999) CU_OK(cuStreamSynchronize(nullptr));
  });
  EXPECT(grown < kMiB);
}

CASE(graphs_events_and_streams_leave_nothing) {
  CUfunction function = function_of(reinterpret_cast<const void*>(nothing));
  const long grown = growth(5000, [&](int) {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    CU_OK(cuLaunchKernel(function, 2, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    CU_OK(cuStreamEndCapture(stream, &graph));
    CU_OK(cuGraphInstantiate(&exec, graph, 0));
    CU_OK(cuGraphLaunch(exec, stream));
    CU_OK(cuEventRecord(event, stream));
    CU_OK(cuGraphExecDestroy(exec));  // while it runs
    CU_OK(cuGraphDestroy(graph));
    CU_OK(cuEventSynchronize(event));
    CU_OK(cuEventDestroy(event));
    CU_OK(cuStreamDestroy(stream));
  });
  EXPECT(grown < kMiB);
}

CHECK_MAIN()
