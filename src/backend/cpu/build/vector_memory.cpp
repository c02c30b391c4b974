#include "backend/cpu/build/vector_memory.h"

#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/gathered_strips.h"
#include "backend/cpu/build/hidden_number.h"
#include "backend/cpu/build/lane_operand.h"
#include "backend/cpu/build/mask_registers.h"
#include "backend/cpu/build/shared_atomics.h"
#include "backend/cpu/build/vector_found_rows.h"
#include "backend/cpu/build/vector_lanes.h"
#include "backend/cpu/build/vector_strides.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

/// Of the last lane among those of `bits`, of which there is one. `wide` begins with lane `first`. LLVM may do so
/// before it asks whether there is one, and look the lane up in memory: its number is one in any case.
Value* of_last_lane(Lanes& lanes, Value* wide, Value* bits, unsigned first = 0) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value* zeros = builder.CreateFreeze(builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, builder.getTrue()));
  Value* last = builder.CreateSub(builder.getInt32(kLanes - 1 - first), zeros);
  return builder.CreateExtractElement(wide, builder.CreateAnd(last, builder.getInt32(kLanes - 1)));
}

/// One instruction for one lane after the other.
class LaneLoop {
 public:
  LaneLoop(Lanes& lanes, Instruction& instruction)
      : lanes_(lanes), builder_(lanes.builder), instruction_(instruction) {}

  void run() {
    if (can_go_straight()) return go_straight();
    gather_operands();
    make_results();
    Value* mask = lanes_.mask();
    Value* all = mask ? lanes_.bits(mask) : static_cast<Value*>(builder_.getInt32(~0u));
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *turn = lanes_.make_block("lane"),
                     *on = lanes_.make_block("on");
    builder_.CreateBr(turn);  // at least one lane is active
    builder_.SetInsertPoint(turn);
    llvm::PHINode* left = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    left->addIncoming(all, before);
    Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder_.getTrue());
    run_lane(lane);
    Value* rest = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt32(1)));
    left->addIncoming(rest, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpNE(rest, builder_.getInt32(0)), turn, on);
    builder_.SetInsertPoint(on);
    if (llvm::isa<llvm::CallInst>(instruction_)) set_calling_lane(builder_.getInt32(0));
    if (!parts_.empty()) lanes_.define(instruction_, result());
  }

 private:
  /// What takes as little time as going round the loop would, of operands that would lie in memory anyway.
  bool can_go_straight() {
    const auto is_made = [&](Value* operand) {
      return lanes_.shape(operand).is_uniform() || can_remake(lanes_, operand, instruction_);
    };
    return is_shared_atomic(instruction_) && instruction_.use_empty() && !lanes_.has_mask() &&
           llvm::all_of(instruction_.operands(), is_made);
  }

  /// All lanes run it.
  void go_straight() {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      Instruction* copy = instruction_.clone();
      for (llvm::Use& operand : copy->operands()) operand.set(remake(lanes_, operand.get(), builder_.getInt32(lane)));
      builder_.Insert(copy);
    }
  }

  /// Each lane's operands, in memory; those that all have, as they are.
  void gather_operands() {
    for (Value* operand : instruction_.operands()) {
      const bool is_same = llvm::isa<llvm::Function>(operand) || lanes_.shape(operand).is_uniform();
      llvm::AllocaInst* copy = is_same ? nullptr : lanes_.scratch(widened(operand->getType()), "lanes");
      if (copy) builder_.CreateStore(builder_.CreateFreeze(lanes_.vector(operand)), copy);  // lanes may not be there
      operands_.push_back(copy && is_shared_atomic(instruction_) ? in_memory(copy) : copy);
      uniform_.push_back(!is_same ? nullptr : llvm::isa<llvm::Function>(operand) ? operand : lanes_.scalar(operand));
    }
  }

  /// Kept there where the loop is written out. Taken out of a register, the places of updates are known so late that
  /// processors go on with those behind before, and begin again where two meet: on Zen 4 twenty times as long.
  Value* in_memory(llvm::AllocaInst* copy) { return hidden_number(builder_, copy); }

  void make_results() {
    if (instruction_.use_empty()) return;
    Type* type = instruction_.getType();
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type))
      parts_.append(structure->element_begin(), structure->element_end());
    else if (!type->isVoidTy())
      parts_.push_back(type);
    for (Type* part : parts_) {  // bits in bytes
      Type* stored = part->isIntegerTy(1) ? builder_.getInt8Ty() : part;
      results_.push_back(lanes_.scratch(llvm::ArrayType::get(stored, kLanes), "results"));
      results_.back()->setAlignment(llvm::Align(64));
      builder_.CreateAlignedStore(llvm::Constant::getNullValue(widened(stored)), results_.back(), llvm::Align(64));
    }
  }

  /// Services that report a fault say whose it is.
  void set_calling_lane(Value* lane) {
    Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), lanes_.context,
                                                       offsetof(image::cpu::ThreadContext, calling_lane));
    builder_.CreateStore(lane, place);
  }

  void run_lane(Value* lane) {
    if (llvm::isa<llvm::CallInst>(instruction_)) set_calling_lane(lane);
    Instruction* copy = instruction_.clone();
    for (unsigned i = 0; i < operands_.size(); ++i)
      copy->setOperand(i, operands_[i] ? load_lane(i, lane) : uniform_[i]);
    builder_.Insert(copy);
    for (unsigned i = 0; i < parts_.size(); ++i) {
      Value* part = copy->getType()->isStructTy() ? builder_.CreateExtractValue(copy, i) : copy;
      Type* stored = results_[i]->getAllocatedType()->getArrayElementType();
      if (part->getType() != stored) part = builder_.CreateZExt(part, stored);
      builder_.CreateStore(part, builder_.CreateInBoundsGEP(stored, results_[i], lane));
    }
  }

  Value* load_lane(unsigned operand, Value* lane) {
    Type* type = instruction_.getOperand(operand)->getType();
    if (!type->isIntegerTy(1))
      return builder_.CreateLoad(type, builder_.CreateInBoundsGEP(type, operands_[operand], lane));
    Value* packed = builder_.CreateLoad(builder_.getInt32Ty(), operands_[operand]);
    return builder_.CreateTrunc(builder_.CreateLShr(packed, lane), type);
  }

  Value* result() {
    Type* type = instruction_.getType();
    Value* whole = type->isStructTy() ? llvm::PoisonValue::get(widened(type)) : nullptr;
    for (unsigned i = 0; i < parts_.size(); ++i) {
      Type* stored = results_[i]->getAllocatedType()->getArrayElementType();
      Value* wide = builder_.CreateAlignedLoad(widened(stored), results_[i], results_[i]->getAlign());
      if (stored != parts_[i]) wide = builder_.CreateTrunc(wide, widened(parts_[i]));
      whole = whole ? builder_.CreateInsertValue(whole, wide, i) : wide;
    }
    return whole;
  }

  Lanes& lanes_;
  llvm::IRBuilder<>& builder_;
  Instruction& instruction_;
  llvm::SmallVector<Value*, 8> operands_;  ///< where they lie; null: the same for all lanes
  llvm::SmallVector<Value*, 8> uniform_;
  llvm::SmallVector<llvm::AllocaInst*, 2> results_;
  llvm::SmallVector<Type*, 2> parts_;
};

/// Gathers numbers of 8 or 16 bits as parts of the aligned words that they lie in, which gathers are made for.
Value* gather_parts(Lanes& lanes, Value* from, Type* type) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Type *words = widened(builder.getInt32Ty()), *longs = widened(builder.getInt64Ty());
  const unsigned width = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  Value* addresses = builder.CreatePtrToInt(from, longs);
  Value* in_word = builder.CreateAnd(addresses, lanes.splat(builder.getInt64(3)));
  Value* places = builder.CreateIntToPtr(builder.CreateSub(addresses, in_word), widened(builder.getPtrTy()));
  Value* word = builder.CreateMaskedGather(words, places, llvm::Align(4), lanes.full_mask(lanes.current),
                                           llvm::Constant::getNullValue(words));
  Value* shift = builder.CreateShl(builder.CreateTrunc(in_word, words), uint64_t{3});
  Value* part = builder.CreateTrunc(builder.CreateLShr(word, shift), widened(builder.getIntNTy(width)));
  return builder.CreateBitCast(part, widened(type));
}

bool can_gather_parts(const Lanes& lanes, Type* type, llvm::Align alignment) {
  Type* word = Type::getInt32Ty(type->getContext());
  const bool is_aligned = type->isIntegerTy(8) || ((type->isIntegerTy(16) || type->isHalfTy() || type->isBFloatTy()) &&
                                                   alignment >= llvm::Align(2));
  return is_aligned && lanes.target.isLegalMaskedGather(widened(word), llvm::Align(4));
}

/// Around wide accesses, which cannot be volatile themselves: others are not moved over it or merged, and loops that
/// wait for what is read are known to. No instruction.
void keep_volatile(Lanes& lanes, const llvm::Instruction& access) {
  if (access.isVolatile())
    lanes.builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

/// What one instruction reads or writes of a row.
llvm::FixedVectorType* row_type(const Lanes& lanes, Value* address, Type* type) {
  return llvm::FixedVectorType::get(type, lanes.shape(address).lanes_in_step(lanes.blocks));
}

/// A segment's row: a plain one for all its lanes, a masked one for some, none for none. By registers for masks one way
/// does for all.
template <typename All, typename Some>
Value* segment_row(Lanes& lanes, Value* mask, unsigned segment, Type* type, All all, Some some) {
  llvm::IRBuilder<>& builder = lanes.builder;
  if (has_mask_registers(lanes.machine)) return some();
  Value* running = lanes.running_lanes(mask, segment);
  Value *is_whole = builder.CreateICmpEQ(running, builder.getInt32(lanes.segment_bits(segment))),
        *is_none = builder.CreateICmpEQ(running, builder.getInt32(0));
  const auto none = [&]() -> Value* { return type ? llvm::Constant::getNullValue(type) : nullptr; };
  const auto others = [&] { return lanes.choose(is_none, type, none, some); };
  return lanes.choose(is_whole, type, all, others);
}

/// Places beside each other, of the warp or of each segment. Those that all segments share are read once, by the lanes
/// of any of them.
Value* load_row(Lanes& lanes, llvm::LoadInst& load) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value *address = load.getPointerOperand(), *mask = lanes.mask();
  llvm::FixedVectorType* type = row_type(lanes, address, load.getType());
  const auto read = [&](Value* from, Value* wanted) -> Value* {
    if (!wanted) return builder.CreateAlignedLoad(type, from, load.getAlign());
    return builder.CreateMaskedLoad(type, from, load.getAlign(), wanted, llvm::Constant::getNullValue(type));
  };
  const auto wanted = [&](unsigned i) { return mask ? lanes.segment(mask, i) : nullptr; };
  switch (lanes.shape(address).kind) {
    case Shape::Kind::Affine:
      return read(lanes.scalar(address), mask);
    case Shape::Kind::Periodic: {
      Value* any = wanted(0);
      for (unsigned i = 1; any && i < lanes.segment_count(); ++i) any = builder.CreateOr(any, wanted(i));
      return lanes.join_segments(Bases(lanes.segment_count(), read(lanes.scalar(address), any)));
    }
    default: {
      Bases parts;
      for (const auto& [number, from] : llvm::enumerate(lanes.bases(address))) {
        const auto i = static_cast<unsigned>(number);
        const auto all = [&] { return read(from, nullptr); };
        const auto some = [&] { return read(from, wanted(i)); };
        parts.push_back(mask ? segment_row(lanes, mask, i, type, all, some) : all());
      }
      return lanes.join_segments(parts);
    }
  }
}

/// The other way round. Where segments share places the last one's lanes write last; without a mask they alone do.
void store_row(Lanes& lanes, llvm::StoreInst& store, Value* wide) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value *address = store.getPointerOperand(), *mask = lanes.mask();
  const auto write = [&](Value* value, Value* to, Value* lanes_to) {
    if (lanes_to)
      builder.CreateMaskedStore(value, to, store.getAlign(), lanes_to);
    else
      builder.CreateAlignedStore(value, to, store.getAlign());
  };
  const Shape::Kind kind = lanes.shape(address).kind;
  if (kind == Shape::Kind::Affine) return write(wide, lanes.scalar(address), mask);
  const Bases to = lanes.bases(address);
  const unsigned first = kind == Shape::Kind::Periodic && !mask ? lanes.segment_count() - 1 : 0;
  for (unsigned i = first; i < lanes.segment_count(); ++i) {
    const auto store_by = [&](Value* lanes_to) -> Value* {
      write(lanes.segment(wide, i), to[i], lanes_to);
      return nullptr;
    };
    const auto all = [&] { return store_by(nullptr); };
    const auto some = [&] { return store_by(lanes.segment(mask, i)); };
    mask ? segment_row(lanes, mask, i, nullptr, all, some) : all();
  }
}

/// To a place that the lanes of a segment share: what the last of them writes stays.
void store_for_segments(Lanes& lanes, llvm::StoreInst& store) {
  llvm::IRBuilder<>& builder = lanes.builder;
  lanes.accesses[&store] = Access::Segments;
  Value *value = store.getValueOperand(), *mask = lanes.mask();
  const Bases to = lanes.bases(store.getPointerOperand());
  const bool is_flat = lanes.shape(value).is_flat();
  const Bases values = is_flat ? lanes.bases(value) : Bases();
  Value* wide = is_flat ? nullptr : lanes.vector(value);
  const auto write = [&](Value* what, Value* place) {
    builder.CreateAlignedStore(what, place, store.getAlign(), store.isVolatile());
  };
  for (unsigned i = 0; i < lanes.segment_count(); ++i) {
    if (!mask) {
      const uint64_t last = (i + 1) * lanes.segment_lanes() - 1;
      write(is_flat ? values[i] : builder.CreateExtractElement(wide, last), to[i]);
      continue;
    }
    Value* running = lanes.running_lanes(mask, i);
    lanes.when(builder.CreateICmpNE(running, builder.getInt32(0)), [&] {
      const unsigned first = i * lanes.segment_lanes();
      write(is_flat ? values[i] : of_last_lane(lanes, lanes.segment(wide, i), running, first), to[i]);
    });
  }
}

/// What the target has instructions for; the rest it would do with a branch for each lane.
Access way_to_load(const Lanes& lanes, llvm::LoadInst& load) {
  Type* type = load.getType();
  const bool needs_mask = lanes.has_mask();
  const llvm::Align alignment = load.getAlign();
  if (load.isAtomic()) return Access::LaneByLane;
  Value* address = load.getPointerOperand();
  if (is_row(lanes.shape(address), type, lanes.layout) &&
      (!needs_mask || lanes.target.isLegalMaskedLoad(row_type(lanes, address, type), alignment, 0)))
    return Access::Row;
  return can_gather(lanes, type, alignment) ? Access::Gather : Access::LaneByLane;
}

/// Whether one instruction can do it for all lanes, or for those that run.
bool can_be_wide(const Lanes& lanes, const llvm::LoadInst& load) {
  return !load.isAtomic() &&
         (!lanes.has_mask() || lanes.target.isLegalMaskedLoad(widened(load.getType()), load.getAlign(), 0));
}
bool can_be_wide(const Lanes& lanes, const llvm::StoreInst& store) {
  Type* type = widened(store.getValueOperand()->getType());
  return !store.isAtomic() && (!lanes.has_mask() || lanes.target.isLegalMaskedStore(type, store.getAlign(), 0));
}

/// Whether runs with gaps can be written: a row needs no mask where all lanes run.
bool has_masked_stores(const Lanes& lanes, const llvm::StoreInst& store) {
  return lanes.target.isLegalMaskedStore(widened(store.getValueOperand()->getType()), store.getAlign(), 0);
}

/// The way for the runs that are found (`in_runs`, given their length), or the other one.
template <typename InRuns, typename Otherwise>
Value* choose_way(Lanes& lanes, const FoundRuns& found, Type* type, bool rows_only, InRuns in_runs,
                  Otherwise otherwise) {
  llvm::IRBuilder<>& builder = lanes.builder;
  const auto from = [&](auto& next, unsigned run) -> Value* {
    if (run == 0) return otherwise();
    const auto smaller = [&] { return next(next, rows_only ? 0 : run / 2); };
    return lanes.choose(
        builder.CreateICmpEQ(found.run, builder.getInt32(run)), type, [&] { return in_runs(run); }, smaller);
  };
  return from(from, kLanes);
}

}  // namespace

bool can_gather(const Lanes& lanes, Type* type, llvm::Align alignment) {
  return lanes.target.isLegalMaskedGather(widened(type), alignment) || can_gather_parts(lanes, type, alignment);
}

Value* gather(Lanes& lanes, Value* addresses, Type* type, llvm::Align alignment) {
  if (can_gather_parts(lanes, type, alignment)) return gather_parts(lanes, addresses, type);
  return lanes.builder.CreateMaskedGather(widened(type), addresses, alignment, lanes.full_mask(lanes.current),
                                          llvm::Constant::getNullValue(widened(type)));
}

void widen_load(Lanes& lanes, llvm::LoadInst& load) {
  const Access way = way_to_load(lanes, load);
  Value* address = load.getPointerOperand();
  Type* type = load.getType();
  const bool has_strides = way != Access::Row && takes_strides(lanes, load);
  Value* has_steps = has_strides ? lanes.straight(address) : nullptr;
  if (way == Access::LaneByLane && (!has_strides || has_steps)) return widen_lane_by_lane(lanes, load);
  lanes.accesses[&load] = way;
  keep_volatile(lanes, load);
  const auto row = [&] { return load_row(lanes, load); };
  const auto gathered = [&] { return gather(lanes, lanes.vector(address), type, load.getAlign()); };
  if (has_strides) {
    const auto strides = [&] { return load_strides(lanes, load); };
    return lanes.define(load, has_steps ? lanes.choose(has_steps, widened(type), strides, gathered) : strides());
  }
  if (way == Access::Gather) {
    const auto found = can_be_wide(lanes, load) ? look_for_runs(lanes, address, type) : std::nullopt;
    if (!found) return lanes.define(load, gathered());
    lanes.accesses[&load] = Access::FoundRuns;
    const auto in_runs = [&](unsigned run) { return load_runs(lanes, load, *found, run); };
    Value* row = choose_way(lanes, *found, widened(type), !lanes.is_hot, in_runs, gathered);
    note_ways_of_one_read(*row);
    return lanes.define(load, row);
  }
  Value* condition = lanes.straight(address);
  lanes.define(load, condition ? lanes.choose(condition, widened(type), row, gathered) : row());
}

void load_for_segments(Lanes& lanes, llvm::LoadInst& load) {
  llvm::IRBuilder<>& builder = lanes.builder;
  lanes.accesses[&load] = Access::Segments;
  Bases from = lanes.bases(load.getPointerOperand());
  const Bases runs = lanes.running_segments();
  Value* instead = from.back();  // of the first that runs
  for (size_t i = runs.size(); i > 0; --i) instead = builder.CreateSelect(runs[i - 1], from[i - 1], instead);
  for (const auto& [is_running, place] : llvm::zip(runs, from))
    place = builder.CreateSelect(is_running, place, instead);
  for (Value*& place : from) {
    auto* made = llvm::cast<llvm::LoadInst>(load.clone());
    made->setOperand(0, place);
    place = builder.Insert(made);
  }
  lanes.define(load, from);
}

void widen_store(Lanes& lanes, llvm::StoreInst& store) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value *address = store.getPointerOperand(), *value = store.getValueOperand();
  Value* mask = lanes.mask();
  const llvm::Align alignment = store.getAlign();
  if (lanes.shape(address).is_uniform()) {
    lanes.accesses[&store] = Access::Once;
    const bool is_same = lanes.shape(value).is_uniform();
    Value* last = is_same ? lanes.scalar(value)
                  : !mask ? builder.CreateExtractElement(lanes.vector(value), kLanes - 1)
                          : of_last_lane(lanes, lanes.vector(value), lanes.bits(mask));
    llvm::StoreInst* made = builder.CreateAlignedStore(last, lanes.scalar(address), alignment, store.isVolatile());
    made->setAtomic(store.getOrdering(), store.getSyncScopeID());
    return;
  }
  if (lanes.shape(address).is_flat() && !store.isAtomic()) return store_for_segments(lanes, store);
  Type* type = widened(value->getType());
  const bool can_scatter = lanes.target.isLegalMaskedScatter(type, alignment);
  const bool can_be_row =
      is_row(lanes.shape(address), value->getType(), lanes.layout) &&
      (!mask || lanes.target.isLegalMaskedStore(row_type(lanes, address, value->getType()), alignment, 0));
  const bool has_strides = !can_be_row && takes_strides(lanes, store);
  Value* has_steps = has_strides ? lanes.straight(address) : nullptr;
  const bool always = has_strides && !has_steps;
  const auto found = !can_be_row && !has_strides && can_be_wide(lanes, store)
                         ? look_for_runs(lanes, address, value->getType())
                         : std::nullopt;
  if (store.isAtomic() || !(can_be_row || can_scatter || always || found)) return widen_lane_by_lane(lanes, store);
  lanes.accesses[&store] = can_be_row ? Access::Row : Access::Gather;
  keep_volatile(lanes, store);
  Value* wide = lanes.vector(value);
  const auto row = [&]() -> Value* {
    store_row(lanes, store, wide);
    return nullptr;
  };
  const auto scatter = [&]() -> Value* {
    if (!can_scatter) {
      LaneLoop(lanes, store).run();
      return nullptr;
    }
    return builder.CreateMaskedScatter(wide, lanes.vector(address), alignment, lanes.full_mask(lanes.current));
  };
  const auto strides = [&]() -> Value* {
    store_strides(lanes, store, wide);
    return nullptr;
  };
  if (always) return void(strides());
  if (has_strides) return void(lanes.choose(has_steps, nullptr, strides, scatter));
  const auto in_runs = [&](unsigned run) -> Value* {
    store_runs(lanes, store, wide, *found, run);
    return nullptr;
  };
  if (found) {
    const bool can_be_runs = has_masked_stores(lanes, store);
    if (can_be_runs) lanes.accesses[&store] = Access::FoundRuns;
    return void(choose_way(lanes, *found, nullptr, !can_be_runs || !lanes.is_hot, in_runs, scatter));
  }
  if (!can_be_row) return void(scatter());
  Value* condition = lanes.straight(address);
  if (!condition) return void(row());
  lanes.choose(condition, nullptr, row, scatter);
}

void widen_lane_by_lane(Lanes& lanes, Instruction& instruction) {
  if (instruction.mayReadOrWriteMemory()) lanes.accesses[&instruction] = Access::LaneByLane;
  LaneLoop(lanes, instruction).run();
}

}  // namespace cupola::cpu::build
