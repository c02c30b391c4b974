#pragma once

#include "cuda/cudart/api.h"

namespace cupola::cudart {

/// The bytes of so many elements. Error: InvalidValue for more than any memory has.
Result<size_t> in_bytes(size_t elements, size_t bytes);

/// Whether rows of `width` bytes and slices of them fit into pitched memory, which has to have a pitch for several rows
/// and a height for several slices. Error: `code`.
Result<> check_rows(const cudaPitchedPtr& memory, size_t width, const cudaExtent& extent, ErrorCode code);

/// The driver's description of a copy. Errors: InvalidMemcpyDirection, InvalidHandle for an array, InvalidPitch, and
/// InvalidValue for positions and extents beyond any memory.
Result<CUDA_MEMCPY3D> driver_copy(const Driver& cu, const cudaMemcpy3DParms& params);

/// The same for a range of bytes.
Result<CUDA_MEMCPY3D> driver_copy(void* dst, const void* src, size_t count, cudaMemcpyKind kind);

/// The way back. Error: InvalidHandle for an array that is gone.
Result<cudaMemcpy3DParms> runtime_copy(const Driver& cu, const CUDA_MEMCPY3D& copy);

/// Where `count` bytes at `offset` in a symbol lie, when a copy of this kind to (or from) it is one. Errors:
/// InvalidSymbol, InvalidValue, InvalidMemcpyDirection.
Result<void*> symbol_as_destination(const Driver& cu, CUcontext context, const void* symbol, size_t offset,
                                    size_t count, cudaMemcpyKind kind);
Result<const void*> symbol_as_source(const Driver& cu, CUcontext context, const void* symbol, size_t offset,
                                     size_t count, cudaMemcpyKind kind);

}  // namespace cupola::cudart
