#pragma once

// The runtime API in C. The prototypes are the rows of runtime.def; the "CUDA Runtime API" manual documents each.

#include <stddef.h>

#include "builtin_types.h"
#include "driver_types.h"
#include "host_defines.h"

#define CUDART_VERSION 13000

#if defined(__cplusplus)
extern "C" {
#define CUDART_DEFAULT(x) = x
#else
#define CUDART_DEFAULT(x)
#endif

#define CUDART_FN(name, suffix, since, status, signature) extern __host__ cudaError_t CUDARTAPI name##suffix signature;
#define CUDART_FN_AS(type, name, suffix, since, status, signature) \
  extern __host__ type CUDARTAPI name##suffix signature;
#include "cupola/runtime.def"

#if defined(__cplusplus)
}
#endif

// Per-thread default streams: the plain names mean the variants.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(CUPOLA_BUILDING_CUDART)
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#define cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz
#define cudaEventRecord cudaEventRecord_ptsz
#define cudaFreeAsync cudaFreeAsync_ptsz
#define cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz
#define cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz
#define cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
#define cudaGraphLaunch cudaGraphLaunch_ptsz
#define cudaGraphUpload cudaGraphUpload_ptsz
#define cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz
#define cudaLaunchHostFunc cudaLaunchHostFunc_ptsz
#define cudaLaunchKernelExC cudaLaunchKernelExC_ptsz
#define cudaLaunchKernel cudaLaunchKernel_ptsz
#define cudaMallocAsync cudaMallocAsync_ptsz
#define cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz
#define cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz
#define cudaMemDiscardBatchAsync cudaMemDiscardBatchAsync_ptsz
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_ptsz
#define cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz
#define cudaMemcpy2DArrayToArray cudaMemcpy2DArrayToArray_ptds
#define cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz
#define cudaMemcpy2DFromArrayAsync cudaMemcpy2DFromArrayAsync_ptsz
#define cudaMemcpy2DFromArray cudaMemcpy2DFromArray_ptds
#define cudaMemcpy2DToArrayAsync cudaMemcpy2DToArrayAsync_ptsz
#define cudaMemcpy2DToArray cudaMemcpy2DToArray_ptds
#define cudaMemcpy2D cudaMemcpy2D_ptds
#define cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz
#define cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz
#define cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz
#define cudaMemcpy3DPeer cudaMemcpy3DPeer_ptds
#define cudaMemcpy3D cudaMemcpy3D_ptds
#define cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds
#define cudaMemcpyAsync cudaMemcpyAsync_ptsz
#define cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz
#define cudaMemcpyFromArrayAsync cudaMemcpyFromArrayAsync_ptsz
#define cudaMemcpyFromArray cudaMemcpyFromArray_ptds
#define cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz
#define cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds
#define cudaMemcpyToArrayAsync cudaMemcpyToArrayAsync_ptsz
#define cudaMemcpyToArray cudaMemcpyToArray_ptds
#define cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz
#define cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds
#define cudaMemcpy cudaMemcpy_ptds
#define cudaMemset2DAsync cudaMemset2DAsync_ptsz
#define cudaMemset2D cudaMemset2D_ptds
#define cudaMemset3DAsync cudaMemset3DAsync_ptsz
#define cudaMemset3D cudaMemset3D_ptds
#define cudaMemsetAsync cudaMemsetAsync_ptsz
#define cudaMemset cudaMemset_ptds
#define cudaStreamAddCallback cudaStreamAddCallback_ptsz
#define cudaStreamAttachMemAsync cudaStreamAttachMemAsync_ptsz
#define cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz
#define cudaStreamBeginCapture cudaStreamBeginCapture_ptsz
#define cudaStreamCopyAttributes cudaStreamCopyAttributes_ptsz
#define cudaStreamEndCapture cudaStreamEndCapture_ptsz
#define cudaStreamGetAttribute cudaStreamGetAttribute_ptsz
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz
#define cudaStreamGetDevice cudaStreamGetDevice_ptsz
#define cudaStreamGetFlags cudaStreamGetFlags_ptsz
#define cudaStreamGetId cudaStreamGetId_ptsz
#define cudaStreamGetPriority cudaStreamGetPriority_ptsz
#define cudaStreamIsCapturing cudaStreamIsCapturing_ptsz
#define cudaStreamQuery cudaStreamQuery_ptsz
#define cudaStreamSetAttribute cudaStreamSetAttribute_ptsz
#define cudaStreamSynchronize cudaStreamSynchronize_ptsz
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz
#define cudaStreamWaitEvent cudaStreamWaitEvent_ptsz
#endif
