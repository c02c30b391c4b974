// Values in memory that streams wait for and write. "CUDA Driver API, Stream Memory Operations".

#include "cuda/driver/api.h"
#include "runtime/memory_watch.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

constexpr unsigned kFlush = CU_STREAM_WAIT_VALUE_FLUSH;

Result<> check_wait_flags(unsigned flags) {
  if ((flags & ~kFlush) <= CU_STREAM_WAIT_VALUE_NOR) return {};
  return fail(ErrorCode::InvalidValue, "the flags {:#x} are no way to compare", flags);
}

// "CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER: this flag is not supported in the v2 API."
constexpr unsigned kWriteFlags = CU_STREAM_WRITE_VALUE_DEFAULT,
                   kFirstWriteFlags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;

Result<> check_write_flags(unsigned flags, unsigned known) {
  if (!(flags & ~known)) return {};
  return fail(ErrorCode::InvalidValue, "the flags {:#x} are no way to write", flags);
}

AwaitedValue awaited(CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags) {
  return {address, value, bytes, static_cast<Comparison>(flags & ~kFlush)};
}

CUresult wait(CUstream handle, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags, const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(std::shared_ptr<Stream> stream, usable_stream(handle));
        TRY(check_wait_flags(flags));
        return wait_for_value(*stream, awaited(address, value, bytes, flags));
      },
      call);
}

CUresult write(CUstream handle, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags, unsigned known,
               const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(std::shared_ptr<Stream> stream, usable_stream(handle));
        TRY(check_write_flags(flags, known));
        return write_value(*stream, address, value, bytes);
      },
      call);
}

Result<> check(const CUstreamBatchMemOpParams& op) {
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return check_wait_flags(op.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return check_write_flags(op.writeValue.flags, kFirstWriteFlags);
    case CU_STREAM_MEM_OP_BARRIER:
      if (op.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU) return {};
      return fail(ErrorCode::InvalidValue, "the flags {:#x} are no kind of barrier", op.memoryBarrier.flags);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return fail(ErrorCode::NotSupported, "the device has no remote writes to flush, as its attributes say");
  }
  return fail(ErrorCode::InvalidValue, "{} is no operation on memory", static_cast<int>(op.operation));
}

Result<> enqueue(Stream& stream, const CUstreamBatchMemOpParams& op) {
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_for_value(stream, awaited(op.waitValue.address, op.waitValue.value, 4, op.waitValue.flags));
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_for_value(stream, awaited(op.waitValue.address, op.waitValue.value64, 8, op.waitValue.flags));
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_value(stream, op.writeValue.address, op.writeValue.value, 4);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_value(stream, op.writeValue.address, op.writeValue.value64, 8);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return {};  // what is done in a stream is seen by what comes after
  }
  __builtin_unreachable();
}

}  // namespace

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait(stream, addr, value, 4, flags, __func__);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait(stream, addr, value, 8, flags, __func__);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return write(stream, addr, value, 4, flags, kWriteFlags, __func__);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return write(stream, addr, value, 8, flags, kWriteFlags, __func__);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return forwarded([&] { return cuStreamWaitValue32_v2(stream, addr, value, flags); });
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return forwarded([&] { return cuStreamWaitValue64_v2(stream, addr, value, flags); });
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return write(stream, addr, value, 4, flags, kFirstWriteFlags, __func__);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return write(stream, addr, value, 8, flags, kFirstWriteFlags, __func__);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                               unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Stream> found, usable_stream(stream));
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    if (count == 0 || count > 256) return fail(ErrorCode::InvalidValue, "{} operations; there may be 1 to 256", count);
    TRY(given(paramArray, "paramArray"));
    for (unsigned i = 0; i < count; ++i) TRY(check(paramArray[i]));
    for (unsigned i = 0; i < count; ++i) TRY(enqueue(*found, paramArray[i]));
    return {};
  });
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                            unsigned int flags) {
  return forwarded([&] { return cuStreamBatchMemOp_v2(stream, count, paramArray, flags); });
}
