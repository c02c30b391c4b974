#pragma once

// What the tests of textures share: single PTX instructions on texture and surface objects, and what those are made of.

#include <array>

#include "driver.h"

namespace check {

using Word4 = std::array<uint32_t, 4>;

inline float as_float(uint32_t word) {
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}
inline uint32_t as_word(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  return word;
}
inline Word4 coordinates(float x, float y = 0, float z = 0, float w = 0) {
  return {as_word(x), as_word(y), as_word(z), as_word(w)};
}

/// Runs one instruction once for each element: its four words come in %r0 to %r3 and %f0 to %f3, its object is %rd0,
/// and what it leaves in %d0 to %d3 goes back.
inline CUresult run(const std::string& instruction, unsigned long long object, std::vector<Word4>& words) {
  CUmodule module = check::load_ptx(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 o, .param .u64 p)
{
	.reg .b64 %rd<5>; .reg .b32 %r<5>, %d<4>; .reg .f32 %f<4>; .reg .b16 %h<4>;
	ld.param.u64 %rd0, [o];
	ld.param.u64 %rd1, [p];
	mov.u32 %r4, %tid.x;
	mul.wide.u32 %rd2, %r4, 16;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd3];
	mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;
	mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;
	)" + instruction +
                                    R"(
	st.global.v4.u32 [%rd3], {%d0, %d1, %d2, %d3};
	ret;
})");
  if (!module) return CUDA_ERROR_INVALID_PTX;
  CUfunction kernel = nullptr;
  CU_OK(cuModuleGetFunction(&kernel, module, "k"));
  CUdeviceptr memory = 0;
  const size_t bytes = words.size() * sizeof(Word4);
  CU_OK(cuMemAlloc(&memory, bytes));
  CU_OK(cuMemcpyHtoD(memory, words.data(), bytes));
  void* parameters[] = {&object, &memory};
  CU_OK(cuLaunchKernel(kernel, 1, 1, 1, static_cast<unsigned>(words.size()), 1, 1, 0, nullptr, parameters, nullptr));
  const CUresult result = cuCtxSynchronize();
  if (result != CUDA_SUCCESS) return result;
  CU_OK(cuMemcpyDtoH(words.data(), memory, bytes));
  CU_OK(cuMemFree(memory));
  CU_OK(cuModuleUnload(module));
  return result;
}

inline std::vector<Word4> results(const std::string& instruction, unsigned long long object, std::vector<Word4> words) {
  CU_OK(run(instruction, object, words));
  return words;
}

inline constexpr const char* kD = "{%d0, %d1, %d2, %d3}";
inline std::string fetch(const std::string& form, const std::string& coordinates, const std::string& rest = "") {
  return form + " " + kD + ", [%rd0, " + coordinates + "]" + rest + ";";
}

/// All texels of an array from or to host memory, where they lie side by side; the other pointer is null.
inline void copy_texels(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR& shape, size_t texel, const void* from, void* to) {
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = from ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
  c.srcHost = from, c.srcArray = from ? nullptr : array;
  c.dstMemoryType = from ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
  c.dstHost = to, c.dstArray = from ? array : nullptr;
  c.WidthInBytes = c.srcPitch = c.dstPitch = shape.Width * texel;
  c.Height = shape.Height ? shape.Height : 1, c.Depth = shape.Depth ? shape.Depth : 1;
  c.srcHeight = c.dstHeight = c.Height;
  CU_OK(cuMemcpy3D(&c));
}

/// A CUDA array with its texels, which lie side by side in `data`.
struct ArrayOf {
  CUarray handle = nullptr;
  size_t texel;
  CUDA_ARRAY3D_DESCRIPTOR shape;

  ArrayOf(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels, size_t texel_bytes,
          const void* data, unsigned flags = 0)
      : texel(texel_bytes), shape{width, height, depth, format, channels, flags} {
    check::use_context();
    CU_OK(cuArray3DCreate(&handle, &shape));
    if (data) copy(data, nullptr);
  }
  ~ArrayOf() { CU_OK(cuArrayDestroy(handle)); }
  ArrayOf(const ArrayOf&) = delete;

  void copy(const void* from, void* to) const { copy_texels(handle, shape, texel, from, to); }
  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = handle;
    return r;
  }
};

inline CUDA_TEXTURE_DESC sampling(unsigned flags, CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP,
                                  CUfilter_mode filter = CU_TR_FILTER_MODE_POINT) {
  CUDA_TEXTURE_DESC t{};
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = mode;
  t.filterMode = filter;
  t.flags = flags;
  const float border[4] = {7.25f, -3.5f, 300.0f, 0.5f};
  std::memcpy(t.borderColor, border, sizeof border);
  return t;
}

struct Texture {
  CUtexObject object = 0;
  Texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
          const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CU_OK(cuTexObjectCreate(&object, &resource, &texture, view));
  }
  ~Texture() { CU_OK(cuTexObjectDestroy(object)); }
  Texture(const Texture&) = delete;
  operator CUtexObject() const { return object; }
};

struct Surface {
  CUsurfObject object = 0;
  explicit Surface(const CUDA_RESOURCE_DESC& resource) { CU_OK(cuSurfObjectCreate(&object, &resource)); }
  ~Surface() { CU_OK(cuSurfObjectDestroy(object)); }
  Surface(const Surface&) = delete;
  operator CUsurfObject() const { return object; }
};

inline constexpr unsigned kInteger = CU_TRSF_READ_AS_INTEGER, kNormalized = CU_TRSF_NORMALIZED_COORDINATES;

}  // namespace check
