// Mipmapped arrays and cubes through the runtime API and the C++ functions that read them. Oracle: "CUDA C++
// Programming Guide, Texture Functions, Surface Functions"; "CUDA Runtime API, Memory Management, Texture Object
// Management". Levels hold distinct numbers; what a level of detail means in full: driver_mipmaps.cu.

#include <algorithm>

#include "api.h"

namespace {

/// What each slice of a level holds, whatever the texel.
constexpr float value_of(unsigned level, size_t slice) {
  return static_cast<float>(100 * level + slice);
}

struct Mipmapped {
  cudaMipmappedArray_t handle = nullptr;

  Mipmapped(cudaExtent extent, unsigned levels, unsigned flags = 0) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA_OK(cudaMallocMipmappedArray(&handle, &format, extent, levels, flags));
    for (unsigned l = 0; l < levels; ++l) fill(l);
  }
  ~Mipmapped() { CUDA_OK(cudaFreeMipmappedArray(handle)); }
  Mipmapped(const Mipmapped&) = delete;

  void fill(unsigned level) const {
    cudaArray_t array = nullptr;
    cudaExtent extent{};
    CUDA_OK(cudaGetMipmappedArrayLevel(&array, handle, level));
    CUDA_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
    extent.height = std::max<size_t>(extent.height, 1), extent.depth = std::max<size_t>(extent.depth, 1);
    const size_t plane = extent.width * extent.height;
    std::vector<float> data(plane * extent.depth);
    for (size_t i = 0; i < data.size(); ++i) data[i] = value_of(level, i / plane);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(data.data(), extent.width * sizeof(float), extent.width, extent.height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA_OK(cudaMemcpy3D(&copy));
  }
  cudaResourceDesc resource() const {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = handle;
    return r;
  }
};

cudaTextureDesc all_levels() {
  cudaTextureDesc t{};
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp;
  t.normalizedCoords = 1;
  t.maxMipmapLevelClamp = 10;
  return t;
}

struct Texture {
  cudaTextureObject_t object = 0;
  Texture(const cudaResourceDesc& resource, const cudaTextureDesc& how, const cudaResourceViewDesc* view = nullptr) {
    CUDA_OK(cudaCreateTextureObject(&object, &resource, &how, view));
  }
  ~Texture() { CUDA_OK(cudaDestroyTextureObject(object)); }
  Texture(const Texture&) = delete;
};

enum Geometry { kLine, kPlane, kVolume, kLines, kPlanes, kCube, kCubes };

/// Thread l reads level l by its number, and by gradients of 2^l texels of 16.
__global__ void read_levels(Geometry geometry, cudaTextureObject_t t, float* by_number, float* by_gradient) {
  const unsigned i = threadIdx.x;
  const float l = static_cast<float>(i), step = static_cast<float>(1u << i) / 16;
  const float2 d2{0, step}, none2{0, 0};
  const float4 d3{step, 0, 0, 0}, none3{0, 0, 0, 0};
  const float4 on_face{2 * step, 0, 0, 0};  // a face is 2 wide at distance 1
  switch (geometry) {
    case kLine:
      by_number[i] = tex1DLod<float>(t, 0.5f, l);
      by_gradient[i] = tex1DGrad<float>(t, 0.5f, step, 0);
      break;
    case kPlane:
      by_number[i] = tex2DLod<float>(t, 0.5f, 0.5f, l);
      by_gradient[i] = tex2DGrad<float>(t, 0.5f, 0.5f, none2, d2);
      break;
    case kVolume:
      by_number[i] = tex3DLod<float>(t, 0.5f, 0.5f, 0, l);
      by_gradient[i] = tex3DGrad<float>(t, 0.5f, 0.5f, 0, d3, none3);
      break;
    case kLines:
      by_number[i] = tex1DLayeredLod<float>(t, 0.5f, 2, l);
      by_gradient[i] = tex1DLayeredGrad<float>(t, 0.5f, 2, 0, step);
      break;
    case kPlanes:
      by_number[i] = tex2DLayeredLod<float>(t, 0.5f, 0.5f, 2, l);
      by_gradient[i] = tex2DLayeredGrad<float>(t, 0.5f, 0.5f, 2, d2, none2);
      break;
    case kCube:
      by_number[i] = texCubemapLod<float>(t, 0.1f, 0.1f, 1, l);
      by_gradient[i] = texCubemapGrad<float>(t, 0.1f, 0.1f, 1, none3, on_face);
      break;
    case kCubes:
      by_number[i] = texCubemapLayeredLod<float>(t, 0.1f, 0.1f, 1, 1, l);
      by_gradient[i] = texCubemapLayeredGrad<float>(t, 0.1f, 0.1f, 1, 1, on_face, none3);
      break;
  }
}

CASE(every_geometry_reads_its_levels) {
  struct Row {
    Geometry geometry;
    cudaExtent extent;
    unsigned flags;
    size_t slice;
  };
  const Row rows[] = {{kLine, {16, 0, 0}, cudaArrayDefault, 0},
                      {kPlane, {16, 16, 0}, cudaArrayDefault, 0},
                      {kVolume, {16, 16, 16}, cudaArrayDefault, 0},
                      {kLines, {16, 0, 3}, cudaArrayLayered, 2},
                      {kPlanes, {16, 16, 3}, cudaArrayLayered, 2},
                      {kCube, {16, 16, 6}, cudaArrayCubemap, 4},
                      {kCubes, {16, 16, 12}, cudaArrayCubemap | cudaArrayLayered, 10}};
  for (const Row& row : rows) {
    const Mipmapped array(row.extent, 5, row.flags);
    const Texture texture(array.resource(), all_levels());
    check::Managed<float> by_number(5), by_gradient(5);
    read_levels<<<1, 5>>>(row.geometry, texture.object, by_number, by_gradient);
    CUDA_OK(cudaDeviceSynchronize());
    for (unsigned l = 0; l < 5; ++l) {
      EXPECT_EQUAL_AT(row.geometry, by_number[l], value_of(l, row.slice));
      EXPECT_EQUAL_AT(row.geometry, by_gradient[l], value_of(l, row.slice));
    }
  }
}

__global__ void read_colours(cudaTextureObject_t t, float4* out) {
  out[0] = tex2DLod<float4>(t, 0.5f, 0.5f, 1.0f);
  out[1] = tex2D<float4>(t, 0.25f, 0.75f);
}

/// Halves a level by the mean of four texels, as programs make their levels.
__global__ void halve(cudaSurfaceObject_t to, cudaTextureObject_t from, float size) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const float4 mean = tex2D<float4>(from, (static_cast<float>(x) + 0.5f) / size, (static_cast<float>(y) + 0.5f) / size);
  const auto byte = [](float channel) { return static_cast<unsigned char>(channel * 255 + 0.5f); };
  surf2Dwrite(uchar4{byte(mean.x), byte(mean.y), byte(mean.z), byte(mean.w)}, to, x * 4, y);
}

CASE(programs_make_their_levels) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaMipmappedArray_t array = nullptr;
  CUDA_OK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(2, 2, 0), 2, cudaArraySurfaceLoadStore));
  cudaArray_t finest = nullptr, coarsest = nullptr;
  CUDA_OK(cudaGetMipmappedArrayLevel(&finest, array, 0));
  CUDA_OK(cudaGetMipmappedArrayLevel(&coarsest, array, 1));
  const uchar4 texels[4] = {{0, 40, 255, 1}, {20, 40, 255, 1}, {40, 40, 0, 1}, {60, 40, 0, 3}};
  CUDA_OK(cudaMemcpy2DToArray(finest, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice));
  cudaResourceDesc of_level{};
  of_level.resType = cudaResourceTypeArray;
  of_level.res.array.array = finest;
  cudaTextureDesc how = all_levels();
  how.readMode = cudaReadModeNormalizedFloat;
  how.filterMode = cudaFilterModeLinear;
  cudaSurfaceObject_t surface = 0;
  {
    const Texture from(of_level, how);
    of_level.res.array.array = coarsest;
    CUDA_OK(cudaCreateSurfaceObject(&surface, &of_level));
    halve<<<1, 1>>>(surface, from.object, 1);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaDestroySurfaceObject(surface));
  }
  uchar4 mean{};
  CUDA_OK(cudaMemcpy2DFromArray(&mean, 4, coarsest, 0, 0, 4, 1, cudaMemcpyDeviceToHost));
  EXPECT(mean.x == 30 && mean.y == 40 && (mean.z == 127 || mean.z == 128) && (mean.w == 1 || mean.w == 2));
  {
    cudaResourceDesc whole{};
    whole.resType = cudaResourceTypeMipmappedArray;
    whole.res.mipmap.mipmap = array;
    const Texture texture(whole, how);
    check::Managed<float4> out(2);
    read_colours<<<1, 1>>>(texture.object, out);
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT(std::fabs(out[0].x - 30.0f / 255) < 1e-6f && std::fabs(out[0].y - 40.0f / 255) < 1e-6f);
    EXPECT(std::fabs(out[1].x - 40.0f / 255) < 1e-6f && out[1].z == 0);
  }
  CUDA_OK(cudaFreeMipmappedArray(array));
}

CASE(mipmapped_textures_say_what_they_are_made_of) {
  const Mipmapped array(make_cudaExtent(8, 8, 0), 3);
  cudaTextureDesc how = all_levels();
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.mipmapLevelBias = 0.5f;
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 8;
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 2;
  const Texture texture(array.resource(), how, &view), whole(array.resource(), how);
  cudaResourceDesc resource{};
  CUDA_OK(cudaGetTextureObjectResourceDesc(&resource, texture.object));
  EXPECT(resource.resType == cudaResourceTypeMipmappedArray && resource.res.mipmap.mipmap == array.handle);
  cudaTextureDesc got{};
  CUDA_OK(cudaGetTextureObjectTextureDesc(&got, texture.object));
  EXPECT(got.mipmapFilterMode == cudaFilterModeLinear && got.mipmapLevelBias == 0.5f && got.maxMipmapLevelClamp == 10);
  cudaResourceViewDesc seen{};
  CUDA_OK(cudaGetTextureObjectResourceViewDesc(&seen, texture.object));
  EXPECT(seen.format == cudaResViewFormatFloat1 && seen.width == 8 && seen.height == 8 && seen.depth == 0);
  EXPECT(seen.firstMipmapLevel == 1 && seen.lastMipmapLevel == 2 && seen.firstLayer == 0 && seen.lastLayer == 0);
  CUDA_OK(cudaGetTextureObjectResourceViewDesc(&seen, whole.object));
  view.width = 4;
  cudaTextureObject_t none = 0;
  resource = array.resource();
  EXPECT_CUDA(cudaCreateTextureObject(&none, &resource, &how, &view), cudaErrorInvalidValue);
  cudaGetLastError();
}

CASE(what_is_no_mipmapped_array_is_refused) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), three = cudaCreateChannelDesc<float3>();
  const cudaExtent extent = make_cudaExtent(8, 8, 0);
  cudaMipmappedArray_t none = nullptr;
  EXPECT_CUDA(cudaMallocMipmappedArray(&none, &format, make_cudaExtent(0, 8, 0), 1, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocMipmappedArray(&none, &three, extent, 1, 0), cudaErrorInvalidChannelDescriptor);
  const Mipmapped array(extent, 2);
  cudaArray_t level = nullptr, plane = nullptr;
  EXPECT_CUDA(cudaGetMipmappedArrayLevel(&level, array.handle, 2), cudaErrorInvalidValue);
  CUDA_OK(cudaGetMipmappedArrayLevel(&level, array.handle, 1));
  cudaArraySparseProperties sparse{};
  cudaArrayMemoryRequirements memory{};
  EXPECT_CUDA(cudaArrayGetSparseProperties(&sparse, level), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMipmappedArrayGetSparseProperties(&sparse, array.handle), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaArrayGetMemoryRequirements(&memory, level, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMipmappedArrayGetMemoryRequirements(&memory, array.handle, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaArrayGetPlane(&plane, level, 0), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeMipmappedArray(nullptr));
  cudaGetLastError();
}

__global__ void number_faces(cudaSurfaceObject_t cube, cudaSurfaceObject_t cubes) {
  const int face = static_cast<int>(threadIdx.x);
  surfCubemapwrite(static_cast<float>(face), cube, 4, 1, face);
  surfCubemapLayeredwrite(static_cast<float>(100 + face), cubes, 0, 1, 6 + face);
}
__global__ void read_faces(cudaSurfaceObject_t cube, cudaSurfaceObject_t cubes, float* out) {
  const int face = static_cast<int>(threadIdx.x);
  out[face] = surfCubemapread<float>(cube, 4, 1, face) + surfCubemapLayeredread<float>(cubes, 0, 1, 6 + face);
}

CASE(faces_of_cubes_are_surfaces) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[2] = {};
  cudaSurfaceObject_t surfaces[2] = {};
  for (unsigned i = 0; i < 2; ++i) {
    CUDA_OK(cudaMalloc3DArray(&arrays[i], &format, make_cudaExtent(2, 2, i ? 12 : 6),
                              cudaArrayCubemap | cudaArraySurfaceLoadStore | (i ? cudaArrayLayered : 0)));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[i];
    CUDA_OK(cudaCreateSurfaceObject(&surfaces[i], &resource));
  }
  number_faces<<<1, 6>>>(surfaces[0], surfaces[1]);
  check::Managed<float> out(6);
  read_faces<<<1, 6>>>(surfaces[0], surfaces[1], out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int face = 0; face < 6; ++face) EXPECT_EQUAL_AT(face, out[face], static_cast<float>(100 + 2 * face));
  std::vector<float> back(12 * 4);
  cudaMemcpy3DParms copy{};
  copy.srcArray = arrays[1];
  copy.dstPtr = make_cudaPitchedPtr(back.data(), 8, 2, 2);
  copy.extent = make_cudaExtent(2, 2, 12);
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA_OK(cudaMemcpy3D(&copy));
  for (size_t face = 0; face < 6; ++face)
    EXPECT_EQUAL_AT(face, back[(6 + face) * 4 + 2], static_cast<float>(100 + face));
  for (int i = 0; i < 2; ++i) {
    CUDA_OK(cudaDestroySurfaceObject(surfaces[i]));
    CUDA_OK(cudaFreeArray(arrays[i]));
  }
}

}  // namespace

CHECK_MAIN()
