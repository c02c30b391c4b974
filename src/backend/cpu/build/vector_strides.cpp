#include "backend/cpu/build/vector_strides.h"

#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/vector_lanes.h"

namespace cupola::cpu::build {
namespace {

using llvm::Type;
using llvm::Value;

/// Numbers of whole bytes that fit a register, and addresses.
bool is_plain(Type* type) {
  if (type->isPointerTy() || type->isFloatTy() || type->isDoubleTy() || type->isHalfTy()) return true;
  return type->isIntegerTy(8) || type->isIntegerTy(16) || type->isIntegerTy(32) || type->isIntegerTy(64);
}

bool are_strides(const Lanes& lanes, const Value* address, Type* type) {
  const Shape shape = lanes.shape(address);
  return shape.has_steps() && shape.stride != 0 && !lanes.has_mask() && is_plain(type) &&
         lanes.at_length < Lanes::kMostAtLength;
}

/// The same bits as a number that every processor has registers for.
Type* bits_of(Lanes& lanes, Type* type) {
  return type->isHalfTy() ? lanes.builder.getInt16Ty() : type;
}

/// Each lane's place; of those that segments share the last segment's alone.
class Places {
 public:
  Places(Lanes& lanes, Value* address)
      : builder_(lanes.builder),
        shape_(lanes.shape(address)),
        count_(shape_.lanes_in_step(lanes.blocks)),
        bases_(shape_.is_segmented() ? lanes.bases(address) : Bases{lanes.scalar(address)}) {}

  unsigned count() const { return count_ * static_cast<unsigned>(bases_.size()); }
  Value* of(unsigned lane) const {
    const auto distance = static_cast<uint64_t>(shape_.stride * (lane % count_));
    return builder_.CreatePtrAdd(bases_[lane / count_], builder_.getInt64(distance));
  }

 private:
  llvm::IRBuilder<>& builder_;
  const Shape shape_;
  const unsigned count_;
  const Bases bases_;
};

}  // namespace

bool takes_strides(const Lanes& lanes, const llvm::LoadInst& load) {
  return !load.isAtomic() && are_strides(lanes, load.getPointerOperand(), load.getType());
}
bool takes_strides(const Lanes& lanes, const llvm::StoreInst& store) {
  return !store.isAtomic() && are_strides(lanes, store.getPointerOperand(), store.getValueOperand()->getType());
}

Value* load_strides(Lanes& lanes, llvm::LoadInst& load) {
  llvm::IRBuilder<>& builder = lanes.builder;
  ++lanes.at_length;
  Type* type = bits_of(lanes, load.getType());
  const Places places(lanes, load.getPointerOperand());
  Value* read = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, places.count()));
  for (unsigned lane = 0; lane < places.count(); ++lane)
    read = builder.CreateInsertElement(read, builder.CreateAlignedLoad(type, places.of(lane), load.getAlign()), lane);
  if (places.count() < kLanes) read = lanes.join_segments(Bases(lanes.segment_count(), read));
  return builder.CreateBitCast(read, widened(load.getType()));
}

void store_strides(Lanes& lanes, llvm::StoreInst& store, Value* wide) {
  llvm::IRBuilder<>& builder = lanes.builder;
  ++lanes.at_length;
  Type* type = bits_of(lanes, store.getValueOperand()->getType());
  const Places places(lanes, store.getPointerOperand());
  wide = builder.CreateBitCast(wide, widened(type));
  for (unsigned lane = 0; lane < places.count(); ++lane) {
    Value* written = builder.CreateExtractElement(wide, uint64_t{kLanes - places.count() + lane});
    builder.CreateAlignedStore(written, places.of(lane), store.getAlign());
  }
}

}  // namespace cupola::cpu::build
