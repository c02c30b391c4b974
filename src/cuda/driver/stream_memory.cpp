// Values in memory that streams wait for and write. "CUDA Driver API, Stream Memory Operations".

#include "cuda/driver/stream_memory.h"

#include <cstring>

#include "runtime/capture.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

constexpr unsigned kFlush = CU_STREAM_WAIT_VALUE_FLUSH;
constexpr unsigned kMostOps = 256;

// "CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER: this flag is not supported in the v2 API."
constexpr unsigned kWriteFlags = CU_STREAM_WRITE_VALUE_DEFAULT,
                   kFirstWriteFlags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;

Result<MemoryOp> wait_op(CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags) {
  if ((flags & ~kFlush) > CU_STREAM_WAIT_VALUE_NOR)
    return fail(ErrorCode::InvalidValue, "the flags {:#x} are no way to compare", flags);
  return MemoryOp{MemoryOp::Kind::Wait, address, value, bytes, flags, static_cast<Comparison>(flags & ~kFlush)};
}

Result<MemoryOp> write_op(CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags, unsigned known) {
  if (flags & ~known) return fail(ErrorCode::InvalidValue, "the flags {:#x} are no way to write", flags);
  return MemoryOp{MemoryOp::Kind::Write, address, value, bytes, flags};
}

Result<MemoryOp> barrier_op(unsigned flags) {
  if (flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
    return fail(ErrorCode::InvalidValue, "the flags {:#x} are no kind of barrier", flags);
  return MemoryOp{.kind = MemoryOp::Kind::Barrier, .flags = flags};
}

Result<MemoryOp> op_of(const CUstreamBatchMemOpParams& op) {
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_op(op.waitValue.address, op.waitValue.value, 4, op.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_op(op.waitValue.address, op.waitValue.value64, 8, op.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_op(op.writeValue.address, op.writeValue.value, 4, op.writeValue.flags, kFirstWriteFlags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_op(op.writeValue.address, op.writeValue.value64, 8, op.writeValue.flags, kFirstWriteFlags);
    case CU_STREAM_MEM_OP_BARRIER:
      return barrier_op(op.memoryBarrier.flags);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return fail(ErrorCode::NotSupported, "the device has no remote writes to flush, as its attributes say");
  }
  return fail(ErrorCode::InvalidValue, "{} is no operation on memory", static_cast<int>(op.operation));
}

/// Does them in the stream, all or none; a captured stream gets a node.
Result<> submit(CUstream handle, std::vector<MemoryOp> ops) {
  TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
  Device& device = stream->context().device();
  std::vector<hal::Command> commands;
  for (const MemoryOp& op : ops) TRY(append_commands(device.hal(), op, commands));
  if (const std::shared_ptr<Capture> capture = stream->capture()) {
    TRY(capture->add(*stream, MemoryOpsWork{&stream->context(), &device, std::move(ops)}));
    return {};
  }
  stream->submit_between([&](const Ticket&) { return std::move(commands); });
  return {};
}

CUresult wait(CUstream stream, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags, const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(MemoryOp op, wait_op(address, value, bytes, flags));
        return submit(stream, {op});
      },
      call);
}

CUresult write(CUstream stream, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags, unsigned known,
               const char* call) {
  return api_call(
      [&]() -> Result<> {
        TRY(MemoryOp op, write_op(address, value, bytes, flags, known));
        return submit(stream, {op});
      },
      call);
}

}  // namespace

Result<std::vector<MemoryOp>> cupola::driver::memory_ops(const CUstreamBatchMemOpParams* params, unsigned count,
                                                         unsigned flags) {
  if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
  if (count == 0 || count > kMostOps)
    return fail(ErrorCode::InvalidValue, "{} operations; there may be 1 to {}", count, kMostOps);
  TRY(given(params, "paramArray"));
  std::vector<MemoryOp> ops;
  for (unsigned i = 0; i < count; ++i) {
    TRY(MemoryOp op, op_of(params[i]));
    ops.push_back(op);
  }
  return ops;
}

CUstreamBatchMemOpParams cupola::driver::params_of(const MemoryOp& op) {
  CUstreamBatchMemOpParams params;
  std::memset(&params, 0, sizeof params);
  const auto describe = [&](auto& value, CUstreamBatchMemOpType narrow, CUstreamBatchMemOpType wide) {
    value.operation = op.bytes == 4 ? narrow : wide;
    value.address = op.address;
    value.value64 = op.value;
    value.flags = op.flags;
  };
  switch (op.kind) {
    case MemoryOp::Kind::Wait:
      describe(params.waitValue, CU_STREAM_MEM_OP_WAIT_VALUE_32, CU_STREAM_MEM_OP_WAIT_VALUE_64);
      break;
    case MemoryOp::Kind::Write:
      describe(params.writeValue, CU_STREAM_MEM_OP_WRITE_VALUE_32, CU_STREAM_MEM_OP_WRITE_VALUE_64);
      break;
    case MemoryOp::Kind::Barrier:
      params.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
      params.memoryBarrier.flags = op.flags;
      break;
  }
  return params;
}

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
    TRY(std::vector<MemoryOp> ops, memory_ops(paramArray, count, flags));
    return submit(stream, std::move(ops));
  });
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                            unsigned int flags) {
  return forwarded([&] { return cuStreamBatchMemOp_v2(stream, count, paramArray, flags); });
}
