// Everything that cuda_device_runtime_api.h declares, from a kernel; the header also by itself.
#include <cuda_device_runtime_api.h>

__global__ void child(int*) {}

__device__ cudaError_t order(int* data) {
  cudaStream_t stream;
  cudaEvent_t event;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  error = cudaEventRecord(event, stream);
  error = cudaStreamWaitEvent(stream, event, 0);
  error = cudaMemcpyAsync(data, data + 8, 16, cudaMemcpyDeviceToDevice, stream);
  error = cudaMemcpy2DAsync(data, 8, data + 8, 8, 4, 2, cudaMemcpyDefault, stream);
  error = cudaMemsetAsync(data, 0, 16, stream);
  error = cudaMemset2DAsync(data, 8, 0, 4, 2, stream);
  cudaPitchedPtr box{};
  box.ptr = data;
  error = cudaMemset3DAsync(box, 0, cudaExtent{4, 2, 1}, stream);
  error = cudaEventDestroy(event);
  error = cudaStreamDestroy(stream);
  return error;
}

__device__ cudaError_t ask(int* data) {
  size_t limit;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(data);
  error = cudaGetDeviceCount(data);
  error = cudaDeviceGetAttribute(data, cudaDevAttrWarpSize, 0);
  error = cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
  error = cudaRuntimeGetVersion(data);
  error = cudaFuncGetAttributes(&attributes, child);
  error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(data, child, 32, 0);
  error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(data, child, 32, 0, cudaOccupancyDefault);
  void* memory;
  error = cudaMalloc(&memory, 16);
  error = cudaMalloc(&data, 16);
  error = cudaFree(memory);
  return error;
}

__global__ void parent(int* data) {
  cudaError_t error = order(data);
  error = ask(data);
  void* buffer = cudaGetParameterBuffer(64, sizeof data);
  error = cudaLaunchDevice(reinterpret_cast<void*>(child), buffer, dim3(1), dim3(1), 0, cudaStreamFireAndForget);
  buffer = cudaGetParameterBufferV2(reinterpret_cast<void*>(child), dim3(1), dim3(1), 0);
  error = cudaLaunchDeviceV2(buffer, cudaStreamTailLaunch);
  if (cudaPeekAtLastError() != cudaSuccess) printf("%s %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  error = cudaGetLastError();
}
