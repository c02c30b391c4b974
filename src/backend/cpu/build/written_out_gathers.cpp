#include "backend/cpu/build/written_out_gathers.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/hidden_number.h"
#include "backend/cpu/build/mask_registers.h"
#include "backend/cpu/build/processor_line.h"
#include "backend/cpu/build/shared_window.h"
#include "backend/cpu/build/vector_prefetch.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

bool gathers_by_programs(const llvm::TargetMachine& machine) {
  return line_of(machine) == ProcessorLine::Zen;
}

bool is_for_all(const llvm::IntrinsicInst& call, unsigned mask_operand) {
  const auto* mask = llvm::dyn_cast<llvm::Constant>(call.getArgOperand(mask_operand));
  return mask && mask->isAllOnesValue();
}

/// A gather, or a scatter of all lanes.
struct Access {
  llvm::IntrinsicInst* call;
  bool is_gather;

  Value* addresses() const { return call->getArgOperand(is_gather ? 0 : 1); }
  /// Of which lanes; null: of all.
  Value* mask() const { return is_gather && !is_for_all(*call, 1) ? call->getArgOperand(1) : nullptr; }
  llvm::Align alignment() const { return call->getParamAlign(is_gather ? 0 : 1).valueOrOne(); }
  llvm::FixedVectorType* type() const {
    return llvm::cast<llvm::FixedVectorType>(is_gather ? call->getType() : call->getArgOperand(0)->getType());
  }
};

/// As the places of an access are made: numbers of 32 bits, extended, behind a place that all lanes know.
struct Sum {
  llvm::GetElementPtrInst* address;
  llvm::CastInst* numbers;
};

std::optional<Sum> sum_of(const Access& access) {
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(access.addresses());
  if (!address || address->getNumIndices() != 1 || address->getPointerOperandType()->isVectorTy()) return std::nullopt;
  auto* numbers = llvm::dyn_cast<llvm::CastInst>(address->getOperand(1));
  if (!numbers || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(numbers)) return std::nullopt;
  const auto* narrow = llvm::cast<llvm::FixedVectorType>(numbers->getSrcTy());
  if (!narrow->getElementType()->isIntegerTy(32) || narrow->getNumElements() % 2 != 0) return std::nullopt;
  return Sum{address, numbers};
}

/// Lanes with numbers of 32 bits in a register.
constexpr unsigned kLanesOfRegister = 16;

/// Whether its lanes' numbers are put together by a mask in one instruction a register.
bool has_numbers_in_registers(const Access& access, const llvm::TargetMachine& machine) {
  return has_mask_registers(machine) && sum_of(access) && access.type()->getNumElements() % kLanesOfRegister == 0;
}

std::optional<Access> access_of(llvm::Instruction& instruction, const llvm::TargetMachine& machine) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return std::nullopt;
  const bool is_gather = call->getIntrinsicID() == llvm::Intrinsic::masked_gather;
  if (!is_gather && !scatters_all_lanes(instruction)) return std::nullopt;
  const Access access{call, is_gather};
  const unsigned bits = access.type()->getScalarSizeInBits();
  // Lanes that are not there need a place to read.
  if ((bits != 32 && bits != 64) || (access.mask() && !has_numbers_in_registers(access, machine))) return std::nullopt;
  return access;
}

bool stores_a_row(const llvm::BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return store && store->getValueOperand()->getType()->isVectorTy();
  });
}

/// Whether the code found out that there is no row, which is rare: another way reads or writes one.
bool is_beside_row(const Access& access) {
  const llvm::BasicBlock* block = access.call->getParent();
  if (access.is_gather)
    return access.call->hasOneUse() && llvm::isa<llvm::PHINode>(access.call->user_back()) &&
           block->getSingleSuccessor();
  const llvm::BasicBlock* before = block->getSinglePredecessor();
  return before && llvm::any_of(llvm::successors(before), [&](const llvm::BasicBlock* way) {
           return way != block && way->getSingleSuccessor() == block->getSingleSuccessor() && stores_a_row(*way);
         });
}

/// The places of an access, of one lane after the other. Lanes that are not there have the place of one that is, of the
/// first in their register; in a register of which none is, some place.
class Places {
 public:
  Places(llvm::IRBuilder<>& builder, const Access& access)
      : builder_(builder), access_(access), sum_(sum_of(access)), lanes_(access.type()->getNumElements()) {
    if (!sum_) return;
    Value* numbers = sum_->numbers->getOperand(0);
    if (access.mask())
      numbers = numbers_of_others(numbers);
    else
      add_base(lanes_, sum_->address->getPointerOperand());
    pairs_ = builder.CreateBitCast(numbers, llvm::FixedVectorType::get(builder.getInt64Ty(), lanes_ / 2));
  }

  Value* of(unsigned lane) {
    if (!sum_) return builder_.CreateExtractElement(access_.addresses(), lane);
    // Hidden, as LLVM 22's code generation for x86 forgets half of a pair of which it knows bits: where numbers below 8
    // are or'ed with 24, the first one's place would be made of both.
    if (lane % 2 == 0) pair_ = hidden_number(builder_, builder_.CreateExtractElement(pairs_, lane / 2));
    const bool is_signed = llvm::isa<llvm::SExtInst>(sum_->numbers);
    Value* index = nullptr;
    if (lane % 2 != 0)
      index = is_signed ? builder_.CreateAShr(pair_, 32) : builder_.CreateLShr(pair_, 32);
    else
      index = builder_.CreateIntCast(builder_.CreateTrunc(pair_, builder_.getInt32Ty()), pair_->getType(), is_signed);
    return builder_.CreateGEP(sum_->address->getSourceElementType(), bases_[lane], index, "",
                              sum_->address->getNoWrapFlags());
  }

 private:
  /// Hidden, as LLVM 22 takes apart what moves with a loop and adds a part to each place before.
  void add_base(unsigned lanes, Value* base) { bases_.append(lanes, hidden_number(builder_, base)); }

  Value* numbers_of_others(Value* numbers) {
    auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), kLanesOfRegister);
    llvm::BasicBlock& entry = access_.call->getFunction()->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    Value* base = sum_->address->getPointerOperand();
    Value* some_place =
        at_entry.CreateAddrSpaceCast(at_entry.CreateAlloca(access_.type()->getElementType()), base->getType());
    llvm::SmallVector<Value*, 2> parts;
    for (unsigned first = 0; first < lanes_; first += kLanesOfRegister) {
      const auto lanes = llvm::createSequentialMask(first, kLanesOfRegister, 0);
      Value* part = builder_.CreateShuffleVector(numbers, lanes);
      Value* mask = builder_.CreateShuffleVector(access_.mask(), lanes);
      Value* those_there = builder_.CreateIntrinsic(llvm::Intrinsic::experimental_vector_compress, {type},
                                                    {part, mask, llvm::Constant::getNullValue(type)});
      Value* one = builder_.CreateShuffleVector(those_there, llvm::SmallVector<int>(kLanesOfRegister, 0));
      parts.push_back(builder_.CreateSelect(mask, part, one));
      add_base(kLanesOfRegister, builder_.CreateSelect(builder_.CreateOrReduce(mask), base, some_place));
    }
    return llvm::concatenateVectors(builder_, parts);
  }

  llvm::IRBuilder<>& builder_;
  const Access& access_;
  const std::optional<Sum> sum_;  ///< nothing: the places are others
  const unsigned lanes_;
  llvm::SmallVector<Value*, 32> bases_;  ///< of each lane the place that all know
  Value* pairs_ = nullptr;               ///< of the numbers
  Value* pair_ = nullptr;
};

/// What a scatter writes, of one lane after the other. What has just been computed is taken out of memory: the
/// processor's units for rows, which are to compute the next one, have no part in it.
class Numbers {
 public:
  Numbers(llvm::IRBuilder<>& builder, const Access& access)
      : builder_(builder), type_(access.type()), row_(access.call->getArgOperand(0)) {
    const auto* computed = llvm::dyn_cast<llvm::Instruction>(row_);
    if (!computed || llvm::isa<llvm::LoadInst, llvm::PHINode>(computed) ||
        computed->getParent() != access.call->getParent())
      return;
    const llvm::Align line(64);
    llvm::BasicBlock& entry = access.call->getFunction()->getEntryBlock();
    room_ = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type_);
    room_->setAlignment(line);
    builder.CreateAlignedStore(row_, room_, line, /*isVolatile=*/true);
  }

  Value* of(unsigned lane) {
    if (!room_) return builder_.CreateExtractElement(row_, lane);
    llvm::Type* type = type_->getElementType();
    Value* place = builder_.CreateConstInBoundsGEP1_32(type, room_, lane);
    return builder_.CreateAlignedLoad(type, place, llvm::Align(type->getScalarSizeInBits() / 8), /*isVolatile=*/true);
  }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::FixedVectorType* type_;
  Value* row_;
  llvm::AllocaInst* room_ = nullptr;  ///< null: it is taken out of registers
};

void write_out_gather(const Access& access) {
  llvm::IRBuilder<> builder(access.call);
  Places places(builder, access);
  llvm::FixedVectorType* type = access.type();
  Value* row = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    llvm::Instruction* read = builder.CreateAlignedLoad(type->getElementType(), places.of(lane), access.alignment());
    read->setAAMetadata(access.call->getAAMetadata());
    row = builder.CreateInsertElement(row, read, lane);
  }
  if (access.mask()) row = builder.CreateSelect(access.mask(), row, access.call->getArgOperand(2));
  access.call->replaceAllUsesWith(row);
}

/// How many numbers lie in a line, of places that follow each other by them; 0: they do not.
uint64_t numbers_of_line(const Access& access, const Sum& sum) {
  const llvm::DataLayout& layout = access.call->getDataLayout();
  const uint64_t apart = layout.getTypeAllocSize(sum.address->getSourceElementType()).getFixedValue();
  const bool follow = apart <= layout.getTypeStoreSize(access.type()->getElementType()).getFixedValue();
  return follow && llvm::isPowerOf2_64(apart) ? kLine / apart : 0;
}

/// Where lanes' places begin a line, the next one is asked for, of lanes in a register for the first two: of lanes that
/// write here and there one does. Processors fetch ahead for a few lines at a time only.
void ask_for_next_lines(llvm::IRBuilder<>& builder, const Access& access, const llvm::TargetMachine& machine) {
  constexpr unsigned kMostLines = 2;
  if (!has_numbers_in_registers(access, machine) || is_in_window(*access.addresses())) return;
  const Sum sum = *sum_of(access);
  const uint64_t line = numbers_of_line(access, sum);
  if (line == 0) return;
  auto* type = llvm::FixedVectorType::get(builder.getInt32Ty(), kLanesOfRegister);
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  for (unsigned first = 0; first < access.type()->getNumElements(); first += kLanesOfRegister) {
    Value* numbers =
        builder.CreateShuffleVector(sum.numbers->getOperand(0), llvm::createSequentialMask(first, kLanesOfRegister, 0));
    Value* begins = builder.CreateICmpEQ(builder.CreateAnd(numbers, llvm::ConstantInt::get(type, line - 1)), zero);
    Value* those =
        builder.CreateIntrinsic(llvm::Intrinsic::experimental_vector_compress, {type}, {numbers, begins, zero});
    for (unsigned i = 0; i < kMostLines; ++i) {
      Value* number = builder.CreateCast(sum.numbers->getOpcode(), builder.CreateExtractElement(those, i),
                                         sum.numbers->getType()->getScalarType());
      Value* next = builder.CreateAdd(number, llvm::ConstantInt::get(number->getType(), line));
      fetch_line_to_write(
          builder, builder.CreateGEP(sum.address->getSourceElementType(), sum.address->getPointerOperand(), next));
    }
  }
}

void write_out_scatter(const Access& access, const llvm::TargetMachine& machine) {
  llvm::IRBuilder<> builder(access.call);
  ask_for_next_lines(builder, access, machine);
  Places places(builder, access);
  Numbers numbers(builder, access);
  for (unsigned lane = 0; lane < access.type()->getNumElements(); ++lane) {
    Value* place = places.of(lane);
    builder.CreateAlignedStore(numbers.of(lane), place, access.alignment())
        ->setAAMetadata(access.call->getAAMetadata());
  }
}

void write_out(const Access& access, const llvm::TargetMachine& machine) {
  access.is_gather ? write_out_gather(access) : write_out_scatter(access, machine);
  access.call->eraseFromParent();
}

/// Of one function, for its code's size: each is some 300 bytes for 16 lanes.
constexpr size_t kMostWrittenOut = 32;

}  // namespace

bool scatters_all_lanes(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::masked_scatter && is_for_all(*call, 2);
}

bool is_number_of_written_out_gather(const llvm::Value& number, const llvm::TargetMachine& machine) {
  const auto is_gather = [&](const llvm::User* user) {
    const auto access = access_of(*llvm::cast<llvm::Instruction>(const_cast<llvm::User*>(user)), machine);
    return access && access->is_gather && !access->mask();
  };
  const auto is_place = [&](const llvm::User* user) {
    return llvm::isa<llvm::GetElementPtrInst>(user) && llvm::any_of(user->users(), is_gather);
  };
  return gathers_by_programs(machine) && llvm::any_of(number.users(), [&](const llvm::User* user) {
           return llvm::isa<llvm::SExtInst, llvm::ZExtInst>(user) && llvm::any_of(user->users(), is_place);
         });
}

void write_out_gathers(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!gathers_by_programs(machine)) return;
  llvm::SmallVector<Access, 16> accesses;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto access = access_of(instruction, machine); access && !is_beside_row(*access))
      accesses.push_back(*access);
  if (accesses.size() > kMostWrittenOut) llvm::erase_if(accesses, [](const Access& each) { return each.mask(); });
  if (accesses.size() > kMostWrittenOut) return;
  for (const Access& access : accesses) write_out(access, machine);
}

}  // namespace cupola::cpu::build
