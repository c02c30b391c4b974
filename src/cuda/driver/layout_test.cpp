// Sizes and offsets that compiled programs rely on. Oracle: the members and their order on the page "CUDA Driver API,
// Data types used by CUDA driver", laid out by the x86-64 System V ABI.

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>

static_assert(CUDA_VERSION == 13000);
static_assert(sizeof(CUdeviceptr) == 8 && sizeof(CUdevice) == 4 && sizeof(CUresult) == 4);
static_assert(sizeof(CUuuid) == 16);
static_assert(sizeof(CUdevprop) == 14 * 4);
static_assert(sizeof(CUDA_MEMCPY2D) == 128);
static_assert(offsetof(CUDA_MEMCPY2D, dstXInBytes) == 56 && offsetof(CUDA_MEMCPY2D, WidthInBytes) == 112);
static_assert(sizeof(CUDA_MEMCPY3D) == 200);
static_assert(offsetof(CUDA_MEMCPY3D, dstXInBytes) == 88 && offsetof(CUDA_MEMCPY3D, WidthInBytes) == 176);
static_assert(sizeof(CUDA_MEMCPY3D_PEER) == 200);
static_assert(sizeof(CUlaunchAttributeValue) == 64 && sizeof(CUlaunchAttribute) == 72);
static_assert(offsetof(CUlaunchAttribute, value) == 8);
static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32);
static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == 24 && sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40);
static_assert(sizeof(CUDA_RESOURCE_DESC) == 144 && sizeof(CUDA_TEXTURE_DESC) == 104);
static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == 112);
static_assert(sizeof(CUDA_ARRAY_SPARSE_PROPERTIES) == 48 && sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS) == 32);
static_assert(offsetof(CUDA_ARRAY_SPARSE_PROPERTIES, miptailSize) == 16);
static_assert(sizeof(CUmemLocation) == 8 && sizeof(CUmemAccessDesc) == 12 && sizeof(CUmemAllocationProp) == 32);
static_assert(sizeof(CUmemPoolProps) == 88);
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == 72 && sizeof(CUDA_MEMSET_NODE_PARAMS) == 40);
static_assert(sizeof(CUgraphNodeParams) == 256 && offsetof(CUgraphNodeParams, kernel) == 16);
static_assert(sizeof(CUDA_MEMCPY_NODE_PARAMS) == 216 && sizeof(CUDA_MEMSET_NODE_PARAMS_v2) == 48);
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v1) == 56 && offsetof(CUDA_KERNEL_NODE_PARAMS, kern) == 56);
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == 120 && offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr) == 112);
static_assert(sizeof(CUDA_CONDITIONAL_NODE_PARAMS) == 32 && sizeof(CUDA_CHILD_GRAPH_NODE_PARAMS) == 16);
static_assert(sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS) == 32 && sizeof(CUgraphEdgeData) == 8);
static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == 32 && sizeof(CUgraphExecUpdateResultInfo) == 24);
static_assert(sizeof(CUctxCreateParams) == 24 && sizeof(CUexecAffinityParam) == 8);
static_assert(sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC) == 104 && sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC) == 88);
static_assert(sizeof(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) == 120);
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) == 96);
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) == 144 &&
              sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS) == 144);
static_assert(sizeof(CUmemcpyAttributes) == 24 && sizeof(CUmemcpy3DOperand) == 40);
static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == 112 && offsetof(CUDA_MEMCPY3D_BATCH_OP, extent) == 80);
static_assert(sizeof(CUipcMemHandle) == 64 && sizeof(CUipcEventHandle) == 64);

extern "C" int (*c_header_compiles)();

TEST(CudaHeader, CompilesAsC) {
  EXPECT_NE(c_header_compiles, nullptr);
}
