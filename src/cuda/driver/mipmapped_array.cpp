// Mipmapped arrays. "CUDA Driver API, Memory Management": cuMipmappedArrayCreate and relatives. Each level is an array
// of half the extents, rounded down, and at least 1; layers and faces stay as many.

#include <algorithm>
#include <bit>

#include "cuda/driver/array_shape.h"
#include "runtime/memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

/// "clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]"
unsigned level_count(const CUDA_ARRAY3D_DESCRIPTOR& d, unsigned wanted) {
  const size_t longest = std::max({d.Width, d.Height, has_layers(d) ? 0 : d.Depth});
  return std::clamp(wanted, 1u, static_cast<unsigned>(std::bit_width(longest)));
}

CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR d, unsigned level) {
  const auto halved = [level](size_t extent) { return extent ? std::max<size_t>(extent >> level, 1) : 0; };
  d.Width = halved(d.Width), d.Height = halved(d.Height);
  if (!has_layers(d)) d.Depth = halved(d.Depth);
  return d;
}

Result<> create(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR& d, unsigned levels) {
  TRY(std::shared_ptr<Context> context, current_context());
  auto whole = std::make_shared<MipmappedArray>();
  whole->owner = context.get();
  uint64_t bytes = 0;
  for (unsigned i = 0, count = level_count(d, levels); i < count; ++i) {
    TRY(Array level, array_of_shape(*context, level_of(d, i), true));
    level.is_level = true;
    level.address = bytes;
    bytes += bytes_of(level);
    whole->levels.push_back(std::make_shared<Array>(level));
  }
  TRY(whole->address, allocate(*context, bytes, MemoryKind::Device, 0));
  for (const auto& level : whole->levels) {
    level->address += whole->address;
    Runtime::get().arrays.add(level);
  }
  *handle = handle_of<CUmipmappedArray>(Runtime::get().mipmapped_arrays.add(std::move(whole)));
  return {};
}

}  // namespace

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(given(pMipmappedArrayDesc, "pMipmappedArrayDesc"));
    return create(pHandle, *pMipmappedArrayDesc, numMipmapLevels);
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level) {
  return api_call([&]() -> Result<> {
    TRY(given(pLevelArray, "pLevelArray"));
    TRY(const auto array, live_mipmapped_array(hMipmappedArray));
    if (level >= array->levels.size())
      return fail(ErrorCode::InvalidValue, "there is no level {} of {}", level, array->levels.size());
    *pLevelArray = handle_of<CUarray>(array->levels[level].get());
    return {};
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
  return api_call([&]() -> Result<> {
    TRY(current_context_even_if_faulted());
    TRY(check_unsafe_call("freeing memory"));
    TRY(live_mipmapped_array(hMipmappedArray));
    const std::shared_ptr<MipmappedArray> array = Runtime::get().mipmapped_arrays.remove(hMipmappedArray);
    if (!array)  // by another thread, since
      return fail(ErrorCode::InvalidHandle, "{:#x} is no live mipmapped array: it was destroyed meanwhile",
                  reinterpret_cast<uintptr_t>(hMipmappedArray));
    for (const auto& level : array->levels) Runtime::get().arrays.remove(level.get());
    return free_memory(array->address);
  });
}

// As of arrays: none is sparse, and none gets its memory later.

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties, CUmipmappedArray mipmap) {
  return api_call([&]() -> Result<> {
    TRY(given(sparseProperties, "sparseProperties"));
    TRY(live_mipmapped_array(mipmap));
    return fail(ErrorCode::InvalidValue, "the mipmapped array was made without CUDA_ARRAY3D_SPARSE");
  });
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device) {
  return api_call([&]() -> Result<> {
    TRY(given(memoryRequirements, "memoryRequirements"));
    TRY(Runtime::get().device(device));
    TRY(live_mipmapped_array(mipmap));
    return fail(ErrorCode::InvalidValue, "the mipmapped array was made without CUDA_ARRAY3D_DEFERRED_MAPPING");
  });
}
