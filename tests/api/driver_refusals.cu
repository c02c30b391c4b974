// What Cupola says that it refuses (docs/api_gaps.tsv): each is refused, and with the code that says so. Oracle: the
// promises of that file; other drivers can do some of it, so that nothing is asked of them.

#include "driver_graph_nodes.h"

CASE(contexts_for_parts_of_the_device_and_for_graphics) {
  if (!check::on_cupola()) return;
  CUcontext context = nullptr;
  CUexecAffinityParam affinity = {};
  affinity.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
  affinity.param.smCount.val = 1;
  CUctxCigParam graphics = {};
  CUctxCreateParams part = {&affinity, 1, nullptr}, shared = {nullptr, 0, &graphics};
  EXPECT_CUDA(cuCtxCreate_v3(&context, &affinity, 1, 0, check::the_device()), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  EXPECT_CUDA(cuCtxCreate_v4(&context, &part, 0, check::the_device()), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  EXPECT_CUDA(cuCtxCreate_v4(&context, &shared, 0, check::the_device()), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(context == nullptr);
}

CASE(clusters_and_nodes_that_the_device_updates) {
  if (!check::on_cupola()) return;
  Memory memory(1);
  Graph graph;
  Call call(put, memory.at, 5);
  CUlaunchAttribute attribute = {};
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 2;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  EXPECT_CUDA(cuLaunchKernelEx(&config, call.params.func, call.arguments, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  attribute.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  attribute.value = {};
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  EXPECT_CUDA(cuLaunchKernelEx(&config, call.params.func, call.arguments, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  cudaLaunchAttribute same = {};
  cudaLaunchConfig_t runtime_config = {};
  same.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  same.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  runtime_config.gridDim = runtime_config.blockDim = dim3(1);
  runtime_config.attrs = &same;
  runtime_config.numAttrs = 1;
  EXPECT_CUDA(cudaLaunchKernelExC(&runtime_config, reinterpret_cast<const void*>(put), call.arguments),
              cudaErrorNotSupported);
  CUgraphNode node = add_kernel(graph, nullptr, put, memory.at, 5);
  EXPECT_CUDA(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &attribute.value),
              CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CUDA(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &same.val),
              cudaErrorNotSupported);
  EXPECT_EQUAL(memory.value(), 0);
}

CASE(arrays_that_are_sparse_or_for_graphics) {
  if (!check::on_cupola()) return;
  check::use_context();
  for (unsigned flag : {CUDA_ARRAY3D_SPARSE, CUDA_ARRAY3D_DEPTH_TEXTURE, CUDA_ARRAY3D_COLOR_ATTACHMENT,
                        CUDA_ARRAY3D_DEFERRED_MAPPING}) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, flag};
    CUarray array = nullptr;
    EXPECT_CUDA(cuArray3DCreate(&array, &shape), CUDA_ERROR_NOT_SUPPORTED);
    cudaArray_t runtime_array = nullptr;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    EXPECT_CUDA(cudaMalloc3DArray(&runtime_array, &format, make_cudaExtent(64, 64, 0), flag), cudaErrorNotSupported);
    CUmipmappedArray levels = nullptr;
    EXPECT_CUDA(cuMipmappedArrayCreate(&levels, &shape, 2), CUDA_ERROR_NOT_SUPPORTED);
    cudaMipmappedArray_t same = nullptr;
    EXPECT_CUDA(cudaMallocMipmappedArray(&same, &format, make_cudaExtent(64, 64, 0), 2, flag), cudaErrorNotSupported);
  }
}

CASE(arrays_of_texels_that_are_not_plain_numbers) {
  if (!check::on_cupola()) return;
  check::use_context();
  for (CUarray_format format : {CU_AD_FORMAT_NV12, CU_AD_FORMAT_UNORM_INT8X1, CU_AD_FORMAT_BC7_UNORM_SRGB,
                                CU_AD_FORMAT_YUV444_16bit_SemiPlanar, CU_AD_FORMAT_UNORM_INT_101010_2}) {
    const CUDA_ARRAY_DESCRIPTOR shape = {64, 64, format, 1};
    CUarray array = nullptr;
    EXPECT_CUDA(cuArrayCreate(&array, &shape), CUDA_ERROR_NOT_SUPPORTED);
  }
  for (cudaChannelFormatKind kind : {cudaChannelFormatKindNV12, cudaChannelFormatKindUnsignedNormalized8X1,
                                     cudaChannelFormatKindUnsignedBlockCompressed7}) {
    const cudaChannelFormatDesc format = {8, 0, 0, 0, kind};
    cudaArray_t array = nullptr;
    EXPECT_CUDA(cudaMallocArray(&array, &format, 64, 64, 0), cudaErrorNotSupported);
  }
}

CASE(textures_of_compressed_texels) {
  if (!check::on_cupola()) return;
  check::use_context();
  const CUDA_ARRAY3D_DESCRIPTOR shape = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0};
  CUDA_RESOURCE_DESC resource = {};
  CU_OK(cuArray3DCreate(&resource.res.array.hArray, &shape));
  CUDA_TEXTURE_DESC how = {};
  CUDA_RESOURCE_VIEW_DESC view = {};
  view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
  view.width = view.height = 64;
  CUtexObject texture = 0;
  EXPECT_CUDA(cuTexObjectCreate(&texture, &resource, &how, &view), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(texture == 0);
  CU_OK(cuArrayDestroy(resource.res.array.hArray));
}

CASE(nodes_for_external_semaphores) {
  if (!check::on_cupola()) return;
  Graph graph;
  for (CUgraphNodeType type : {CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT}) {
    CUgraphNodeParams params = {};
    params.type = type;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
    cudaGraphNodeParams same = {};
    same.type = static_cast<cudaGraphNodeType>(type);
    EXPECT_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &same), cudaErrorNotSupported);
    EXPECT(node == nullptr);
  }
}

CASE(graphs_to_be_launched_from_kernels) {
  if (!check::on_cupola()) return;
  Memory memory(1);
  Graph graph;
  add_kernel(graph, nullptr, put, memory.at, 5);
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  cudaGraphInstantiateParams same = {};
  same.flags = cudaGraphInstantiateFlagDeviceLaunch;
  EXPECT_CUDA(cuGraphInstantiate(&exec, graph, params.flags), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CUDA(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, same.flags), cudaErrorNotSupported);
  EXPECT_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, same.flags), cudaErrorNotSupported);
  EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, &same), cudaErrorNotSupported);
  EXPECT(exec == nullptr);
}

// The other way round: more is answered than asked for.
CASE(managed_variables_are_any_variables) {
  if (!check::on_cupola()) return;
  check::use_context();
  CUlibrary library = nullptr;
  CU_OK(cuLibraryLoadFromFile(&library, check::module_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr address = 0, global = 0;
  size_t bytes = 0;
  CU_OK(cuLibraryGetGlobal(&global, &bytes, library, "module_counter"));
  CU_OK(cuLibraryGetManaged(&address, &bytes, library, "module_counter"));
  EXPECT(address == global && bytes == 4);
  CU_OK(cuLibraryUnload(library));
}

CHECK_MAIN()
