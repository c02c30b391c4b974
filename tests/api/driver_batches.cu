// Batches of copies and of hints of the driver API. Oracle: "CUDA Driver API, Memory Management": cuMemcpyBatchAsync,
// cuMemcpy3DBatchAsync; "Unified Addressing": cuMemPrefetchBatchAsync and relatives.

#include "driver_objects.h"

namespace {

struct Pinned {
  unsigned char* bytes = nullptr;
  explicit Pinned(size_t count) {
    check::use_context();
    CU_OK(cuMemHostAlloc(reinterpret_cast<void**>(&bytes), count, 0));
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + 1);
  }
  ~Pinned() { CU_OK(cuMemFreeHost(bytes)); }
  Pinned(const Pinned&) = delete;
  CUdeviceptr at(size_t i = 0) const { return reinterpret_cast<CUdeviceptr>(bytes + i); }
};

CUmemcpyAttributes ordered(CUmemcpySrcAccessOrder order) {
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = order;
  return attributes;
}

CUmemcpy3DOperand operand(CUdeviceptr at, size_t row_length = 0, size_t layer_height = 0) {
  CUmemcpy3DOperand made = {};
  made.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  made.op.ptr.ptr = at;
  made.op.ptr.rowLength = row_length;
  made.op.ptr.layerHeight = layer_height;
  return made;
}
CUmemcpy3DOperand operand(CUarray array, size_t x, size_t y, size_t z) {
  CUmemcpy3DOperand made = {};
  made.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  made.op.array.array = array;
  made.op.array.offset = {x, y, z};
  return made;
}
CUDA_MEMCPY3D_BATCH_OP copy_of(CUmemcpy3DOperand to, CUmemcpy3DOperand from, CUextent3D extent) {
  CUDA_MEMCPY3D_BATCH_OP op = {};
  op.src = from;
  op.dst = to;
  op.extent = extent;
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return op;
}

CUarray make_array(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels) {
  CUDA_ARRAY3D_DESCRIPTOR shape = {};
  shape.Width = width, shape.Height = height, shape.Depth = depth;
  shape.Format = format;
  shape.NumChannels = channels;
  CUarray array = nullptr;
  CU_OK(cuArray3DCreate(&array, &shape));
  return array;
}

}  // namespace

// The batch comes after what the stream did before, and before what it does next; a source in stream order is read
// then.
CASE(a_batch_is_in_stream_order) {
  Stream stream;
  Memory device(128);
  Pinned host(512), back(512);
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  CUdeviceptr to[] = {device.at, device.at + 128}, from[] = {host.at(), host.at(256)};
  CUdeviceptr out[] = {back.at(), back.at(128)}, in[] = {device.at, device.at + 128};
  size_t sizes[] = {128, 64}, first = 0;
  CUmemcpyAttributes attributes = ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  attributes.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  CU_OK(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
  CU_OK(cuMemcpyBatchAsync(out, in, sizes, 2, &attributes, &first, 1, stream));
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  host.bytes[0] = 200;
  gate.release();
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQUAL(back.bytes[0], 200);
  for (int i = 1; i < 128; ++i) EXPECT_EQUAL_AT(i, back.bytes[i], host.bytes[i]);
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, back.bytes[128 + i], host.bytes[256 + i]);
}

// "All accesses must be complete before the API call returns": the source may go before the stream gets there.
CASE(ephemeral_sources) {
  Stream stream;
  Memory device(128);
  Pinned back(512);
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  {
    unsigned char here[64], kept[64];
    for (int i = 0; i < 64; ++i) here[i] = kept[i] = static_cast<unsigned char>(100 + i);
    CUdeviceptr to[] = {device.at, device.at + 64, device.at + 128};
    CUdeviceptr from[] = {reinterpret_cast<CUdeviceptr>(here), reinterpret_cast<CUdeviceptr>(kept), back.at(256)};
    size_t sizes[] = {64, 64, 32}, firsts[] = {0, 2};
    CUmemcpyAttributes attributes[] = {ordered(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL),
                                       ordered(CU_MEMCPY_SRC_ACCESS_ORDER_ANY)};
    attributes[0].srcLocHint.type = CU_MEM_LOCATION_TYPE_HOST;
    attributes[0].dstLocHint = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CU_OK(cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, stream));
    std::memset(here, 0, sizeof here);
    std::memset(kept, 0, sizeof kept);
  }
  gate.release();
  CU_OK(cuStreamSynchronize(stream));
  unsigned char got[160];
  CU_OK(cuMemcpyDtoH(got, device.at, sizeof got));
  for (int i = 0; i < 128; ++i) EXPECT_EQUAL_AT(i, got[i], 100 + i % 64);
  for (int i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, got[128 + i], back.bytes[256 + i]);
}

CASE(a_batch_refuses) {
  Stream stream;
  Memory device(128);
  Pinned host(512);
  CUdeviceptr to[] = {device.at, device.at + 128, device.at + 256}, from[] = {host.at(), host.at(128), host.at(256)};
  size_t sizes[] = {64, 64, 64}, firsts[] = {0, 2};
  CUmemcpyAttributes attributes[] = {ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM),
                                     ordered(CU_MEMCPY_SRC_ACCESS_ORDER_ANY)};
  const auto batch = [&](size_t count, size_t runs) {
    return cuMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, runs, stream);
  };
  CU_OK(batch(3, 2));
  EXPECT_CUDA(batch(3, 0), CUDA_ERROR_INVALID_VALUE);  // each copy must have attributes
  EXPECT_CUDA(batch(1, 2), CUDA_ERROR_INVALID_VALUE);  // "numAttrs must be lesser than or equal to count"
  EXPECT_CUDA(batch(2, 2), CUDA_ERROR_INVALID_VALUE);  // "the last entry should be less than count"
  firsts[0] = 1;                                       // "the first entry in attrsIdxs must always be 0"
  EXPECT_CUDA(batch(3, 2), CUDA_ERROR_INVALID_VALUE);
  firsts[0] = firsts[1] = 0;  // "each entry must be greater than the previous entry"
  EXPECT_CUDA(batch(3, 2), CUDA_ERROR_INVALID_VALUE);
  attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_CUDA(batch(3, 1), CUDA_ERROR_INVALID_VALUE);
  attributes[0] = ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  EXPECT_CUDA(cuMemcpyBatchAsync(nullptr, from, sizes, 3, attributes, firsts, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 1, CU_STREAM_LEGACY),
              CUDA_ERROR_INVALID_VALUE);  // "must not be legacy NULL stream"
  CU_OK(cuStreamSynchronize(stream));
  // All or none: the second copy's destination is too small, so that the first is not done either.
  CU_OK(cuMemsetD8(device.at, 0xee, 512));
  CU_OK(cuCtxSynchronize());
  to[1] = 0;
  EXPECT_CUDA(batch(3, 1), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(check::all_bytes(reinterpret_cast<void*>(device.at), 512, 0xee));
}

CASE(boxes_between_pointers) {
  Stream stream;
  Memory device(1024);
  Pinned host(4096), back(4096);
  // 5 x 3 x 2 elements out of rows of 16 and layers of 4 rows, packed tightly, and into rows of 8.
  CUDA_MEMCPY3D_BATCH_OP in[] = {copy_of(operand(device.at), operand(host.at(3), 16, 4), {5, 3, 2}),
                                 copy_of(operand(device.at + 1024), operand(host.at(1024)), {100, 1, 1})};
  in[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  CU_OK(cuMemcpy3DBatchAsync(2, in, 0, stream));
  std::memset(back.bytes, 0, 4096);
  CUDA_MEMCPY3D_BATCH_OP out[] = {copy_of(operand(back.at(), 8, 3), operand(device.at), {5, 3, 2}),
                                  copy_of(operand(back.at(1024)), operand(device.at + 1024), {10, 10, 1})};
  CU_OK(cuMemcpy3DBatchAsync(2, out, 0, stream));
  CU_OK(cuStreamSynchronize(stream));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 5; ++x)
        EXPECT_EQUAL_AT(x, back.bytes[(z * 3 + y) * 8 + x], host.bytes[3 + (z * 4 + y) * 16 + x]);
      for (int x = 5; x < 8; ++x) EXPECT_EQUAL_AT(x, back.bytes[(z * 3 + y) * 8 + x], 0);
    }
  for (int i = 0; i < 100; ++i) EXPECT_EQUAL_AT(i, back.bytes[1024 + i], host.bytes[1024 + i]);
}

// "The element size is determined by the CUDA array."
CASE(boxes_and_arrays) {
  Stream stream;
  CUarray first = make_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 2), second = make_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 2);
  Pinned host(1024), back(1024);
  CUDA_MEMCPY3D_BATCH_OP op = copy_of(operand(first, 2, 1, 0), operand(host.at(), 6, 0), {4, 3, 1});
  CU_OK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
  op = copy_of(operand(second, 1, 0, 0), operand(first, 2, 1, 0), {4, 3, 1});
  CU_OK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
  std::memset(back.bytes, 0, 1024);
  op = copy_of(operand(back.at(), 0, 0), operand(second, 1, 0, 0), {4, 3, 1});
  CU_OK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
  CU_OK(cuStreamSynchronize(stream));
  for (int y = 0; y < 3; ++y)
    for (int i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, back.bytes[y * 32 + i], host.bytes[y * 48 + i]);
  CUarray other = make_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1);
  op = copy_of(operand(other, 0, 0, 0), operand(first, 0, 0, 0), {4, 3, 1});  // "the element size ... must match"
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
  op = copy_of(operand(first, 5, 0, 0), operand(host.at()), {4, 3, 1});  // past the end of a row
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
  for (CUarray array : {first, second, other}) CU_OK(cuArrayDestroy(array));
}

CASE(boxes_refuse) {
  Stream stream;
  Memory device(256);
  Pinned host(1024);
  const CUDA_MEMCPY3D_BATCH_OP good = copy_of(operand(device.at), operand(host.at()), {8, 4, 1});
  CUDA_MEMCPY3D_BATCH_OP op = good;
  CU_OK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 1, stream), CUDA_ERROR_INVALID_VALUE);  // "must be zero now"
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, nullptr, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
  op.extent.height = 0;  // "must not be zero"
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
  op = good;
  op.src.op.ptr.rowLength = 7;  // "must either be zero or be greater than or equal to the width"
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
  op = good;
  op.dst.op.ptr.layerHeight = 3;
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
  op = good;
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_CUDA(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamSynchronize(stream));
}

CASE(hints_in_batches) {
  Stream stream;
  CUdeviceptr managed = 0;
  CU_OK(cuMemAllocManaged(&managed, 8 << 20, CU_MEM_ATTACH_GLOBAL));
  int concurrent = 0;
  CU_OK(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, check::the_device()));
  EXPECT(concurrent);  // else all of these are refused
  CUdeviceptr at[] = {managed, managed + (4 << 20)};
  size_t sizes[] = {2 << 20, 2 << 20}, firsts[] = {0, 1};
  CUmemLocation places[] = {{CU_MEM_LOCATION_TYPE_DEVICE, check::the_device()}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
  CU_OK(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 2, 0, stream));
  CU_OK(cuStreamSynchronize(stream));
  const auto last = [&](int i) {
    int type = -1;
    CU_OK(cuMemRangeGetAttribute(&type, sizeof type, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, at[i],
                                 sizes[i]));
    return type;
  };
  EXPECT_EQUAL(last(0), CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQUAL(last(1), CU_MEM_LOCATION_TYPE_HOST);
  CU_OK(cuMemDiscardBatchAsync(at, sizes, 2, 0, stream));
  CU_OK(cuMemDiscardAndPrefetchBatchAsync(at, sizes, 2, places + 1, firsts, 1, 0, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQUAL(last(0), CU_MEM_LOCATION_TYPE_HOST);
  std::memset(reinterpret_cast<void*>(managed), 0x5a, 8 << 20);  // "undone by writing to it"
  CU_OK(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 0, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(check::all_bytes(reinterpret_cast<void*>(managed), 8 << 20, 0x5a));
  CU_OK(cuMemFree(managed));
}

CASE(hints_in_batches_refuse) {
  Stream stream;
  CUdeviceptr managed = 0;
  CU_OK(cuMemAllocManaged(&managed, 4 << 20, CU_MEM_ATTACH_GLOBAL));
  Memory device(1 << 20);
  CUdeviceptr at[] = {managed, managed + (2 << 20)};
  size_t sizes[] = {2 << 20, 2 << 20}, firsts[] = {0, 1};
  CUmemLocation places[] = {{CU_MEM_LOCATION_TYPE_HOST, 0}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
  EXPECT_CUDA(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 2, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 0, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchBatchAsync(at, sizes, 1, places, firsts, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchBatchAsync(nullptr, sizes, 2, places, firsts, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 0, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemDiscardBatchAsync(at, sizes, 2, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemDiscardBatchAsync(at, sizes, 2, 0, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemDiscardAndPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 1, stream), CUDA_ERROR_INVALID_VALUE);
  firsts[0] = 1;
  EXPECT_CUDA(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemDiscardAndPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
  firsts[0] = 0;
  at[1] = device.at;  // "must refer to managed memory"
  EXPECT_CUDA(cuMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemDiscardBatchAsync(at, sizes, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuMemFree(managed));
}

// Neither copies nor hints in batches have a node in a graph.
CASE(batches_are_not_captured) {
  Memory device(128);
  Pinned host(512);
  CUdeviceptr managed = 0;
  CU_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CUdeviceptr to = device.at, from = host.at();
  size_t size = 64, first = 0;
  CUmemcpyAttributes attributes = ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  CUDA_MEMCPY3D_BATCH_OP op = copy_of(operand(device.at), operand(host.at()), {8, 4, 1});
  CUmemLocation place = {CU_MEM_LOCATION_TYPE_HOST, 0};
  for (int which = 0; which < 3; ++which) {
    Stream stream;
    CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    const CUresult result = which == 0   ? cuMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &first, 1, stream)
                            : which == 1 ? cuMemcpy3DBatchAsync(1, &op, 0, stream)
                                         : cuMemPrefetchBatchAsync(&managed, &size, 1, &place, &first, 1, 0, stream);
    EXPECT_CUDA(result, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUgraph graph = nullptr;
    CU_OK(cuStreamEndCapture(stream, &graph));  // it goes on. Oracle: an H200 (driver 580)
    CU_OK(cuGraphDestroy(graph));
  }
  CU_OK(cuMemFree(managed));
}

CHECK_MAIN()
