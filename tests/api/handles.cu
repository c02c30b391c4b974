// Handles of things that are gone. CUDA leaves their use undefined; Cupola promises an error and no crash.
// Oracle: Cupola's own promise (docs/design.md); not for other drivers.

#include "driver_allocations.h"

CASE(destroyed_stream) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaStreamDestroy(stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

// Every call that takes a stream and does something in it.
CASE(work_in_a_destroyed_stream) {
  check::use_context();
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  char host[16] = {};
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CU_OK(cuMemAlloc(&memory, 64));
  CU_OK(cuStreamCreate(&stream, 0));
  CU_OK(cuStreamDestroy(stream));
  EXPECT_CUDA(cuMemcpyAsync(memory, memory + 16, 16, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuMemcpyHtoDAsync(memory, host, 16, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuMemsetD8Async(memory, 1, 16, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuMemAllocAsync(&memory, 16, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLaunchHostFunc(stream, [](void*) {}, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamIsCapturing(stream, &status), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamWriteValue32(stream, memory, 1, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamCopyAttributes(stream, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cudaStreamCopyAttributes(nullptr, stream), cudaErrorInvalidResourceHandle);
  CU_OK(cuMemFree(memory));
}

CASE(destroyed_graphs) {
  check::use_context();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode node = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  CU_OK(cuGraphDestroyNode(node));
  EXPECT_CUDA(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphDestroy(graph));
  EXPECT_CUDA(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(destroyed_arrays_and_textures) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CUDA_OK(cudaMallocArray(&array, &format, 16, 16, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc reading = {};
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  CUDA_OK(cudaCreateTextureObject(&texture, &resource, &reading, nullptr));
  CUDA_OK(cudaCreateSurfaceObject(&surface, &resource));
  CUDA_OK(cudaDestroyTextureObject(texture));
  CUDA_OK(cudaDestroySurfaceObject(surface));
  EXPECT_CUDA(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDestroySurfaceObject(surface), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetTextureObjectResourceDesc(&resource, texture), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeArray(array));
  EXPECT_CUDA(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaCreateTextureObject(&texture, &resource, &reading, nullptr), cudaErrorInvalidResourceHandle);
}

CASE(destroyed_pools_and_memory) {
  check::use_context();
  const CUmemPoolProps properties = pool_of_device_memory();
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  char host[16] = {};
  CU_OK(cuMemPoolCreate(&pool, &properties));
  CU_OK(cuMemPoolDestroy(pool));
  EXPECT_CUDA(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&memory, 64, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAlloc(&memory, 1 << 20));
  CU_OK(cuMemFree(memory));
  EXPECT_CUDA(cuMemsetD8(memory, 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoH(host, memory, 16), CUDA_ERROR_INVALID_VALUE);
}

CASE(unloaded_library) {
  check::use_context();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  unsigned count = 0;
  CU_OK(cuLibraryLoadFromFile(&library, check::module_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_OK(cuLibraryUnload(library));
  EXPECT_CUDA(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLibraryGetKernel(&kernel, library, "axpy"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
}

CASE(destroyed_event) {
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaEventCreate(&event));
  CUDA_OK(cudaEventDestroy(event));
  EXPECT_CUDA(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
}

CASE(unloaded_module) {
  check::use_context();
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;
  CU_OK(cuModuleLoad(&module, check::module_path().c_str()));
  CU_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  CU_OK(cuModuleUnload(module));
  EXPECT_CUDA(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuModuleGetFunction(&axpy, module, "axpy"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CASE(destroyed_context) {
  CUcontext context = nullptr;
  CU_OK(cuCtxCreate(&context, nullptr, 0, check::the_device()));
  CU_OK(cuCtxDestroy(context));
  EXPECT_CUDA(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSetCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxPushCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
}

CASE(destroyed_mipmapped_array) {
  check::use_context();
  const CUDA_ARRAY3D_DESCRIPTOR shape{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  CUarray level = nullptr;
  CU_OK(cuMipmappedArrayCreate(&array, &shape, 2));
  CU_OK(cuMipmappedArrayGetLevel(&level, array, 1));
  EXPECT_CUDA(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);  // ends with the whole only
  CUDA_ARRAY3D_DESCRIPTOR got{};
  CU_OK(cuArray3DGetDescriptor(&got, level));
  CU_OK(cuMipmappedArrayDestroy(array));
  EXPECT_CUDA(cuMipmappedArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(array)), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cuMipmappedArrayGetLevel(&level, array, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuArray3DGetDescriptor(&got, level), CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
  EXPECT_CUDA(cuMipmappedArrayGetSparseProperties(&sparse, array), CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY_MEMORY_REQUIREMENTS memory{};
  EXPECT_CUDA(cuMipmappedArrayGetMemoryRequirements(&memory, array, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuArrayGetMemoryRequirements(&memory, level, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuArrayGetSparseProperties(&sparse, level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuArrayGetPlane(&level, level, 0), CUDA_ERROR_INVALID_HANDLE);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  CUtexObject texture = 0;
  EXPECT_CUDA(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CASE(numbers_that_never_were_handles) {
  check::use_context();
  auto stream = reinterpret_cast<CUstream>(uintptr_t{0x1234560});
  auto event = reinterpret_cast<CUevent>(uintptr_t{0x1234568});
  auto module = reinterpret_cast<CUmodule>(uintptr_t{0x1234570});
  CUfunction kernel = nullptr;
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuModuleGetFunction(&kernel, module, "axpy"), CUDA_ERROR_INVALID_HANDLE);
}

CHECK_MAIN()
