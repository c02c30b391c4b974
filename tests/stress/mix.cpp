// Eight threads, thirty-two streams, graphs, events, managed memory and pools together, each answer checked. Shows
// races, leaks and lost work that tests of one thing at a time do not; made for sanitizers and long runs.
//
//   stress-mix [SECONDS]    5 unless given; exit status 1 for a wrong answer, an error or growth

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

constexpr int kThreads = 8, kStreams = 32;
constexpr unsigned kWords = 1024, kBlock = 128;
constexpr size_t kBytes = kWords * sizeof(int);

// add(int* data, int value): data[i] += value. total(int* data, int* sum): adds the words of data to *sum.
constexpr const char* kKernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 value) {
  .reg .b32 %r<6>; .reg .b64 %rd<3>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u64 %rd0, [data]; cvta.to.global.u64 %rd0, %rd0;
  mad.wide.u32 %rd1, %r3, 4, %rd0;
  ld.param.u32 %r4, [value];
  ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r4; st.global.u32 [%rd1], %r5;
  ret;
}
.visible .entry total(.param .u64 data, .param .u64 sum) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p;
  .shared .align 4 .u32 part;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  setp.ne.u32 %p, %r2, 0;
  @!%p st.shared.u32 [part], 0;
  bar.sync 0;
  ld.param.u64 %rd0, [data]; cvta.to.global.u64 %rd0, %rd0;
  mad.wide.u32 %rd1, %r3, 4, %rd0;
  ld.global.u32 %r4, [%rd1];
  atom.shared.add.u32 %r5, [part], %r4;
  bar.sync 0;
  @%p ret;
  ld.param.u64 %rd2, [sum]; cvta.to.global.u64 %rd2, %rd2;
  ld.shared.u32 %r4, [part];
  atom.global.add.u32 %r5, [%rd2], %r4;
  ret;
}
)";

std::atomic<int> failures{0};
std::atomic<bool> stop{false};
std::atomic<uint64_t> turns{0};

void fail(const char* what, int line, long got) {
  if (++failures <= 20) std::fprintf(stderr, "mix.cpp:%d: %s: %ld\n", line, what, got);
  stop = true;
}

#define OK(call)                                                                            \
  do {                                                                                      \
    if (const CUresult code_ = (call); code_ != CUDA_SUCCESS) fail(#call, __LINE__, code_); \
  } while (false)
#define EQUAL(got, expected)                                                                      \
  do {                                                                                            \
    if (const long got_ = (got); got_ != static_cast<long>(expected)) fail(#got, __LINE__, got_); \
  } while (false)

struct Device {
  CUcontext context = nullptr;
  CUfunction add = nullptr, total = nullptr;
  std::vector<CUstream> streams;
};

void launch(CUfunction function, CUstream stream, CUdeviceptr data, CUdeviceptr other) {
  void* parameters[] = {&data, &other};
  OK(cuLaunchKernel(function, kWords / kBlock, 1, 1, kBlock, 1, 1, 0, stream, parameters, nullptr));
}

/// One thread's part. Every turn does one of the things below and checks what came of it.
class Worker {
 public:
  Worker(const Device& device, unsigned seed) : device_(device), random_(seed) {
    OK(cuCtxSetCurrent(device.context));
    OK(cuMemAlloc(&data_, kBytes));
    OK(cuMemAlloc(&sum_, sizeof(int)));
    OK(cuMemAllocManaged(&managed_, kBytes, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&sent_, kBytes, 0));
    OK(cuMemHostAlloc(&received_, kBytes, 0));
    OK(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
  }
  ~Worker() {
    OK(cuEventDestroy(event_));
    OK(cuMemFreeHost(received_));
    OK(cuMemFreeHost(sent_));
    OK(cuMemFree(managed_));
    OK(cuMemFree(sum_));
    OK(cuMemFree(data_));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void turn() {
    switch (random_() % 7) {
      case 0:
        return launches_across_streams();
      case 1:
        return copies();
      case 2:
        return captured_graph();
      case 3:
        return managed_memory();
      case 4:
        return ordered_memory();
      case 5:
        return host_functions();
      default:
        return own_stream();
    }
  }

 private:
  CUstream any_stream() { return device_.streams[random_() % kStreams]; }
  int any_value() { return static_cast<int>(random_() % 1000); }

  /// What follows in `to` comes after what is in `from`.
  void hop(CUstream from, CUstream to) {
    OK(cuEventRecord(event_, from));
    OK(cuStreamWaitEvent(to, event_, 0));
  }

  void expect(CUdeviceptr words, int value, CUstream stream) {
    std::memset(received_, 0xff, kBytes);
    OK(cuMemcpyDtoHAsync(received_, words, kBytes, stream));
    OK(cuStreamSynchronize(stream));
    const int* const found = static_cast<const int*>(received_);
    for (unsigned i = 0; i < kWords; i += 97) EQUAL(found[i], value);
  }

  void launches_across_streams() {
    CUstream stream = any_stream();
    int expected = any_value();
    OK(cuMemsetD32Async(data_, static_cast<unsigned>(expected), kWords, stream));
    for (int i = 0; i < 8; ++i) {
      CUstream next = any_stream();
      hop(stream, next);
      stream = next;
      const int value = any_value();
      launch(device_.add, stream, data_, static_cast<CUdeviceptr>(value));
      expected += value;
    }
    expect(data_, expected, stream);
  }

  void copies() {
    CUstream stream = any_stream();
    const int value = any_value();
    int* const words = static_cast<int*>(sent_);
    for (unsigned i = 0; i < kWords; ++i) words[i] = value;
    OK(cuMemcpyHtoDAsync(data_, sent_, kBytes, stream));
    OK(cuMemcpyDtoDAsync(managed_, data_, kBytes, stream));
    launch(device_.add, stream, managed_, 1);
    expect(managed_, value + 1, stream);
    std::vector<int> pageable(kWords, value + 2);
    OK(cuMemcpyHtoD(data_, pageable.data(), kBytes));
    pageable.assign(kWords, 0);
    OK(cuMemcpyDtoH(pageable.data(), data_, kBytes));
    EQUAL(pageable[kWords - 1], value + 2);
  }

  void captured_graph() {
    CUstream stream = nullptr, side = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUevent fork = nullptr, join = nullptr;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD32Async(data_, 1, kWords, stream));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(side, fork, 0));
    OK(cuMemsetD32Async(sum_, 0, 1, side));
    OK(cuEventRecord(join, side));
    launch(device_.add, stream, data_, 2);
    OK(cuStreamWaitEvent(stream, join, 0));
    launch(device_.total, stream, data_, sum_);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int i = 0; i < 3; ++i) OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));  // while it runs
    int sum = 0;
    OK(cuMemcpyDtoHAsync(&sum, sum_, sizeof sum, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(sum, 3 * kWords);
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
    OK(cuStreamDestroy(side));
    OK(cuStreamDestroy(stream));
  }

  void managed_memory() {
    CUstream stream = any_stream();
    int* const words = reinterpret_cast<int*>(managed_);  // NOLINT(performance-no-int-to-ptr)
    const int value = any_value();
    for (unsigned i = 0; i < kWords; ++i) words[i] = value;
    launch(device_.add, stream, managed_, 5);
    OK(cuMemsetD32Async(sum_, 0, 1, stream));
    launch(device_.total, stream, managed_, sum_);
    int sum = 0;
    OK(cuMemcpyDtoHAsync(&sum, sum_, sizeof sum, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(sum, kWords * (value + 5));
    for (unsigned i = 0; i < kWords; i += 101) EQUAL(words[i], value + 5);
  }

  void ordered_memory() {
    CUstream stream = any_stream(), other = any_stream();
    CUdeviceptr block = 0;
    OK(cuMemAllocAsync(&block, kBytes, stream));
    OK(cuMemsetD32Async(block, 3, kWords, stream));
    launch(device_.add, stream, block, 4);
    hop(stream, other);
    expect(block, 7, other);
    OK(cuMemFreeAsync(block, other));
  }

  void host_functions() {
    CUstream stream = any_stream();
    std::atomic<int> called{0};
    const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
    for (int i = 0; i < 4; ++i) {
      OK(cuLaunchHostFunc(stream, count, &called));
      launch(device_.add, stream, data_, 1);
    }
    OK(cuStreamSynchronize(stream));
    EQUAL(called.load(), 4);
  }

  /// A stream that goes while it has work; the default stream waits for what was in it.
  void own_stream() {
    CUstream stream = nullptr;
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cuMemsetD32Async(data_, 9, kWords, stream));
    launch(device_.add, stream, data_, 1);
    OK(cuStreamDestroy(stream));
    expect(data_, 10, nullptr);
  }

  const Device& device_;
  std::minstd_rand random_;
  CUdeviceptr data_ = 0, sum_ = 0, managed_ = 0;
  void *sent_ = nullptr, *received_ = nullptr;
  CUevent event_ = nullptr;
};

long resident_kib() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

Device open() {
  Device device;
  CUdevice number = 0;
  CUmodule module = nullptr;
  OK(cuInit(0));
  OK(cuDeviceGet(&number, 0));
  OK(cuDevicePrimaryCtxRetain(&device.context, number));
  OK(cuCtxSetCurrent(device.context));
  OK(cuModuleLoadData(&module, kKernels));
  OK(cuModuleGetFunction(&device.add, module, "add"));
  OK(cuModuleGetFunction(&device.total, module, "total"));
  device.streams.resize(kStreams);
  for (int i = 0; i < kStreams; ++i)
    OK(cuStreamCreate(&device.streams[i], i % 4 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
  return device;
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 5;
  const Device device = open();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads && !stop; ++i)
    threads.emplace_back([&device, i] {
      Worker worker(device, i + 1);
      for (; !stop; ++turns) worker.turn();
    });
  const auto pause = [&](double part) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds * part);
    while (!stop && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  pause(0.4);
  const long before = resident_kib();
  pause(0.6);
  const long grown = resident_kib() - before;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (CUstream stream : device.streams) OK(cuStreamDestroy(stream));
  std::printf("%llu turns, grown by %ld KiB\n", static_cast<unsigned long long>(turns.load()), grown);
#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)  // they keep what is freed, and histories
  if (grown > 4096) fail("growth in KiB", __LINE__, grown);
#endif
  return failures ? 1 : 0;
}
