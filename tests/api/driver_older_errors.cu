// What the older versions of functions refuse, and launches as before CUDA 4: as the newer ones do.
// Oracle: "CUDA Driver API" of the versions that declared them: the "Returns" of each function.

#include "driver_graph_nodes.h"

#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuCtxGetDevice
#undef cuCtxSynchronize
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuEventElapsedTime
#undef cuGraphAddDependencies
#undef cuGraphAddKernelNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecUpdate
#undef cuGraphGetEdges
#undef cuGraphInstantiate
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphRemoveDependencies
#undef cuIpcOpenMemHandle
#undef cuLinkAddData
#undef cuLinkAddFile
#undef cuLinkCreate
#undef cuStreamBatchMemOp
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamGetCtx
#undef cuStreamUpdateCaptureDependencies
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64

CASE(contexts) {
  CUcontext context = check::use_context(), made = nullptr, popped = nullptr;
  CUdevice device = check::the_device();
  EXPECT_CUDA(cuCtxCreate(nullptr, 0, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxCreate(&made, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxAttach(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxAttach(&made, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxDetach(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetDevice_v2(nullptr, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDevicePrimaryCtxReset(99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDevicePrimaryCtxSetFlags(99, 0), CUDA_ERROR_INVALID_DEVICE);
  CU_OK(cuCtxSetCurrent(nullptr));
  EXPECT_CUDA(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetDevice_v2(&device, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSynchronize_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  CU_OK(cuCtxSetCurrent(context));
}

CASE(launches) {
  check::use_context();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr, none = nullptr;
  CU_OK(cuModuleLoad(&module, check::module_path().c_str()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  char bytes[16] = {};
  EXPECT_CUDA(cuFuncSetBlockShape(axpy, 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetBlockShape(none, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuFuncSetSharedSize(none, 16), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuParamSetSize(axpy, 1u << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuParamSeti(axpy, -4, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuParamSetf(axpy, 1 << 20, 1.0f), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuParamSetv(axpy, 0, nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuParamSetv(axpy, 0, bytes, 1u << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunch(none), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLaunchGrid(none, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLaunchGrid(axpy, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchGridAsync(none, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuModuleUnload(module));
}

CASE(graphs) {
  Graph graph;
  CUgraphExec exec = nullptr;
  CUgraphNode first = add_empty(graph), second = add_empty(graph), node = nullptr, failed = nullptr;
  size_t count = 0;
  CUDA_KERNEL_NODE_PARAMS_v1 params = {};
  CUgraphExecUpdateResult result;
  EXPECT_CUDA(cuGraphGetEdges(nullptr, nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddDependencies(graph, &first, &first, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphRemoveDependencies(graph, &first, &second, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetDependencies(nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetDependentNodes(nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeGetParams(first, &params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeSetParams(first, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiate(nullptr, graph, &failed, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiate(&exec, nullptr, &failed, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiate_v2(&exec, nullptr, &failed, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphInstantiate(&exec, graph, &failed, nullptr, 0));
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams(exec, first, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecUpdate(exec, nullptr, &failed, &result), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphExecDestroy(exec));
}

CASE(streams) {
  Stream stream;
  Event event;
  EXPECT_CUDA(cuEventElapsedTime(nullptr, event, event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetCtx(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetCtx_v2(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetCaptureInfo(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetCaptureInfo_v2(stream, nullptr, nullptr, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamUpdateCaptureDependencies(stream, nullptr, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
  CU_OK(cuStreamBeginCapture(stream));
  EXPECT_CUDA(cuStreamBeginCapture(stream), CUDA_ERROR_ILLEGAL_STATE);
  CUgraph graph = nullptr;
  CU_OK(cuStreamEndCapture(stream, &graph));
  CU_OK(cuGraphDestroy(graph));
}

// On GPUs the first versions have to be switched on by the administrator: they may say that they are not supported.
CASE(values_in_memory) {
  Memory memory(16);
  if (SUPPORTED(cuStreamWriteValue32(nullptr, memory, 1, 0))) {
    EXPECT_CUDA(cuStreamWriteValue32(nullptr, memory + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(cuStreamWriteValue64(nullptr, memory + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(cuStreamWaitValue32(nullptr, memory + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(cuStreamWaitValue64(nullptr, memory + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(cuStreamBatchMemOp(nullptr, 1, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  }
  CU_OK(cuCtxSynchronize());
}

CASE(linking_notifications_and_memory_of_other_processes) {
  check::use_context();
  CUlinkState state = nullptr;
  CUipcMemHandle handle = {};
  CUdeviceptr opened = 0;
  EXPECT_CUDA(cuLinkCreate(0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 16, "unit", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere/at/all.ptx", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
  CU_OK(cuLinkDestroy(state));
  EXPECT_CUDA(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_VALUE);
  CUasyncCallbackHandle notified = nullptr;
  EXPECT_CUDA(cuDeviceRegisterAsyncNotification(0, nullptr, nullptr, &notified), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceUnregisterAsyncNotification(0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CHECK_MAIN()
