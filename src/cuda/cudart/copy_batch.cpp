// Many copies in one call. "CUDA Runtime API, Memory Management": cudaMemcpyBatchAsync and cudaMemcpy3DBatchAsync.

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

// One layout under two names.
static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));

CUmemcpy3DOperand driver_operand(const cudaMemcpy3DOperand& operand) {
  CUmemcpy3DOperand same{};
  same.type = static_cast<CUmemcpy3DOperandType>(operand.type);
  if (operand.type == cudaMemcpyOperandTypeArray) {
    const cudaOffset3D& offset = operand.op.array.offset;
    same.op.array = {driver_array(operand.op.array.array), {offset.x, offset.y, offset.z}};
  } else {
    const auto& place = operand.op.ptr;
    same.op.ptr = {address(place.ptr),
                   place.rowLength,
                   place.layerHeight,
                   {static_cast<CUmemLocationType>(place.locHint.type), place.locHint.id}};
  }
  return same;
}

}  // namespace

cudaError_t cudaMemcpyBatchAsync(const void** dsts, const void** srcs, const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, cudaStream_t stream) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemcpyBatchAsync(reinterpret_cast<CUdeviceptr*>(dsts), reinterpret_cast<CUdeviceptr*>(srcs),
                                       const_cast<size_t*>(sizes), count, reinterpret_cast<CUmemcpyAttributes*>(attrs),
                                       attrsIdxs, numAttrs, stream));
  });
}

cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, cudaMemcpy3DBatchOp* opList, unsigned long long flags,
                                   cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    std::vector<CUDA_MEMCPY3D_BATCH_OP> operations;
    for (size_t i = 0; opList && i < numOps; ++i) {
      const cudaMemcpy3DBatchOp& op = opList[i];
      operations.push_back({driver_operand(op.src),
                            driver_operand(op.dst),
                            {op.extent.width, op.extent.height, op.extent.depth},
                            static_cast<CUmemcpySrcAccessOrder>(op.srcAccessOrder),
                            op.flags});
    }
    return check(cu.cuMemcpy3DBatchAsync(numOps, opList ? operations.data() : nullptr, flags, stream));
  });
}
