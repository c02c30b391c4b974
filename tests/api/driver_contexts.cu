// Contexts: the primary one, own ones, which is current, their limits and flags.
// Oracle: "CUDA Driver API", Primary Context Management, Context Management.

#include "driver_words.h"

static CUcontext current() {
  CUcontext context = reinterpret_cast<CUcontext>(1);
  CU_OK(cuCtxGetCurrent(&context));
  return context;
}

CASE(primary_context) {
  CUdevice device = check::the_device();
  unsigned flags = 99;
  int active = -1;
  CU_OK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC));
  CU_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQUAL(active, 0);
  EXPECT_EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
  CUcontext a = nullptr, b = nullptr;
  CU_OK(cuDevicePrimaryCtxRetain(&a, device));
  CU_OK(cuDevicePrimaryCtxRetain(&b, device));
  EXPECT(a != nullptr && a == b);
  EXPECT(current() == nullptr);  // retaining makes nothing current
  CU_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQUAL(active, 1);
  CU_OK(cuDevicePrimaryCtxRelease(device));
  CU_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQUAL(active, 1);
  CU_OK(cuDevicePrimaryCtxRelease(device));
  CU_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQUAL(active, 0);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&a, 9999), CUDA_ERROR_INVALID_DEVICE);
  CU_OK(cuDevicePrimaryCtxReset(device));
}

CASE(create_makes_it_current_and_destroy_pops_it) {
  CUdevice device = check::the_device();
  CU_OK(cuCtxSetCurrent(nullptr));
  CUcontext context = nullptr;
  CU_OK(cuCtxCreate(&context, nullptr, 0, device));
  EXPECT(context != nullptr && current() == context);
  CUdevice of = -1;
  CU_OK(cuCtxGetDevice(&of));
  EXPECT_EQUAL(of, device);
  unsigned version = 0;
  CU_OK(cuCtxGetApiVersion(context, &version));
  EXPECT(version >= 3010);
  CU_OK(cuCtxSynchronize());
  CU_OK(cuCtxDestroy(context));
  EXPECT(current() == nullptr);
  EXPECT_CUDA(cuCtxCreate(nullptr, nullptr, 0, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxCreate(&context, nullptr, 0, 9999), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuCtxCreate(&context, nullptr, 0xffff00, device), CUDA_ERROR_INVALID_VALUE);
}

CASE(stack_of_contexts) {
  CUdevice device = check::the_device();
  CU_OK(cuCtxSetCurrent(nullptr));
  CUcontext a = nullptr, b = nullptr, popped = nullptr;
  CU_OK(cuCtxCreate(&a, nullptr, 0, device));
  CU_OK(cuCtxCreate(&b, nullptr, 0, device));
  EXPECT(a != b && current() == b);
  CU_OK(cuCtxPopCurrent(&popped));
  EXPECT(popped == b && current() == a);
  CU_OK(cuCtxPushCurrent(b));
  EXPECT(current() == b);
  unsigned long long id_a = 0, id_b = 0;
  CU_OK(cuCtxGetId(a, &id_a));
  CU_OK(cuCtxGetId(b, &id_b));
  EXPECT(id_a != id_b);
  CU_OK(cuCtxDestroy(b));
  EXPECT(current() == a);
  CU_OK(cuCtxSetCurrent(nullptr));
  CU_OK(cuCtxDestroy(a));
  EXPECT_CUDA(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
}

CASE(current_context_belongs_to_the_thread) {
  CUcontext context = check::use_context();
  CUcontext other = context;
  CUresult without = CUDA_SUCCESS;
  std::thread([&] {
    CU_OK(cuCtxGetCurrent(&other));
    CUdeviceptr memory = 0;
    without = cuMemAlloc(&memory, 16);
  }).join();
  EXPECT(other == nullptr);
  EXPECT_CUDA(without, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(current() == context);
}

CASE(limits_and_hints) {
  check::use_context();
  size_t value = 0;
  CU_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  CU_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT(value >= 4096);
  CU_OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  EXPECT(value > 0);
  EXPECT_CUDA(cuCtxGetLimit(&value, static_cast<CUlimit>(99)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
  CUfunc_cache cache = static_cast<CUfunc_cache>(77);
  CU_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  CU_OK(cuCtxGetCacheConfig(&cache));
  EXPECT(cache >= CU_FUNC_CACHE_PREFER_NONE && cache <= CU_FUNC_CACHE_PREFER_EQUAL);
  // Banks have four bytes whatever is wished. Oracle: an H200 (driver 580).
  for (const auto wish : {CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE,
                          CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE}) {
    CUsharedconfig banks = static_cast<CUsharedconfig>(77);
    CU_OK(cuCtxSetSharedMemConfig(wish));
    CU_OK(cuCtxGetSharedMemConfig(&banks));
    EXPECT_EQUAL(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    cudaSharedMemConfig through_runtime = static_cast<cudaSharedMemConfig>(77);
    CUDA_OK(cudaDeviceGetSharedMemConfig(&through_runtime));
    EXPECT_EQUAL(through_runtime, cudaSharedMemBankSizeFourByte);
  }
  int least = -9, greatest = 9;
  CU_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest <= 0);
  CU_OK(cuCtxResetPersistingL2Cache());
}

CASE(flags) {
  CUdevice device = check::the_device();
  CUcontext context = nullptr;
  CU_OK(cuCtxCreate(&context, nullptr, CU_CTX_SCHED_YIELD, device));
  unsigned flags = 0;
  CU_OK(cuCtxGetFlags(&flags));
  EXPECT_EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
  CU_OK(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
  CU_OK(cuCtxGetFlags(&flags));
  EXPECT_EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
  EXPECT_CUDA(cuCtxGetFlags(nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxDestroy(context));
}

CASE(peers) {
  CUcontext context = check::use_context();
  // Oracle of both: an H200 (driver 580).
  EXPECT_CUDA(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_CUDA(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_CUDA(cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxDisablePeerAccess(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CASE(memory_of_a_context_goes_with_it) {
  CUdevice device = check::the_device();
  CUcontext context = nullptr;
  CU_OK(cuCtxCreate(&context, nullptr, 0, device));
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, 4096));
  CU_OK(cuCtxDestroy(context));
  check::use_context();
  unsigned type = 0;
  EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
}

CASE(events_of_a_context) {
  CUcontext context = check::use_context();
  Stream busy, idle;
  Event event;
  Words words;
  {
    check::Gate gate;
    CU_OK(cuLaunchHostFunc(busy, check::Gate::wait, &gate));
    CU_OK(cuCtxRecordEvent(context, event));  // "all the activities of the context at the time of this call"
    EXPECT_CUDA(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    CU_OK(cuStreamSynchronize(idle));
    CU_OK(cuCtxWaitEvent(context, event));  // "all future work ... to wait"
    Stream later;
    CU_OK(cuMemsetD32Async(words.device, 7, 1, idle));
    CU_OK(cuMemsetD32Async(words.device, 8, 1, later));
    check::Gate::pause(30);
    EXPECT_EQUAL(words.get(0), 0u);
    EXPECT_CUDA(cuStreamQuery(idle), CUDA_ERROR_NOT_READY);
    EXPECT_CUDA(cuStreamQuery(later), CUDA_ERROR_NOT_READY);
    gate.release();
    CU_OK(cuEventSynchronize(event));
    CU_OK(cuStreamSynchronize(idle));
    CU_OK(cuStreamSynchronize(later));
    EXPECT(words.get(0) == 7 || words.get(0) == 8);
    CU_OK(cuStreamSynchronize(busy));
  }
  Event start;  // it has a time, too
  CU_OK(cuEventRecord(start, idle));
  CU_OK(cuCtxRecordEvent(context, event));
  CU_OK(cuEventSynchronize(event));
  float milliseconds = -1;
  CU_OK(cuEventElapsedTime(&milliseconds, start, event));
  EXPECT(milliseconds >= 0 && milliseconds < 10000);
}

CASE(events_of_a_context_refuse) {
  CUcontext context = check::use_context(), other = nullptr;
  CUevent event = nullptr, foreign = nullptr;
  CU_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CU_OK(cuCtxCreate(&other, nullptr, 0, check::the_device()));
  CU_OK(cuEventCreate(&foreign, CU_EVENT_DISABLE_TIMING));
  CU_OK(cuCtxSetCurrent(context));
  // "hEvent and hCtx must be from the same CUDA context, otherwise CUDA_ERROR_INVALID_HANDLE will be returned."
  EXPECT_CUDA(cuCtxRecordEvent(context, foreign), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuCtxRecordEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuCtxWaitEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuCtxWaitEvent(context, event));  // never recorded: nothing to wait for
  for (int which = 0; which < 2; ++which) {
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_CUDA(which ? cuCtxWaitEvent(context, event) : cuCtxRecordEvent(context, event),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_CUDA(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CU_OK(cuStreamDestroy(stream));
  }
  CU_OK(cuEventDestroy(event));
  CU_OK(cuCtxDestroy(other));
}

CHECK_MAIN()
