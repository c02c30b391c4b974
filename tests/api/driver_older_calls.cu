// Calls that newer ones have replaced: launches as before CUDA 4, linking, values in memory, contexts by usage count;
// and smaller questions. Oracle: "CUDA Driver API", the sections on deprecated functions among them.

#include "driver_words.h"

#undef cuCtxCreate
#undef cuIpcOpenMemHandle
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamBatchMemOp
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync

CASE(launches_with_parameters_set_one_by_one) {
  check::use_context();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr, count_up = nullptr;
  CU_OK(cuModuleLoad(&module, check::module_path().c_str()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  CU_OK(cuModuleGetFunction(&count_up, module, "count_up"));
  constexpr int kCount = 100;
  std::vector<float> x(kCount, 2.0f), y(kCount, 1.0f);
  CUdeviceptr dx = 0, dy = 0;
  CU_OK(cuMemAlloc(&dx, kCount * sizeof(float)));
  CU_OK(cuMemAlloc(&dy, kCount * sizeof(float)));
  CU_OK(cuMemcpyHtoD(dx, x.data(), kCount * sizeof(float)));
  CU_OK(cuMemcpyHtoD(dy, y.data(), kCount * sizeof(float)));
  CU_OK(cuFuncSetBlockShape(axpy, 32, 1, 1));
  CU_OK(cuParamSetv(axpy, 0, &dy, sizeof dy));
  CU_OK(cuParamSetv(axpy, 8, &dx, sizeof dx));
  CU_OK(cuParamSetf(axpy, 16, 5.0f));
  CU_OK(cuParamSeti(axpy, 20, kCount));
  CU_OK(cuParamSetSize(axpy, 24));
  CU_OK(cuLaunchGrid(axpy, 4, 1));
  CU_OK(cuMemcpyDtoH(y.data(), dy, kCount * sizeof(float)));
  for (float value : y) EXPECT(value == 31.0f);  // 1 + 5 * 2 * 3
  CU_OK(cuLaunchGridAsync(axpy, 4, 1, nullptr));
  CU_OK(cuMemcpyDtoH(y.data(), dy, kCount * sizeof(float)));
  for (float value : y) EXPECT(value == 61.0f);
  int counted = 0;
  CU_OK(cuFuncSetSharedSize(count_up, 16));
  CU_OK(cuParamSetv(count_up, 0, &dx, sizeof dx));
  CU_OK(cuLaunch(count_up));
  CU_OK(cuMemcpyDtoH(&counted, dx, sizeof counted));
  EXPECT(counted == 41);
  EXPECT_CUDA(cuFuncSetBlockShape(axpy, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(dx));
  CU_OK(cuMemFree(dy));
  CU_OK(cuModuleUnload(module));
}

CASE(contexts_with_a_usage_count) {
  CUcontext before = check::use_context(), context = nullptr, attached = nullptr, current = nullptr;
  CU_OK(cuCtxCreate(&context, 0, check::the_device()));
  CU_OK(cuCtxAttach(&attached, 0));
  EXPECT(attached == context);
  CU_OK(cuCtxDetach(context));
  CU_OK(cuCtxGetCurrent(&current));
  EXPECT(current == context);
  CUexecAffinityParam affinity = {};
  CU_OK(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  int multiprocessors = 0;
  CU_OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT(static_cast<int>(affinity.param.smCount.val) == multiprocessors);
  CU_OK(cuCtxDetach(context));  // the last user's: the context is gone
  EXPECT_CUDA(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  CU_OK(cuCtxSetCurrent(before));
}

CASE(older_linking) {
  check::use_context();
  const std::string head = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry ", body = "() { ret; }\n";
  std::string text = head + "nothing" + body;
  check::TextFile file(head + "nothing_else" + body);
  CUlinkState state = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  CU_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  CU_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, &text[0], text.size() + 1, "unit", 0, nullptr, nullptr));
  CU_OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, file.path(), 0, nullptr, nullptr));
  EXPECT_CUDA(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
  CU_OK(cuLinkComplete(state, &image, &bytes));
  EXPECT(bytes > 0);
  CU_OK(cuModuleLoadData(&module, image));
  CU_OK(cuModuleGetFunction(&kernel, module, "nothing"));
  CU_OK(cuModuleGetFunction(&kernel, module, "nothing_else"));
  CU_OK(cuModuleUnload(module));
  CU_OK(cuLinkDestroy(state));
}

namespace {

/// The first versions of the operations, of the default stream and of the calling thread's.
struct FirstVersions {
  CUresult (*write32)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  CUresult (*write64)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
  CUresult (*wait32)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  CUresult (*wait64)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
  CUresult (*batch)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);
  CUstream stream;  ///< the one they mean when they are given none
};

/// Each wait holds the write behind it until its value is there.
void expect_order(const FirstVersions& call) {
  Words words;
  // On GPUs the administrator has to switch them on: they may say that they are not supported.
  if (!SUPPORTED(call.write32(nullptr, words.device, 7, 0))) return;
  CUstreamBatchMemOpParams op = store(words.device + 4, 8);
  CU_OK(call.write64(nullptr, words.device + 8, 9, 0));
  CU_OK(call.batch(nullptr, 1, &op, 0));
  CU_OK(cuStreamSynchronize(call.stream));
  EXPECT(words.get64(0) == (8ull << 32 | 7) && words.get64(1) == 9);
  CU_OK(call.wait32(nullptr, words.device, 6, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(call.write64(nullptr, words.device + 16, 1, 0));
  CU_OK(call.wait64(nullptr, words.device + 8, 1ull << 32, CU_STREAM_WAIT_VALUE_GEQ));
  CU_OK(call.write64(nullptr, words.device + 16, 2, 0));
  check::Gate::pause(20);
  EXPECT_EQUAL(words.get64(2), 0u);
  EXPECT_CUDA(cuStreamQuery(call.stream), CUDA_ERROR_NOT_READY);
  words.set64(0, 6);
  for (int i = 0; i < 5000 && words.get64(2) == 0; ++i) check::Gate::pause(1);
  check::Gate::pause(20);
  EXPECT_EQUAL(words.get64(2), 1u);
  words.set64(1, 1ull << 32);
  CU_OK(cuStreamSynchronize(call.stream));
  EXPECT_EQUAL(words.get64(2), 2u);
}

}  // namespace

CASE(older_values_in_memory) {
  expect_order({cuStreamWriteValue32, cuStreamWriteValue64, cuStreamWaitValue32, cuStreamWaitValue64,
                cuStreamBatchMemOp, CU_STREAM_LEGACY});
}

CASE(older_values_in_per_thread_streams) {
  expect_order({cuStreamWriteValue32_ptsz, cuStreamWriteValue64_ptsz, cuStreamWaitValue32_ptsz,
                cuStreamWaitValue64_ptsz, cuStreamBatchMemOp_ptsz, CU_STREAM_PER_THREAD});
}

CASE(contexts_of_per_thread_streams) {
  CUcontext context = check::use_context(), of = nullptr;
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(&of);
  CU_OK(cuStreamGetCtx_v2_ptsz(nullptr, &of, &green));
  EXPECT(of == context && green == nullptr);
}

CASE(smaller_questions) {
  check::use_context();
  CUipcMemHandle handle = {};
  CUdeviceptr address = 0;
  EXPECT_CUDA(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_VALUE);
  CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
  unsigned capabilities[2] = {};
  CU_OK(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
  EXPECT_CUDA(cuDeviceGetHostAtomicCapabilities(nullptr, operations, 2, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 0), CUDA_ERROR_INVALID_DEVICE);
  CUasyncCallbackHandle callback = nullptr;
  auto never = [](CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {};
  if (SUPPORTED(cuDeviceRegisterAsyncNotification(0, never, nullptr, &callback)))
    CU_OK(cuDeviceUnregisterAsyncNotification(0, callback));
  CUDA_RESOURCE_VIEW_DESC view = {};
  EXPECT_CUDA(cuTexObjectGetResourceViewDesc(&view, 0x1234), CUDA_ERROR_INVALID_VALUE);
  cudaResourceViewDesc runtime_view = {};
  EXPECT_CUDA(cudaGetTextureObjectResourceViewDesc(&runtime_view, 0x1234), cudaErrorInvalidValue);
  cudaGetLastError();
}

// The first versions of batches say which copy is wrong: "The value will be SIZE_MAX if the error doesn't pertain to
// any specific copy."
namespace {

using Batch = CUresult (*)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*, size_t*, size_t, size_t*,
                           CUstream);
using Boxes = CUresult (*)(size_t, CUDA_MEMCPY3D_BATCH_OP*, size_t*, unsigned long long, CUstream);

/// `named` is what these calls are given for `stream`.
void expect_the_copy_named(Batch batch, Boxes boxes, CUstream named, CUstream stream) {
  Memory device(64), other(64);
  unsigned char* host = nullptr;
  CU_OK(cuMemHostAlloc(reinterpret_cast<void**>(&host), 256, 0));
  for (int i = 0; i < 256; ++i) host[i] = static_cast<unsigned char>(i);
  CUdeviceptr to[] = {device, other},
              from[] = {reinterpret_cast<CUdeviceptr>(host), reinterpret_cast<CUdeviceptr>(host + 128)};
  size_t sizes[] = {128, 128}, first = 0, failed = 77;
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CU_OK(batch(to, from, sizes, 2, &attributes, &first, 1, &failed, named));
  CU_OK(cuStreamSynchronize(stream));
  unsigned char got[128];
  CU_OK(cuMemcpyDtoH(got, other, 128));
  for (int i = 0; i < 128; ++i) EXPECT_EQUAL_AT(i, got[i], 128 + i);
  to[1] = 0;
  EXPECT_CUDA(batch(to, from, sizes, 2, &attributes, &first, 1, &failed, named), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQUAL(failed, 1u);
  EXPECT_CUDA(batch(to, from, sizes, 2, &attributes, &first, 3, &failed, named), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQUAL(failed, SIZE_MAX);
  CUDA_MEMCPY3D_BATCH_OP ops[2] = {};
  for (int i = 0; i < 2; ++i) {
    ops[i].src.type = ops[i].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[i].src.op.ptr.ptr = from[i];
    ops[i].dst.op.ptr.ptr = device + 128 * static_cast<size_t>(i);
    ops[i].extent = {16, 8, 1};
    ops[i].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  }
  CU_OK(boxes(2, ops, &failed, 0, named));
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuMemcpyDtoH(got, device + 128, 128));
  for (int i = 0; i < 128; ++i) EXPECT_EQUAL_AT(i, got[i], 128 + i);
  ops[1].extent.width = 0;
  EXPECT_CUDA(boxes(2, ops, &failed, 0, named), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQUAL(failed, 1u);
  EXPECT_CUDA(boxes(2, ops, &failed, 1, named), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQUAL(failed, SIZE_MAX);
  CU_OK(cuMemFreeHost(host));
}

}  // namespace

CASE(older_batches_name_the_copy) {
  Stream stream;
  size_t failed = 77;
  expect_the_copy_named(cuMemcpyBatchAsync, cuMemcpy3DBatchAsync, stream, stream);
  EXPECT_CUDA(cuMemcpyBatchAsync(nullptr, nullptr, nullptr, 1, nullptr, nullptr, 0, &failed, stream),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, nullptr, &failed, 0, stream), CUDA_ERROR_INVALID_VALUE);
}

CASE(older_batches_of_the_per_thread_stream) {
  check::use_context();
  size_t failed = 77;
  expect_the_copy_named(cuMemcpyBatchAsync_ptsz, cuMemcpy3DBatchAsync_ptsz, nullptr, CU_STREAM_PER_THREAD);
  EXPECT_CUDA(cuMemcpyBatchAsync_ptsz(nullptr, nullptr, nullptr, 1, nullptr, nullptr, 0, &failed, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DBatchAsync_ptsz(1, nullptr, &failed, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CHECK_MAIN()
