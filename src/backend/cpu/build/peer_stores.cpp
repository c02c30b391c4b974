#include "backend/cpu/build/peer_stores.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "backend/cpu/build/vector_shapes.h"
#include "image/thread_operations.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using namespace llvm::PatternMatch;

/// Bits that the number may have set; of one of other than 32 bits all.
uint64_t possible_bits(Value* number) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(number);
  if (!instruction || !number->getType()->isIntegerTy(32)) return ~uint64_t{0};
  return llvm::computeKnownBits(number, instruction->getDataLayout()).getMaxValue().getZExtValue();
}

/// Some bits of a number, all of which may be set.
struct Part {
  Value* number = nullptr;
  uint64_t bits = 0;

  bool operator==(const Part&) const = default;
};

/// What these bits of the value are of a number from which others were cut off: it says neither less nor more.
Part part_of(Value* value, uint64_t bits = ~uint64_t{0}) {
  uint64_t constant = 0;
  for (Value* whole = nullptr; value->getType()->isIntegerTy(32); value = whole)
    if (match(value, m_And(m_Value(whole), m_ConstantInt(constant))))
      bits &= constant;
    else if (match(value, m_LShr(m_Value(whole), m_ConstantInt(constant))) && constant < 32)
      bits = bits << constant & 0xffff'ffff;
    else if (match(value, m_Shl(m_Value(whole), m_ConstantInt(constant))) && constant < 32)
      bits = (bits & 0xffff'ffff) >> constant;
    else
      break;
  return {value, bits & possible_bits(value)};
}

/// A bit of a number that is set, or clear.
struct Bit {
  Part place;
  bool is_set;

  Bit opposite() const { return {place, !is_set}; }
  bool operator==(const Bit&) const = default;
};

std::optional<Bit> lone_bit(const Part& part, bool is_set) {
  return llvm::isPowerOf2_64(part.bits) ? std::optional(Bit{part, is_set}) : std::nullopt;
}

/// That is so where the answer is yes.
std::optional<Bit> bit_of_answer(Value* answer) {
  Value* value = nullptr;
  if (match(answer, m_Trunc(m_Value(value))) && value->getType()->isIntegerTy(32))
    return lone_bit(part_of(value, 1), /*is_set=*/true);
  llvm::CmpPredicate predicate;
  const llvm::APInt* bound = nullptr;
  if (!match(answer, m_ICmp(predicate, m_Value(value), m_APInt(bound))) || !value->getType()->isIntegerTy(32))
    return std::nullopt;
  using enum llvm::CmpInst::Predicate;
  if (bound->isZero() && llvm::ICmpInst::isEquality(predicate)) return lone_bit(part_of(value), predicate == ICMP_NE);
  // Of the highest bit that there may be.
  if (predicate != ICMP_ULT && predicate != ICMP_UGT) return std::nullopt;
  const llvm::APInt power = predicate == ICMP_ULT ? *bound : *bound + 1;
  if (!power.isPowerOf2() || possible_bits(value) >> power.logBase2() != 1) return std::nullopt;
  return lone_bit(part_of(value, power.getZExtValue()), predicate == ICMP_UGT);
}

/// That is so where the value is 1. Elsewhere it is 0.
std::optional<Bit> bit_of_number(Value* value) {
  Value* answer = nullptr;
  if (match(value, m_ZExt(m_Value(answer))) && answer->getType()->isIntegerTy(1)) return bit_of_answer(answer);
  return possible_bits(value) == 1 ? lone_bit(part_of(value), /*is_set=*/true) : std::nullopt;
}

/// That all lanes of the warp vote on.
std::optional<Bit> bit_of_ballot(Value* value, const Shapes& shapes) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  if (!call || kir::intrinsic_of(*call) != kir::Intrinsic::Vote || !match(call->getArgOperand(0), m_AllOnes()) ||
      !kir::does(*call, image::VoteOp::Ballot) || shapes.is_masked(call->getParent()))
    return std::nullopt;
  return bit_of_number(call->getArgOperand(2));
}

/// Where it is, the value has all bits set; where not, none.
std::optional<Bit> bit_of_row(Value* value) {
  Value* one = nullptr;
  if (match(value, m_SExt(m_Value(one)))) return one->getType()->isIntegerTy(1) ? bit_of_answer(one) : std::nullopt;
  if (!match(value, m_Add(m_Value(one), m_AllOnes()))) return std::nullopt;
  const auto bit = bit_of_number(one);
  return bit ? std::optional(bit->opposite()) : std::nullopt;
}

/// That lanes have alike whose bits the value has set, in each of them.
std::optional<Bit> bit_alike(Value* value, const Shapes& shapes) {
  Value *ballot = nullptr, *one = nullptr, *other = nullptr;
  std::optional<Bit> voted, differing;
  if (match(value, m_Xor(m_Value(one), m_Value(other)))) {
    voted = bit_of_ballot(one, shapes);
    differing = bit_of_row(other);
    if (!voted || !differing) {
      voted = bit_of_ballot(other, shapes);
      differing = bit_of_row(one);
    }
  } else if (match(value, m_Select(m_Value(one), m_Value(ballot), m_Not(m_Deferred(ballot))))) {
    voted = bit_of_ballot(ballot, shapes);
    if (const auto own = bit_of_answer(one)) differing = own->opposite();
  }
  return voted && differing && *voted == differing->opposite() ? voted : std::nullopt;
}

/// Adds the bits that the lanes have alike whose bits are set in `set`, in each of them. False: it is no such set.
bool gather(Value* set, Part& alike, const Shapes& shapes) {
  Value *one = nullptr, *other = nullptr;
  if (match(set, m_And(m_Value(one), m_Value(other))))
    return gather(one, alike, shapes) && gather(other, alike, shapes);
  const auto bit = bit_alike(set, shapes);
  if (!bit) return false;
  if (alike.number && alike.number != bit->place.number) return false;
  alike = {bit->place.number, alike.bits | bit->place.bits};
  return true;
}

/// What lanes have alike whose bits are set in `set`, in each of them: these lanes and no others. Nothing: it is no
/// such set.
std::optional<Part> alike_in(Value* set, const Shapes& shapes) {
  Value *matched = nullptr, *number = nullptr;
  if (match(set, m_Trunc(m_Value(matched)))) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(matched);
    const bool is_any = call && kir::intrinsic_of(*call) == kir::Intrinsic::Match &&
                        !shapes.is_masked(call->getParent()) && match(call->getArgOperand(0), m_AllOnes()) &&
                        kir::does(*call, image::MatchOp::Any) &&
                        match(call->getArgOperand(2), m_ZExtOrSExt(m_Value(number)));
    return is_any ? std::optional(part_of(number)) : std::nullopt;
  }
  Part alike;
  return gather(set, alike, shapes) ? std::optional(alike) : std::nullopt;
}

bool is_register(Value* value, kir::Intrinsic wanted) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && kir::intrinsic_of(*call) == wanted;
}

/// Blocks are full rows of warps.
bool is_lane(Value* value) {
  Value* thread = nullptr;
  if (match(value, m_And(m_Value(thread), m_SpecificInt(kLanes - 1)))) return is_register(thread, kir::Intrinsic::TidX);
  if (!is_register(value, kir::Intrinsic::TidX)) return is_register(value, kir::Intrinsic::LaneId);
  const auto range = llvm::cast<llvm::CallInst>(value)->getRange();
  return range && range->getUnsignedMax().ult(kLanes);
}

bool is_lanes_below(Value* value) {
  Value* lane = nullptr;
  return (match(value, m_Not(m_Shl(m_AllOnes(), m_Value(lane)))) ||
          match(value, m_Add(m_Shl(m_One(), m_Value(lane)), m_AllOnes()))) &&
         is_lane(lane);
}

/// A branch that the first lane of each set takes one way.
struct Leaders {
  llvm::BranchInst* branch;
  BasicBlock *way, *behind;  ///< of theirs alone; where it leads, as does the others'
  Value* set;                ///< its lanes
  Part alike;                ///< which they have so, and no others
};

std::optional<Leaders> leaders_at(BasicBlock& block, const Shapes& shapes) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional()) return std::nullopt;
  llvm::CmpPredicate predicate;
  Value *one = nullptr, *other = nullptr, *set = nullptr;
  Value *condition = branch->getCondition(), *with_lanes = nullptr;  // a lane is in its own set: it has some
  (void)match(condition,
              m_LogicalAnd(m_SpecificICmp(llvm::ICmpInst::ICMP_NE, m_Value(with_lanes), m_Zero()), m_Value(condition)));
  if (!match(condition, m_ICmp(predicate, m_Value(one), m_Value(other))) || !llvm::ICmpInst::isEquality(predicate))
    return std::nullopt;
  if (Value* a = nullptr, *b = nullptr; match(other, m_Zero()) && match(one, m_And(m_Value(a), m_Value(b)))) {
    set = is_lanes_below(b) ? a : is_lanes_below(a) ? b : nullptr;
  } else {
    if (is_lane(one)) std::swap(one, other);
    if (!is_lane(other) || !match(one, m_Intrinsic<llvm::Intrinsic::cttz>(m_Value(set), m_Value())))
      return std::nullopt;
  }
  if (condition != branch->getCondition() && with_lanes != set) return std::nullopt;
  const std::optional<Part> alike = set ? alike_in(set, shapes) : std::nullopt;
  if (!alike) return std::nullopt;
  BasicBlock* way = branch->getSuccessor(predicate == llvm::ICmpInst::ICMP_EQ ? 0 : 1);
  BasicBlock* behind = branch->getSuccessor(predicate == llvm::ICmpInst::ICMP_EQ ? 1 : 0);
  if (way == behind || way->getSinglePredecessor() != &block || way->getSingleSuccessor() != behind)
    return std::nullopt;
  return Leaders{branch, way, behind, set, *alike};
}

/// What the lanes of a set do alike.
class Alike {
 public:
  Alike(const Leaders& leaders, const Shapes& shapes) : leaders_(leaders), shapes_(shapes) {}

  bool all() {
    for (const llvm::PHINode& phi : leaders_.behind->phis())
      if (phi.getIncomingValueForBlock(leaders_.way) != phi.getIncomingValueForBlock(leaders_.branch->getParent()))
        return false;
    bool stores = false;
    for (llvm::Instruction& instruction : *leaders_.way) {
      if (instruction.isTerminator()) continue;
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store ? !is_own(*store) || !is_same(store->getValueOperand())
                : !llvm::isSafeToSpeculativelyExecute(&instruction))
        return false;
      stores |= store != nullptr;
    }
    return stores;
  }

 private:
  /// Each number's place is its own: no other's overlaps.
  bool is_own(const llvm::StoreInst& store) const {
    const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(store.getPointerOperand());
    if (!place || !store.isSimple() || !is_uniform(place->getPointerOperand()) ||
        !llvm::all_of(llvm::drop_end(place->indices()),
                      [&](const llvm::Use& index) { return is_uniform(index.get()); }))
      return false;
    const llvm::DataLayout& layout = store.getDataLayout();
    const auto [index, distance] = without_sums(place->getOperand(place->getNumOperands() - 1),
                                                layout.getTypeAllocSize(place->getResultElementType()));
    return layout.getTypeStoreSize(store.getValueOperand()->getType()) <= distance && part_of(index) == leaders_.alike;
  }

  /// A number that differs where the index does, of which all lanes take the same sums; and how far apart the places of
  /// numbers beside each other are, in bytes, where those of indices are that far.
  std::pair<Value*, uint64_t> without_sums(Value* index, uint64_t distance) const {
    while (true) {
      Value *one = nullptr, *other = nullptr;
      uint64_t constant = 0;
      if (match(index, m_ZExtOrSExt(m_Value(one)))) {
        index = one;
      } else if (match(index, m_AddLike(m_Value(one), m_Value(other))) && (is_uniform(one) || is_uniform(other))) {
        index = is_uniform(one) ? other : one;
      } else if (index->getType()->isIntegerTy(64) && match(index, m_NUWShl(m_Value(one), m_ConstantInt(constant))) &&
                 constant < 32) {
        index = one;
        distance <<= constant;
      } else {
        return {index, distance};
      }
    }
  }

  bool is_uniform(const Value* value) const {
    return llvm::isa<llvm::Constant>(value) || shapes_.at(value, leaders_.way).is_uniform();
  }

  bool is_same(Value* value) {
    if (value == leaders_.set || is_uniform(value) || same_.contains(value)) return true;
    const Part part = part_of(value);
    const bool is_part = part.number == leaders_.alike.number && (part.bits & ~leaders_.alike.bits) == 0;
    if (!is_part &&
        !(computes(value) && llvm::all_of(llvm::cast<llvm::User>(value)->operands(), [&](llvm::Use& operand) {
            return llvm::isa<llvm::Function>(operand) || is_same(operand.get());
          })))
      return false;
    same_.insert(value);
    return true;
  }

  /// Of its operands alone: the same of the same ones.
  static bool computes(const Value* value) {
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(value);
    return intrinsic ? !intrinsic->mayReadOrWriteMemory()
                     : llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                                 llvm::SelectInst, llvm::GetElementPtrInst>(value);
  }

  const Leaders& leaders_;
  const Shapes& shapes_;
  llvm::SmallPtrSet<const Value*, 16> same_;
};

bool asks_for_peers(const llvm::Instruction& instruction) {
  const auto known = kir::intrinsic_of(instruction);
  return known == kir::Intrinsic::Vote || known == kir::Intrinsic::Match;
}

}  // namespace

bool store_with_peers(llvm::Function& function, BlockClass blocks) {
  if (blocks != BlockClass::Rows || llvm::none_of(llvm::instructions(function), asks_for_peers)) return false;
  const llvm::DominatorTree dominators(function);
  const llvm::PostDominatorTree post_dominators(function);
  const llvm::LoopInfo loops(dominators);
  const Shapes shapes(function, blocks, loops, post_dominators);
  llvm::SmallVector<Leaders, 2> found;
  for (BasicBlock& block : function)
    if (const auto leaders = leaders_at(block, shapes);
        leaders && !shapes.is_masked(&block) && Alike(*leaders, shapes).all())
      found.push_back(*leaders);
  for (const Leaders& leaders : found) {
    leaders.behind->removePredecessor(leaders.branch->getParent(), /*KeepOneInputPHIs=*/true);
    llvm::IRBuilder<>(leaders.branch).CreateBr(leaders.way);
    leaders.branch->eraseFromParent();
  }
  return !found.empty();
}

}  // namespace cupola::cpu::build
