// Layouts of the public types. Oracle: the CUDA Runtime API manual (field lists and order) and the CUDA C++ Programming
// Guide's table of vector types (sizes and alignments), laid out by the x86-64 System V ABI.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <vector_functions.h>

#include <cstddef>

extern "C" size_t cupola_c_sizes(size_t* sizes);
extern "C" float cupola_c_vector_sum(void);

namespace {

#define LAYOUT(type, size, alignment) static_assert(sizeof(type) == (size) && alignof(type) == (alignment))
#define OFFSET(type, field, offset) static_assert(offsetof(type, field) == (offset))

LAYOUT(char1, 1, 1);
LAYOUT(uchar2, 2, 2);
LAYOUT(char3, 3, 1);
LAYOUT(uchar4, 4, 4);
LAYOUT(short2, 4, 4);
LAYOUT(ushort3, 6, 2);
LAYOUT(short4, 8, 8);
LAYOUT(int2, 8, 8);
LAYOUT(uint3, 12, 4);
LAYOUT(int4, 16, 16);
LAYOUT(long2, 16, 16);
LAYOUT(long3, 24, 8);
LAYOUT(ulong4, 32, 16);
LAYOUT(longlong2, 16, 16);
LAYOUT(ulonglong4_16a, 32, 16);
LAYOUT(ulonglong4_32a, 32, 32);
LAYOUT(float1, 4, 4);
LAYOUT(float2, 8, 8);
LAYOUT(float3, 12, 4);
LAYOUT(float4, 16, 16);
LAYOUT(double2, 16, 16);
LAYOUT(double3, 24, 8);
LAYOUT(double4, 32, 16);
LAYOUT(double4_16a, 32, 16);
LAYOUT(double4_32a, 32, 32);
LAYOUT(dim3, 12, 4);

LAYOUT(cudaUUID_t, 16, 1);
LAYOUT(cudaExtent, 24, 8);
LAYOUT(cudaPos, 24, 8);
LAYOUT(cudaPitchedPtr, 32, 8);
LAYOUT(cudaMemcpy3DParms, 160, 8);
LAYOUT(cudaPointerAttributes, 88, 8);
LAYOUT(cudaFuncAttributes, 144, 8);
LAYOUT(cudaChannelFormatDesc, 20, 4);
LAYOUT(cudaTextureDesc, 72, 4);
LAYOUT(cudaArraySparseProperties, 48, 8);
LAYOUT(cudaArrayMemoryRequirements, 32, 8);
LAYOUT(cudaMemLocation, 8, 4);
LAYOUT(cudaMemAccessDesc, 12, 4);
LAYOUT(cudaMemPoolProps, 88, 8);
LAYOUT(cudaIpcMemHandle_t, 64, 1);
LAYOUT(cudaLaunchAttributeValue, 64, 8);
LAYOUT(cudaLaunchAttribute, 72, 8);
LAYOUT(cudaLaunchConfig_t, 56, 8);
LAYOUT(cudaGraphEdgeData, 8, 1);
LAYOUT(cudaGraphNodeParams, 256, 8);
LAYOUT(cudaKernelNodeParams, 56, 8);
LAYOUT(cudaMemcpyNodeParams, 176, 8);
LAYOUT(cudaMemsetParams, 40, 8);
LAYOUT(cudaMemAllocNodeParams, 120, 8);
LAYOUT(cudaConditionalNodeParams, 24, 8);
LAYOUT(cudaGraphInstantiateParams, 32, 8);
LAYOUT(cudaGraphExecUpdateResultInfo, 24, 8);
LAYOUT(cudaMemcpyAttributes, 24, 4);
LAYOUT(cudaMemcpy3DOperand, 40, 8);
LAYOUT(cudaMemcpy3DBatchOp, 112, 8);
LAYOUT(cudaExternalSemaphoreSignalParams, 144, 8);
LAYOUT(cudaExternalSemaphoreWaitParams, 144, 8);
OFFSET(cudaGraphNodeParams, kernel, 16);
OFFSET(cudaGraphNodeParams, reserved2, 248);
OFFSET(cudaLaunchAttribute, val, 8);
OFFSET(cudaLaunchConfig_t, stream, 32);
OFFSET(cudaMemcpy3DParms, kind, 152);
OFFSET(cudaFuncAttributes, reserved, 76);

OFFSET(cudaDeviceProp, uuid, 256);
OFFSET(cudaDeviceProp, totalGlobalMem, 288);
OFFSET(cudaDeviceProp, warpSize, 308);
OFFSET(cudaDeviceProp, maxThreadsPerBlock, 320);
OFFSET(cudaDeviceProp, totalConstMem, 352);
OFFSET(cudaDeviceProp, major, 360);
OFFSET(cudaDeviceProp, multiProcessorCount, 384);

static_assert(cudaErrorInvalidDeviceFunction == 98 && cudaErrorNoDevice == 100 && cudaErrorNotSupported == 801);
static_assert(cudaDevAttrComputeCapabilityMajor == 75 && cudaDevAttrCooperativeLaunch == 95 &&
              cudaDevAttrHostNumaId == 134);

TEST(Layout, IsTheSameInC) {
  const size_t expected[] = {
      sizeof(cudaDeviceProp),   sizeof(cudaMemcpy3DParms),     sizeof(cudaLaunchConfig_t), sizeof(cudaLaunchAttribute),
      sizeof(cudaResourceDesc), sizeof(cudaPointerAttributes), sizeof(cudaFuncAttributes), sizeof(dim3)};
  size_t sizes[16];
  ASSERT_EQ(cupola_c_sizes(sizes), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(sizes[i], expected[i]) << i;
}

TEST(Vectors, AreMadeInC) {
  EXPECT_EQ(cupola_c_vector_sum(), 10.0f);
}

TEST(Vectors, Dim3DefaultsToOne) {
  dim3 shape(7);
  EXPECT_EQ(shape.y, 1u);
  EXPECT_EQ(shape.z, 1u);
  uint3 plain = shape;
  EXPECT_EQ(plain.x, 7u);
}

}  // namespace
