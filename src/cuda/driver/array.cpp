// CUDA arrays. "CUDA Driver API, Memory Management": cuArrayCreate and relatives.

#include "cuda/driver/array_shape.h"
#include "runtime/memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<> create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& d) {
  TRY(std::shared_ptr<Context> context, current_context());
  TRY(const Array shape, array_of_shape(*context, d, false));
  auto array = std::make_shared<Array>(shape);
  TRY(array->address, allocate(*context, bytes_of(*array), MemoryKind::Device, 0));
  *handle = handle_of<CUarray>(Runtime::get().arrays.add(std::move(array)));
  return {};
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(given(pAllocateArray, "pAllocateArray"));
    const CUDA_ARRAY_DESCRIPTOR& d = *pAllocateArray;
    return create(pHandle, {d.Width, d.Height, 0, d.Format, d.NumChannels, 0});
  });
}

CUresult cuArray3DCreate_v2(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(given(pAllocateArray, "pAllocateArray"));
    return create(pHandle, *pAllocateArray);
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pArrayDescriptor, "pArrayDescriptor"));
    TRY(std::shared_ptr<Array> array, live_array(hArray));
    const CUDA_ARRAY3D_DESCRIPTOR d = described(*array);
    *pArrayDescriptor = {d.Width, d.Height, d.Format, d.NumChannels};
    return {};
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  return api_call([&]() -> Result<> {
    TRY(given(pArrayDescriptor, "pArrayDescriptor"));
    TRY(std::shared_ptr<Array> array, live_array(hArray));
    *pArrayDescriptor = described(*array);
    return {};
  });
}

CUresult cuArrayDestroy(CUarray hArray) {
  return api_call([&]() -> Result<> {
    TRY(current_context_even_if_faulted());
    TRY(check_unsafe_call("freeing memory"));
    TRY(const std::shared_ptr<Array> array, live_array(hArray));
    if (array->is_level)
      return fail(ErrorCode::InvalidHandle, "a level ends with its mipmapped array: call cuMipmappedArrayDestroy");
    if (!Runtime::get().arrays.remove(hArray))  // by another thread, since
      return fail(ErrorCode::InvalidHandle, "{:#x} is no live CUDA array: it was destroyed meanwhile",
                  reinterpret_cast<uintptr_t>(hArray));
    return free_memory(array->address);
  });
}

// No array is sparse, none gets its memory later and none has several planes: CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_
// SUPPORTED, CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED and cuArray3DCreate say so.

CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int planeIdx) {
  return api_call([&]() -> Result<> {
    TRY(given(pPlaneArray, "pPlaneArray"));
    TRY(live_array(hArray));
    return fail(ErrorCode::InvalidValue, "there is no plane {} in an array whose format is not one of several planes",
                planeIdx);
  });
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties, CUarray array) {
  return api_call([&]() -> Result<> {
    TRY(given(sparseProperties, "sparseProperties"));
    TRY(live_array(array));
    return fail(ErrorCode::InvalidValue, "the array was made without CUDA_ARRAY3D_SPARSE");
  });
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements, CUarray array,
                                      CUdevice device) {
  return api_call([&]() -> Result<> {
    TRY(given(memoryRequirements, "memoryRequirements"));
    TRY(Runtime::get().device(device));
    TRY(live_array(array));
    return fail(ErrorCode::InvalidValue, "the array was made without CUDA_ARRAY3D_DEFERRED_MAPPING");
  });
}
