// Many copies in one call. "CUDA Driver API, Memory Management": cuMemcpyBatchAsync and cuMemcpy3DBatchAsync. Hints of
// locations change nothing: there is one memory.

#include <cstdint>

#include "cuda/driver/batch.h"
#include "cuda/driver/copy.h"
#include "cuda/driver/texel_format.h"

using namespace cupola;
using namespace cupola::driver;

Result<std::shared_ptr<Stream>> cupola::driver::batch_stream(CUstream handle) {
  TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
  if (stream->capture())  // which goes on, as an H200 (driver 580) has it
    return fail(ErrorCode::StreamCaptureUnsupported, "the stream is captured: a batch has no node in a graph");
  if (stream->kind() == Stream::Kind::Legacy)
    return fail(ErrorCode::InvalidValue, "a batch cannot run on the legacy default stream: give another stream");
  return stream;
}

Result<> cupola::driver::check_runs(const size_t* firsts, size_t runs, size_t count) {
  if (runs == 0 || runs > count)
    return fail(ErrorCode::InvalidValue, "{} entries for {} operations; there must be 1 to as many as operations", runs,
                count);
  TRY(given(firsts, "the array of indices"));
  if (firsts[0] != 0) return fail(ErrorCode::InvalidValue, "the first index is {}; it must be 0", firsts[0]);
  for (size_t i = 1; i < runs; ++i)
    if (firsts[i] <= firsts[i - 1] || firsts[i] >= count)
      return fail(ErrorCode::InvalidValue,
                  "index {} is {} after {} in a batch of {}: indices must grow and lie in the batch", i, firsts[i],
                  firsts[i - 1], count);
  return {};
}

namespace {

Result<SourceAccess> source_access(CUmemcpySrcAccessOrder order, unsigned flags) {
  if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
    return fail(ErrorCode::InvalidValue, "srcAccessOrder is {}, which is no CUmemcpySrcAccessOrder",
                static_cast<int>(order));
  if (flags & ~static_cast<unsigned>(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE))
    return fail(ErrorCode::InvalidValue, "the flags {:#x} of a copy are none of CUmemcpyFlags", flags);
  return static_cast<SourceAccess>(order);
}

struct Batch {
  CUdeviceptr* destinations;
  CUdeviceptr* sources;
  size_t* sizes;
  size_t count;
  CUmemcpyAttributes* attributes;
  size_t* firsts;
  size_t runs;
};

Result<> run(const Batch& batch, size_t& failed, CUstream handle) {
  TRY(std::shared_ptr<Stream> stream, batch_stream(handle));
  TRY(given(batch.destinations, "dsts"));
  TRY(given(batch.sources, "srcs"));
  TRY(given(batch.sizes, "sizes"));
  TRY(given(batch.attributes, "attrs"));
  TRY(check_runs(batch.firsts, batch.runs, batch.count));
  std::vector<BatchedCopy> copies;
  for (size_t i = 0, run = 0; i < batch.count; ++i) {
    if (run + 1 < batch.runs && batch.firsts[run + 1] == i) ++run;
    failed = i;
    TRY(const SourceAccess access, source_access(batch.attributes[run].srcAccessOrder, batch.attributes[run].flags));
    BatchedCopy& copy = copies.emplace_back();
    copy.command = {.destination = batch.destinations[i], .source = batch.sources[i], .width = batch.sizes[i]};
    copy.access = access;
  }
  return copy_batch(*stream, copies, failed);
}

// ---- boxes ----

/// Bytes of an operand's element, which is a texel of an array; 0 for other memory. Error: InvalidHandle.
Result<size_t> element_bytes(const CUmemcpy3DOperand& operand) {
  switch (operand.type) {
    case CU_MEMCPY_OPERAND_TYPE_POINTER:
      return 0;
    case CU_MEMCPY_OPERAND_TYPE_ARRAY: {
      TRY(std::shared_ptr<Array> array, live_array(operand.op.array.array));
      return array->texel_bytes;
    }
    case CU_MEMCPY_OPERAND_TYPE_MAX:
      break;
  }
  return fail(ErrorCode::InvalidValue, "the type {} of an operand is no CUmemcpy3DOperandType",
              static_cast<int>(operand.type));
}

Result<size_t> in_bytes(size_t elements, size_t bytes) {
  size_t product = 0;
  if (!__builtin_mul_overflow(elements, bytes, &product)) return product;
  return fail(ErrorCode::InvalidValue, "{} elements of {} bytes are larger than any memory", elements, bytes);
}

/// One end of the copy, as box copies have it. "When either of these values is zero, that aspect of the operand is
/// considered to be tightly packed according to the copy extent."
struct End3D {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  size_t x_bytes = 0, y = 0, z = 0;
  size_t pitch = 0, height = 0;
};

Result<End3D> end_of(const CUmemcpy3DOperand& operand, const CUextent3D& extent, size_t element) {
  End3D end;
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const CUoffset3D& offset = operand.op.array.offset;
    end.type = CU_MEMORYTYPE_ARRAY;
    end.array = operand.op.array.array;
    TRY(end.x_bytes, in_bytes(offset.x, element));
    end.y = offset.y;
    end.z = offset.z;
    return end;
  }
  const auto& place = operand.op.ptr;
  if (place.rowLength && place.rowLength < extent.width)
    return fail(ErrorCode::InvalidValue, "rowLength is {}, less than the width of {}", place.rowLength, extent.width);
  if (place.layerHeight && place.layerHeight < extent.height)
    return fail(ErrorCode::InvalidValue, "layerHeight is {}, less than the height of {}", place.layerHeight,
                extent.height);
  end.address = place.ptr;
  TRY(end.pitch, in_bytes(place.rowLength ? place.rowLength : extent.width, element));
  end.height = place.layerHeight ? place.layerHeight : extent.height;
  return end;
}

Result<BatchedCopy> box_of(const CUDA_MEMCPY3D_BATCH_OP& op) {
  TRY(const SourceAccess access, source_access(op.srcAccessOrder, op.flags));
  const CUextent3D& extent = op.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
    return fail(ErrorCode::InvalidValue, "the extent is {} x {} x {}; none may be 0", extent.width, extent.height,
                extent.depth);
  TRY(const size_t source_element, element_bytes(op.src));
  TRY(const size_t destination_element, element_bytes(op.dst));
  if (source_element && destination_element && source_element != destination_element)
    return fail(ErrorCode::InvalidValue, "the arrays have elements of {} and {} bytes", source_element,
                destination_element);
  const size_t element = std::max<size_t>({source_element, destination_element, 1});
  TRY(const End3D from, end_of(op.src, extent, element));
  TRY(const End3D to, end_of(op.dst, extent, element));
  TRY(const size_t width, in_bytes(extent.width, element));
  TRY(CopyWork work, copy_work({.srcXInBytes = from.x_bytes,
                                .srcY = from.y,
                                .srcZ = from.z,
                                .srcMemoryType = from.type,
                                .srcDevice = from.address,
                                .srcArray = from.array,
                                .srcPitch = from.pitch,
                                .srcHeight = from.height,
                                .dstXInBytes = to.x_bytes,
                                .dstY = to.y,
                                .dstZ = to.z,
                                .dstMemoryType = to.type,
                                .dstDevice = to.address,
                                .dstArray = to.array,
                                .dstPitch = to.pitch,
                                .dstHeight = to.height,
                                .WidthInBytes = width,
                                .Height = extent.height,
                                .Depth = extent.depth}));
  return BatchedCopy{std::move(work.command), work.destination, work.source, access};
}

Result<> run_boxes(size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, size_t& failed, unsigned long long flags,
                   CUstream handle) {
  TRY(std::shared_ptr<Stream> stream, batch_stream(handle));
  if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
  if (count == 0) return fail(ErrorCode::InvalidValue, "numOps is 0");
  TRY(given(operations, "opList"));
  std::vector<BatchedCopy> copies;
  for (failed = 0; failed < count; ++failed) {
    TRY(BatchedCopy copy, box_of(operations[failed]));
    copies.push_back(std::move(copy));
  }
  return copy_batch(*stream, copies, failed);
}

/// "The value will be SIZE_MAX if the error doesn't pertain to any specific copy."
template <typename Body>
CUresult batch_call(size_t* failed_out, Body&& body, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        size_t failed = SIZE_MAX;
        Result<> result = body(failed);
        if (failed_out && !result) *failed_out = failed;
        return result;
      },
      call);
}

}  // namespace

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, CUstream hStream) {
  return batch_call(nullptr, [&](size_t& failed) {
    return run({dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs}, failed, hStream);
  });
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx,
                            CUstream hStream) {
  return batch_call(failIdx, [&](size_t& failed) {
    return run({dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs}, failed, hStream);
  });
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, unsigned long long flags,
                                 CUstream hStream) {
  return batch_call(nullptr, [&](size_t& failed) { return run_boxes(numOps, opList, failed, flags, hStream); });
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, size_t* failIdx, unsigned long long flags,
                              CUstream hStream) {
  return batch_call(failIdx, [&](size_t& failed) { return run_boxes(numOps, opList, failed, flags, hStream); });
}
