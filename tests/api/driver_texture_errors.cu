// What the driver refuses of arrays, copies to and from them, and texture and surface objects.
// Oracle: "CUDA Driver API", Memory, Texture and Surface Object Management: the "Returns" of each function.

#include "driver_objects.h"

namespace {

struct Array {
  CUarray array = nullptr;
  explicit Array(unsigned flags = 0) {
    check::use_context();
    CUDA_ARRAY3D_DESCRIPTOR shape = {};
    shape.Width = shape.Height = 16;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    shape.Flags = flags;
    CU_OK(cuArray3DCreate(&array, &shape));
  }
  ~Array() { CU_OK(cuArrayDestroy(array)); }
  Array(const Array&) = delete;
  operator CUarray() const { return array; }
};

CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

}  // namespace

CASE(arrays) {
  Array array;
  CUarray made = nullptr;
  CUDA_ARRAY_DESCRIPTOR good = {16, 16, CU_AD_FORMAT_FLOAT, 1}, three = good, empty = good;
  three.NumChannels = 3;
  empty.Width = 0;
  EXPECT_CUDA(cuArrayCreate(nullptr, &good), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArrayCreate(&made, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArrayCreate(&made, &three), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArrayCreate(&made, &empty), CUDA_ERROR_INVALID_VALUE);
  for (unsigned number : {0x00u, 0x04u, 0x90u, 0xa0u, 0xccu, unsigned{CU_AD_FORMAT_MAX}}) {
    CUDA_ARRAY_DESCRIPTOR unknown = good;
    unknown.Format = static_cast<CUarray_format>(number);
    EXPECT_CUDA(cuArrayCreate(&made, &unknown), CUDA_ERROR_INVALID_VALUE);
  }
  CUDA_ARRAY3D_DESCRIPTOR cube = {};
  cube.Width = 16;
  cube.Height = 8;  // the sides of a cube are squares
  cube.Depth = 6;
  cube.Format = CU_AD_FORMAT_FLOAT;
  cube.NumChannels = 1;
  cube.Flags = CUDA_ARRAY3D_CUBEMAP;
  EXPECT_CUDA(cuArray3DCreate(nullptr, &cube), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArray3DCreate(&made, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArray3DCreate(&made, &cube), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR shape;
  EXPECT_CUDA(cuArrayGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArrayGetDescriptor(&good, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuArray3DGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArray3DGetDescriptor(&shape, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CASE(copies_of_bytes) {
  Array array;
  Memory memory(1024);
  float host[256] = {};
  EXPECT_CUDA(cuMemcpyHtoA(nullptr, 0, host, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoA(array, 0, nullptr, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoA(array, 0, host, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoH(host, nullptr, 0, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoH(host, array, 1 << 20, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoA(nullptr, 0, memory, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoA(array, 0, 0, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoD(memory, nullptr, 0, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoD(memory, array, 0, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoA(array, 0, nullptr, 0, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoA(array, 0, array, 0, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoAAsync(nullptr, 0, host, 64, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoAAsync(array, 0, host, 1 << 20, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoHAsync(host, nullptr, 0, 64, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAtoHAsync(host, array, 0, 1 << 20, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxSynchronize());
}

CASE(texture_objects) {
  Array array;
  CUtexObject object = 0, none = 0;
  CUDA_RESOURCE_DESC resource = resource_of(array), empty = resource_of(nullptr), unknown = resource_of(array);
  unknown.resType = static_cast<CUresourcetype>(99);
  CUDA_TEXTURE_DESC reading = {}, wrong = {};
  wrong.filterMode = static_cast<CUfilter_mode>(99);
  CUDA_RESOURCE_VIEW_DESC view;
  EXPECT_CUDA(cuTexObjectCreate(nullptr, &resource, &reading, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectCreate(&none, nullptr, &reading, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectCreate(&none, &resource, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectCreate(&none, &unknown, &reading, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectCreate(&none, &resource, &wrong, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectCreate(&none, &empty, &reading, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuTexObjectCreate(&object, &resource, &reading, nullptr));
  EXPECT_CUDA(cuTexObjectGetResourceDesc(nullptr, object), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectGetTextureDesc(nullptr, object), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectGetResourceViewDesc(nullptr, object), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuTexObjectGetResourceViewDesc(&view, object));  // it was made without one. Oracle: an H200 (driver 580)
  CU_OK(cuTexObjectDestroy(object));
  CU_OK(cuTexObjectDestroy(0));
  EXPECT_CUDA(cuTexObjectDestroy(0x1234), CUDA_ERROR_INVALID_VALUE);
}

// Limits and alignments are those that the device reports. Oracle: an H200 (driver 580).
CASE(textures_of_memory) {
  Memory memory(1 << 18);
  const auto limit = [](CUdevice_attribute attribute) {
    int value = 0;
    CU_OK(cuDeviceGetAttribute(&value, attribute, check::the_device()));
    return static_cast<size_t>(value);
  };
  const size_t alignment = limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
               pitch_unit = limit(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT),
               most_rows = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
               most_texels = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
               most_pitch = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
  const CUDA_TEXTURE_DESC reading = {};
  const auto make = [&](const CUDA_RESOURCE_DESC& resource) {
    CUtexObject object = 0;
    const CUresult code = cuTexObjectCreate(&object, &resource, &reading, nullptr);
    if (code == CUDA_SUCCESS) CU_OK(cuTexObjectDestroy(object));
    return code;
  };
  const auto linear = [&](size_t offset) {
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory + offset;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 4096;
    return make(resource);
  };
  const auto plane = [&](size_t offset, size_t width, size_t height, size_t pitch) {
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = memory + offset;
    resource.res.pitch2D.format = CU_AD_FORMAT_UNSIGNED_INT8;
    resource.res.pitch2D.numChannels = 1;
    resource.res.pitch2D.width = width, resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return make(resource);
  };
  for (size_t offset : {size_t{4}, alignment / 2}) {
    EXPECT_CUDA(linear(offset), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(plane(offset, 16, 4, 64), CUDA_ERROR_INVALID_VALUE);
  }
  CU_OK(linear(alignment));
  CU_OK(plane(alignment, 16, 4, 64));
  EXPECT_CUDA(plane(0, 16, 4, pitch_unit + pitch_unit / 2), CUDA_ERROR_INVALID_VALUE);
  CU_OK(plane(0, 64, 4, pitch_unit));  // rows overlap: nobody minds
  EXPECT_CUDA(plane(0, 16, 1, most_pitch + pitch_unit), CUDA_ERROR_INVALID_VALUE);
  CU_OK(plane(0, 16, 1, most_pitch));
  EXPECT_CUDA(plane(0, 1, most_rows + 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(plane(0, 1, most_rows, 0));
  EXPECT_CUDA(plane(0, most_texels + 1, 1, most_texels + pitch_unit), CUDA_ERROR_INVALID_VALUE);
  CU_OK(plane(0, most_texels, 1, most_texels));
}

CASE(surface_objects) {
  Array plain, storable(CUDA_ARRAY3D_SURFACE_LDST);
  CUsurfObject object = 0, none = 0;
  const CUDA_RESOURCE_DESC resource = resource_of(storable), read_only = resource_of(plain),
                           empty = resource_of(nullptr);
  EXPECT_CUDA(cuSurfObjectCreate(nullptr, &resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuSurfObjectCreate(&none, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuSurfObjectCreate(&none, &read_only), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuSurfObjectCreate(&none, &empty), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuSurfObjectCreate(&object, &resource));
  EXPECT_CUDA(cuSurfObjectGetResourceDesc(nullptr, object), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuSurfObjectDestroy(object));
  EXPECT_CUDA(cuSurfObjectDestroy(0), CUDA_ERROR_INVALID_VALUE);
}

CHECK_MAIN()
