// The variants for per-thread default streams: the same call, during which the default stream is the thread's own.
// "CUDA Driver API, Stream synchronization behavior".

#include "cuda/driver/api.h"

using namespace cupola::driver;

// Declares nothing new: each definition below has its row in driver.def.
#define PER_THREAD(name, suffix, signature, arguments) \
  CUresult name##suffix signature {                    \
    const PerThreadStream scope;                       \
    return name arguments;                             \
  }

PER_THREAD(cuMemAllocAsync, _ptsz, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, hStream))
PER_THREAD(cuMemFreeAsync, _ptsz, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))
PER_THREAD(cuMemPrefetchAsync, _ptsz, (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),
           (devPtr, count, dstDevice, hStream))
PER_THREAD(cuMemPrefetchAsync_v2, _ptsz,
           (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream),
           (devPtr, count, location, flags, hStream))
PER_THREAD(cuMemcpy, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), (dst, src, ByteCount))
PER_THREAD(cuMemcpyPeer, _ptds,
           (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount),
           (dstDevice, dstContext, srcDevice, srcContext, ByteCount))
PER_THREAD(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount),
           (dstDevice, srcHost, ByteCount))
PER_THREAD(cuMemcpyDtoH_v2, _ptds, (void* dstHost, CUdeviceptr srcDevice, size_t ByteCount),
           (dstHost, srcDevice, ByteCount))
PER_THREAD(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
           (dstDevice, srcDevice, ByteCount))
PER_THREAD(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D* pCopy), (pCopy))
PER_THREAD(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D* pCopy), (pCopy))
PER_THREAD(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D* pCopy), (pCopy))
PER_THREAD(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER* pCopy), (pCopy))
PER_THREAD(cuMemcpyAsync, _ptsz, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
           (dst, src, ByteCount, hStream))
PER_THREAD(cuMemcpyPeerAsync, _ptsz,
           (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
            CUstream hStream),
           (dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream))
PER_THREAD(cuMemcpyHtoDAsync_v2, _ptsz,
           (CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream),
           (dstDevice, srcHost, ByteCount, hStream))
PER_THREAD(cuMemcpyDtoHAsync_v2, _ptsz, (void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
           (dstHost, srcDevice, ByteCount, hStream))
PER_THREAD(cuMemcpyDtoDAsync_v2, _ptsz,
           (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
           (dstDevice, srcDevice, ByteCount, hStream))
PER_THREAD(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D* pCopy, CUstream hStream), (pCopy, hStream))
PER_THREAD(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D* pCopy, CUstream hStream), (pCopy, hStream))
PER_THREAD(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream), (pCopy, hStream))
PER_THREAD(cuMemsetD8_v2, _ptds, (CUdeviceptr dstDevice, unsigned char uc, size_t N), (dstDevice, uc, N))
PER_THREAD(cuMemsetD16_v2, _ptds, (CUdeviceptr dstDevice, unsigned short us, size_t N), (dstDevice, us, N))
PER_THREAD(cuMemsetD32_v2, _ptds, (CUdeviceptr dstDevice, unsigned int ui, size_t N), (dstDevice, ui, N))
PER_THREAD(cuMemsetD2D8_v2, _ptds,
           (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height),
           (dstDevice, dstPitch, uc, Width, Height))
PER_THREAD(cuMemsetD2D16_v2, _ptds,
           (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height),
           (dstDevice, dstPitch, us, Width, Height))
PER_THREAD(cuMemsetD2D32_v2, _ptds,
           (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height),
           (dstDevice, dstPitch, ui, Width, Height))
PER_THREAD(cuMemsetD8Async, _ptsz, (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
           (dstDevice, uc, N, hStream))
PER_THREAD(cuMemsetD16Async, _ptsz, (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),
           (dstDevice, us, N, hStream))
PER_THREAD(cuMemsetD32Async, _ptsz, (CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream),
           (dstDevice, ui, N, hStream))
PER_THREAD(cuMemsetD2D8Async, _ptsz,
           (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream),
           (dstDevice, dstPitch, uc, Width, Height, hStream))
PER_THREAD(cuMemsetD2D16Async, _ptsz,
           (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream hStream),
           (dstDevice, dstPitch, us, Width, Height, hStream))
PER_THREAD(cuMemsetD2D32Async, _ptsz,
           (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream hStream),
           (dstDevice, dstPitch, ui, Width, Height, hStream))
PER_THREAD(cuStreamGetPriority, _ptsz, (CUstream hStream, int* priority), (hStream, priority))
PER_THREAD(cuStreamGetFlags, _ptsz, (CUstream hStream, unsigned int* flags), (hStream, flags))
PER_THREAD(cuStreamGetId, _ptsz, (CUstream hStream, unsigned long long* streamId), (hStream, streamId))
PER_THREAD(cuStreamGetDevice, _ptsz, (CUstream hStream, CUdevice* device), (hStream, device))
PER_THREAD(cuStreamGetCtx, _ptsz, (CUstream hStream, CUcontext* pctx), (hStream, pctx))
PER_THREAD(cuStreamWaitEvent, _ptsz, (CUstream hStream, CUevent hEvent, unsigned int Flags), (hStream, hEvent, Flags))
PER_THREAD(cuStreamAddCallback, _ptsz,
           (CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags),
           (hStream, callback, userData, flags))
PER_THREAD(cuStreamQuery, _ptsz, (CUstream hStream), (hStream))
PER_THREAD(cuStreamSynchronize, _ptsz, (CUstream hStream), (hStream))
PER_THREAD(cuStreamAttachMemAsync, _ptsz, (CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags),
           (hStream, dptr, length, flags))
PER_THREAD(cuStreamIsCapturing, _ptsz, (CUstream hStream, CUstreamCaptureStatus* captureStatus),
           (hStream, captureStatus))
PER_THREAD(cuEventRecord, _ptsz, (CUevent hEvent, CUstream hStream), (hEvent, hStream))
PER_THREAD(cuEventRecordWithFlags, _ptsz, (CUevent hEvent, CUstream hStream, unsigned int flags),
           (hEvent, hStream, flags))
PER_THREAD(cuLaunchKernel, _ptsz,
           (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
            unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
            void** kernelParams, void** extra),
           (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams,
            extra))
PER_THREAD(cuLaunchKernelEx, _ptsz, (const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra),
           (config, f, kernelParams, extra))
PER_THREAD(cuLaunchCooperativeKernel, _ptsz,
           (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
            unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
            void** kernelParams),
           (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams))
PER_THREAD(cuLaunchHostFunc, _ptsz, (CUstream hStream, CUhostFn fn, void* userData), (hStream, fn, userData))
