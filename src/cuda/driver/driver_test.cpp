// What each call promises. Oracle: the page of "CUDA Driver API" that is named above each group.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Devices = WithContext;
using Contexts = WithContext;
using Memory = WithContext;
using Copies = WithContext;
using Streams = WithContext;
using Events = WithContext;
using Modules = WithContext;
using EntryPoints = WithContext;

// ---- Initialization, Version Management, Error Handling ----

TEST(Init, IsNeededFirst) {
  // In a child, because other tests of this process initialise.
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "test", "--gtest_filter=Init.DISABLED_BeforeInit", "--gtest_also_run_disabled_tests",
          nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Init, DISABLED_BeforeInit) {
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(Init, RejectsFlags) {
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST(Init, VersionIs13000) {
  int version = 0;
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(Errors, HaveNamesAndStrings) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_NOT_READY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_NOT_READY");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(Contexts, ForkedChildIsToldSo) {
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr memory = 0;
    _exit(cuMemAlloc(&memory, 64) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// ---- Device Management ----

TEST_F(Devices, RejectsOrdinalsThatAreNotThere) {
  int count = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  CUdevice device = 0;
  EXPECT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, NameIsCutToTheBuffer) {
  char whole[256], part[5];
  ASSERT_EQ(cuDeviceGetName(whole, sizeof whole, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetName(part, sizeof part, device_), CUDA_SUCCESS);
  EXPECT_EQ(std::string(part), std::string(whole).substr(0, 4));
}

TEST_F(Devices, ReportsEveryAttribute) {
  for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute) {
    int value = -12345;
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), device_), CUDA_SUCCESS)
        << attribute;
    EXPECT_NE(value, -12345) << attribute;
  }
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device_), CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), device_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, BusIdLeadsBack) {
  char id[32];
  ASSERT_EQ(cuDeviceGetPCIBusId(id, sizeof id, device_), CUDA_SUCCESS);
  CUdevice found = -1;
  EXPECT_EQ(cuDeviceGetByPCIBusId(&found, id), CUDA_SUCCESS);
  EXPECT_EQ(found, device_);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&found, "ffff:ff:1f.7"), CUDA_ERROR_INVALID_DEVICE);
}

// ---- Context Management, Primary Context Management ----

TEST_F(Contexts, CreateMakesCurrentAndPopRestores) {
  CUcontext second = nullptr, current = nullptr;
  ASSERT_EQ(cuCtxCreate(&second, nullptr, 0, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, second);
  ASSERT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, second);
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, AThreadStartsWithout) {
  std::thread([] {
    CUcontext current = reinterpret_cast<CUcontext>(1);
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(Contexts, OthersSeeThatItIsDestroyed) {
  CUcontext second = nullptr;
  ASSERT_EQ(cuCtxCreate(&second, nullptr, 0, device_), CUDA_SUCCESS);
  std::thread([second] { EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS); }).join();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(Contexts, RejectsBadFlags) {
  CUcontext second = nullptr;
  EXPECT_EQ(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, device_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate(&second, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Contexts, PrimaryIsActiveWhileRetained) {
  CUcontext first = nullptr, second = nullptr;
  unsigned flags = 0;
  int active = -1;
  ASSERT_EQ(cuDevicePrimaryCtxGetState(device_, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&first, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, device_), CUDA_SUCCESS);
  EXPECT_EQ(first, second);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(device_, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, ResetFreesWhatThePrimaryHolds) {
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  ASSERT_EQ(cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(device_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(Contexts, LimitsAreKept) {
  size_t value = 0;
  ASSERT_EQ(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(value, 64u << 20);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, size_t{1} << 60), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

// ---- Memory Management ----

TEST_F(Memory, RejectsNothingAndNull) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&memory, SIZE_MAX / 2), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Memory, FreesOnceAndOnlyBeginnings) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1024), CUDA_SUCCESS);
  EXPECT_EQ(memory % 256, 0u);
  EXPECT_EQ(cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, InfoShowsWhatIsAllocated) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 32 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_LE(after + (32 << 20), before);
  EXPECT_LE(before, total);
  cuMemFree(memory);
}

TEST_F(Memory, RangesAreFoundFromInside) {
  CUdeviceptr memory = 0, base = 0;
  size_t size = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1000), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetAddressRange(&base, &size, memory + 999), CUDA_SUCCESS);
  EXPECT_EQ(base, memory);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, memory + 1000), CUDA_ERROR_NOT_FOUND);
  cuMemFree(memory);
}

TEST_F(Memory, HostMemoryIsRegisteredOnce) {
  std::vector<char> block(8192);
  EXPECT_EQ(cuMemHostRegister(block.data(), block.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(block.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr seen = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer(&seen, block.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(block.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(block.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemHostGetDevicePointer(&seen, block.data(), 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, HostAllocationsKeepTheirFlags) {
  void* block = nullptr;
  unsigned flags = 0;
  ASSERT_EQ(cuMemHostAlloc(&block, 100, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetFlags(&flags, block), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_EQ(cuMemFreeHost(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostAlloc(&block, 100, 0x100), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, PointersKnowWhatTheyAre) {
  CUdeviceptr device = 0, managed = 0;
  void* host = nullptr;
  ASSERT_EQ(cuMemAlloc(&device, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocHost(&host, 64), CUDA_SUCCESS);
  const auto type_of = [](CUdeviceptr pointer) {
    unsigned type = 0;
    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) == CUDA_SUCCESS ? type : 0;
  };
  EXPECT_EQ(type_of(device), unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(type_of(managed), unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(type_of(reinterpret_cast<CUdeviceptr>(host)), unsigned{CU_MEMORYTYPE_HOST});
  int local = 0;
  EXPECT_EQ(type_of(reinterpret_cast<CUdeviceptr>(&local)), 0u);
  bool is_managed = false;
  EXPECT_EQ(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), CUDA_SUCCESS);
  EXPECT_TRUE(is_managed);
  CUcontext context = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, device), CUDA_SUCCESS);
  EXPECT_EQ(context, context_);
}

TEST_F(Memory, AttributesOfUnknownMemorySucceed) {
  int local = 0;
  unsigned type = 77;
  int ordinal = 77;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* answers[] = {&type, &ordinal};
  EXPECT_EQ(cuPointerGetAttributes(2, asked, answers, reinterpret_cast<CUdeviceptr>(&local)), CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);
}

TEST_F(Memory, StreamOrderedMemoryIsUsableInBetween) {
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocAsync(&memory, 4096, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 1, 4096, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Copies, GoThereAndBack) {
  std::vector<int> sent(1000), received(1000);
  std::iota(sent.begin(), sent.end(), 7);
  CUdeviceptr first = 0, second = 0;
  const size_t bytes = sent.size() * sizeof(int);
  ASSERT_EQ(cuMemAlloc(&first, bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&second, bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(first, sent.data(), bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(second, first, bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(received.data(), second, bytes), CUDA_SUCCESS);
  EXPECT_EQ(received, sent);
}

TEST_F(Copies, ChecksDirectionAndSize) {
  char host[64] = {};
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAlloc(&device, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(device, host, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device + 60, host, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host), host + 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(0, host, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device, host, 0), CUDA_SUCCESS);
}

TEST_F(Copies, PlanesKeepTheirPitch) {
  // Oracle: a copy by hand.
  constexpr size_t kWidth = 5, kHeight = 4, kHostPitch = 7;
  unsigned char host[kHostPitch * kHeight], back[kWidth * kHeight];
  std::iota(std::begin(host), std::end(host), static_cast<unsigned char>(0));
  CUdeviceptr device = 0;
  size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&device, &pitch, kWidth, kHeight, 4), CUDA_SUCCESS);
  EXPECT_GE(pitch, kWidth);
  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host;
  in.srcPitch = kHostPitch;
  in.srcXInBytes = 1;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  in.dstDevice = device;
  in.dstPitch = pitch;
  in.WidthInBytes = kWidth;
  in.Height = kHeight;
  ASSERT_EQ(cuMemcpy2D(&in), CUDA_SUCCESS);
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  out.srcDevice = device;
  out.srcPitch = pitch;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = back;
  out.dstPitch = kWidth;
  out.WidthInBytes = kWidth;
  out.Height = kHeight;
  ASSERT_EQ(cuMemcpy2D(&out), CUDA_SUCCESS);
  for (size_t y = 0; y < kHeight; ++y)
    EXPECT_EQ(std::memcmp(back + y * kWidth, host + y * kHostPitch + 1, kWidth), 0) << y;
  out.srcPitch = kWidth - 1;
  EXPECT_EQ(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copies, FillsEveryWidth) {
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAlloc(&device, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(device, 0x01020304, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD16(device + 4, 0x5566, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(device + 8, 0x77, 3), CUDA_SUCCESS);
  unsigned char host[64];
  ASSERT_EQ(cuMemcpyDtoH(host, device, 64), CUDA_SUCCESS);
  const unsigned char expected[] = {4, 3, 2, 1, 0x66, 0x55, 0x66, 0x55, 0x77, 0x77, 0x77, 1};
  EXPECT_EQ(std::memcmp(host, expected, sizeof expected), 0);
  EXPECT_EQ(cuMemsetD32(device + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

// ---- Stream Management ----

TEST_F(Streams, KnowTheirProperties) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100), CUDA_SUCCESS);
  unsigned flags = 0;
  int priority = 0, least = 0, greatest = 0;
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetCtx(stream, &context), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(context, context_);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
}

/// Holds a stream until open() is called.
struct Gate {
  std::atomic<bool> is_open = false;
  static void wait(void* self) {
    while (!static_cast<Gate*>(self)->is_open) std::this_thread::yield();
  }
  void open() { is_open = true; }
};

void set_flag(void* flag) {
  static_cast<std::atomic<bool>*>(flag)->store(true);
}

TEST_F(Streams, AreAsynchronous) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(cuLaunchHostFunc(stream, Gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

TEST_F(Streams, LegacyWaitsForBlockingOnesAndTheyForIt) {
  CUstream blocking = nullptr, free = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(cuLaunchHostFunc(blocking, Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 1, 64, CU_STREAM_LEGACY), CUDA_SUCCESS);
  CUstream later = nullptr;
  ASSERT_EQ(cuStreamCreate(&later, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 2, 64, later), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 3, 64, free), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(free), CUDA_SUCCESS);  // takes no part in the order
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(later), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned char host = 0;
  ASSERT_EQ(cuMemcpyDtoH(&host, memory, 1), CUDA_SUCCESS);
  EXPECT_EQ(host, 2);
}

TEST_F(Streams, PerThreadOnesAreOneAThread) {
  unsigned long long here = 0, again = 0, there = 0;
  ASSERT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &here), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetId_ptsz(nullptr, &again), CUDA_SUCCESS);
  std::thread([&] {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &there), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(here, again);
  EXPECT_NE(here, there);
}

TEST_F(Streams, CallbacksGetTheirStream) {
  static CUstream seen;
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamAddCallback(
                stream, [](CUstream from, CUresult status, void*) { seen = status == CUDA_SUCCESS ? from : nullptr; },
                nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen, stream);
  EXPECT_EQ(cuStreamAddCallback(stream, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

// ---- Event Management ----

TEST_F(Events, AreDoneBeforeTheyAreRecorded) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, event, event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Events, HoldOtherStreams) {
  CUstream first = nullptr, second = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  Gate gate;
  std::atomic<bool> ran = false;
  ASSERT_EQ(cuLaunchHostFunc(first, Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(second, set_flag, &ran), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(ran);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST_F(Events, MeasureTime) {
  CUevent start = nullptr, end = nullptr, untimed = nullptr;
  ASSERT_EQ(cuEventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(start, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(nullptr, [](void*) { usleep(20000); }, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(untimed, nullptr), CUDA_SUCCESS);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 19.0f);
  EXPECT_LT(milliseconds, 20000.0f);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Events, KeepOrderUnderConcurrency) {
  // Several threads add to one counter, each after the event of the one before: any lost order loses an increment,
  // because the increment is a plain read and write.
  constexpr int kThreads = 4, kRounds = 50;
  struct Counter {
    volatile int value = 0;
    static void add(void* self) {
      auto* counter = static_cast<Counter*>(self);
      const int seen = counter->value;
      std::this_thread::yield();
      counter->value = seen + 1;
    }
  } counter;
  CUstream streams[kThreads];
  CUevent events[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_EQ(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  }
  std::atomic<int> turn = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      for (int round = 0; round < kRounds; ++round) {
        while (turn != round * kThreads + i) std::this_thread::yield();
        EXPECT_EQ(cuStreamWaitEvent(streams[i], events[(i + kThreads - 1) % kThreads], 0), CUDA_SUCCESS);
        EXPECT_EQ(cuLaunchHostFunc(streams[i], Counter::add, &counter), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(events[i], streams[i]), CUDA_SUCCESS);
        ++turn;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(counter.value, kThreads * kRounds);
}

// ---- Module Management ----

TEST_F(Modules, SayWhyCodeCannotRun) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n"), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuModuleLoadData(&module,
                             "\x7f"
                             "ELF...."),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, "garbage"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&module, "/nonexistent/file"), CUDA_ERROR_FILE_NOT_FOUND);
  char text[200] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {text, reinterpret_cast<void*>(sizeof text)};
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 8.0\n", 2, options, values), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(std::string(text).find("cupolac"), std::string::npos);
}

TEST_F(Modules, HandlesAreChecked) {
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, reinterpret_cast<CUmodule>(this), "kernel"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(this), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

// ---- Driver Entry Point Access ----

TEST_F(EntryPoints, AreOfTheVersionThatIsAskedFor) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress("cuCtxGetDevice", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuCtxGetDevice));
  EXPECT_EQ(cuGetProcAddress("cuLaunchKernel", &found, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuLaunchKernel_ptsz));
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found, nullptr);
  found = this;
  EXPECT_EQ(cuGetProcAddress("cuLaunchKernelEx", &found, 11000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
}

TEST_F(EntryPoints, UndocumentedTablesAreRefused) {
  const void* table = this;
  const CUuuid id{};
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace cupola::driver
