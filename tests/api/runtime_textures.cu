// Textures, surfaces and CUDA arrays through the runtime API and the C++ functions that read them. Oracle: "CUDA C++
// Programming Guide, Texture Functions, Surface Functions, Texture Fetching"; "CUDA Runtime API, Memory Management,
// Texture Object Management". The driver's part and every addressing mode: driver_textures.cu.

#include "api.h"

namespace {

__global__ void read_plane(cudaTextureObject_t texture, float* out, int width, int height) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  if (x < width && y < height)
    out[y * width + x] = tex2D<float>(texture, static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
}

__global__ void read_line(cudaTextureObject_t texture, uchar4* out) {
  out[threadIdx.x] = tex1Dfetch<uchar4>(texture, static_cast<int>(threadIdx.x));
}

__global__ void read_normalised(cudaTextureObject_t texture, float2* out, float x) {
  *out = tex2D<float2>(texture, x, 0.5f);
}

__global__ void read_layers(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 1.5f, 0.5f, static_cast<int>(threadIdx.x));
}

__global__ void read_volume(cudaTextureObject_t texture, float* out) {
  *out = tex3D<float>(texture, 1.5f, 0.5f, 2.5f);
}

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const float2 value = surf2Dread<float2>(from, x * 8, y);
  surf2Dwrite(value, to, y * 8, x);
}

__global__ void small_values(cudaSurfaceObject_t surface) {
  unsigned char seen = surf2Dread<unsigned char>(surface, 1, 0);
  surf2Dwrite(static_cast<unsigned char>(seen + 1), surface, 2, 0);
  surf2Dwrite(static_cast<unsigned char>(9), surface, 77, 0, cudaBoundaryModeZero);
}

std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureReadMode read = cudaReadModeElementType,
                               cudaTextureFilterMode filter = cudaFilterModePoint) {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  how.readMode = read;
  how.filterMode = filter;
  cudaTextureObject_t texture = 0;
  CUDA_OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

CASE(planes_are_filled_and_read) {
  const auto data = counted(12);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CUDA_OK(cudaMallocArray(&array, &format, 4, 3));
  CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, data.data(), 16, 16, 3, cudaMemcpyHostToDevice));
  const cudaTextureObject_t texture = texture_of(of_array(array));
  check::Managed<float> out(12);
  read_plane<<<1, dim3(4, 3)>>>(texture, out, 4, 3);
  CUDA_OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < 12; ++i) EXPECT_EQUAL_AT(i, out[i], data[i]);
  float part[4] = {};
  CUDA_OK(cudaMemcpy2DFromArray(part, 8, array, 4, 1, 8, 2, cudaMemcpyDeviceToHost));
  const float expected[4] = {5, 6, 9, 10};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQUAL_AT(i, part[i], expected[i]);
  cudaResourceDesc resource{};
  CUDA_OK(cudaGetTextureObjectResourceDesc(&resource, texture));
  EXPECT(resource.resType == cudaResourceTypeArray && resource.res.array.array == array);
  cudaTextureDesc how{};
  CUDA_OK(cudaGetTextureObjectTextureDesc(&how, texture));
  EXPECT(how.addressMode[0] == cudaAddressModeClamp && how.readMode == cudaReadModeElementType);
  CUDA_OK(cudaDestroyTextureObject(texture));
  CUDA_OK(cudaFreeArray(array));
}

CASE(asynchronous_copies_reach_arrays) {
  const auto data = counted(8);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CUDA_OK(cudaMallocArray(&array, &format, 4, 2));
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  std::vector<float> back(8);
  CUDA_OK(cudaMemcpy2DToArrayAsync(array, 0, 0, data.data(), 16, 16, 2, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpy2DFromArrayAsync(back.data(), 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  for (size_t i = 0; i < 8; ++i) EXPECT_EQUAL_AT(i, back[i], data[i]);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFreeArray(array));
}

CASE(linear_memory_is_fetched) {
  check::Managed<uchar4> memory(4), out(4);
  for (unsigned char i = 0; i < 4; ++i) memory[i] = uchar4{i, 128, 255, static_cast<unsigned char>(3 * i)};
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = &memory[0];
  r.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  r.res.linear.sizeInBytes = 16;
  const cudaTextureObject_t texture = texture_of(r);
  read_line<<<1, 4>>>(texture, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < 4; ++i) EXPECT(std::memcmp(&out[i], &memory[i], 4) == 0);
  CUDA_OK(cudaDestroyTextureObject(texture));
}

CASE(normalised_integers_are_filtered) {
  const unsigned char data[4] = {0, 255, 255, 51};  // two texels of two channels
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar2>();
  cudaArray_t array = nullptr;
  CUDA_OK(cudaMallocArray(&array, &format, 2, 1));
  CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, data, 4, 4, 1, cudaMemcpyHostToDevice));
  const cudaTextureObject_t texture = texture_of(of_array(array), cudaReadModeNormalizedFloat, cudaFilterModeLinear);
  check::Managed<float2> out(1);
  read_normalised<<<1, 1>>>(texture, out, 1.25f);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT(std::fabs(out[0].x - 0.75f) < 1e-3f);
  EXPECT(std::fabs(out[0].y - (0.25f + 0.75f * 0.2f)) < 1e-3f);
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  const cudaResourceDesc resource = of_array(array);
  cudaTextureObject_t none = 0;
  EXPECT_CUDA(cudaCreateTextureObject(&none, &resource, &how, nullptr), cudaErrorInvalidFilterSetting);
  CUDA_OK(cudaDestroyTextureObject(texture));
  CUDA_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
}

CASE(volumes_and_layers_are_filled_and_read) {
  const auto data = counted(24);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  for (const unsigned flags : {unsigned{cudaArrayDefault}, unsigned{cudaArrayLayered}}) {
    cudaArray_t array = nullptr;
    const cudaExtent extent = make_cudaExtent(4, 2, 3);
    CUDA_OK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(data.data()), 16, 4, 2);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA_OK(cudaMemcpy3D(&copy));
    const cudaTextureObject_t texture = texture_of(of_array(array));
    check::Managed<float> out(3);
    if (flags == cudaArrayLayered)
      read_layers<<<1, 3>>>(texture, out);
    else
      read_volume<<<1, 1>>>(texture, out);
    CUDA_OK(cudaDeviceSynchronize());
    if (flags == cudaArrayLayered)
      for (size_t i = 0; i < 3; ++i) EXPECT_EQUAL_AT(i, out[i], data[i * 8 + 1]);
    else
      EXPECT_EQUAL(out[0], data[17]);
    cudaChannelFormatDesc got{};
    cudaExtent size{};
    unsigned got_flags = ~0u;
    CUDA_OK(cudaArrayGetInfo(&got, &size, &got_flags, array));
    EXPECT(got.x == 32 && got.y == 0 && got.f == cudaChannelFormatKindFloat);
    EXPECT(size.width == 4 && size.height == 2 && size.depth == 3 && got_flags == flags);
    got = {};
    CUDA_OK(cudaGetChannelDesc(&got, array));
    EXPECT(got.x == 32 && got.f == cudaChannelFormatKindFloat);
    CUDA_OK(cudaDestroyTextureObject(texture));
    CUDA_OK(cudaFreeArray(array));
  }
}

CASE(surfaces_are_read_and_written) {
  const auto data = counted(32);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t arrays[2] = {};
  cudaSurfaceObject_t surfaces[2] = {};
  for (int i = 0; i < 2; ++i) {
    CUDA_OK(cudaMallocArray(&arrays[i], &format, 4, 4, cudaArraySurfaceLoadStore));
    const cudaResourceDesc resource = of_array(arrays[i]);
    CUDA_OK(cudaCreateSurfaceObject(&surfaces[i], &resource));
  }
  CUDA_OK(cudaMemcpy2DToArray(arrays[0], 0, 0, data.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  transpose<<<1, dim3(4, 4)>>>(surfaces[0], surfaces[1]);
  std::vector<float> back(32);
  CUDA_OK(cudaMemcpy2DFromArray(back.data(), 32, arrays[1], 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, back[i], data[(i / 2 % 4 * 4 + i / 8) * 2 + i % 2]);
  small_values<<<1, 1>>>(surfaces[0]);
  CUDA_OK(cudaMemcpy2DFromArray(back.data(), 32, arrays[0], 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  unsigned char bytes[4];
  std::memcpy(bytes, back.data(), 4);
  EXPECT(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 1 && bytes[3] == 0);
  cudaResourceDesc resource{};
  CUDA_OK(cudaGetSurfaceObjectResourceDesc(&resource, surfaces[0]));
  EXPECT(resource.res.array.array == arrays[0]);
  for (int i = 0; i < 2; ++i) {
    CUDA_OK(cudaDestroySurfaceObject(surfaces[i]));
    CUDA_OK(cudaFreeArray(arrays[i]));
  }
}

}  // namespace

CHECK_MAIN()
