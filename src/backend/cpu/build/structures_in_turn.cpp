#include "backend/cpu/build/structures_in_turn.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <optional>

#include "backend/cpu/build/lane_by_lane.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr const char* kLanesNote = "cupola.lanes";

// ---- arithmetic ----

/// Some lanes of a vector that follow each other.
struct Part {
  unsigned first, count;
};

/// Of its first operand.
std::optional<Part> part_taken_by(const llvm::User* user) {
  const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
  int first = 0;
  if (!shuffle || !llvm::isa<llvm::UndefValue>(shuffle->getOperand(1)) || !shuffle->isExtractSubvectorMask(first))
    return std::nullopt;
  return Part{static_cast<unsigned>(first), lanes_of(*shuffle)};
}

/// Those lanes of a value, by another shuffle where it is made by one.
Value* part_of(llvm::IRBuilder<>& builder, Value* value, const Part& part) {
  const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value);
  if (!shuffle) return builder.CreateShuffleVector(value, llvm::createSequentialMask(part.first, part.count, 0));
  const llvm::ArrayRef<int> lanes = shuffle->getShuffleMask().slice(part.first, part.count);
  for (Value* source : shuffle->operands()) {
    const unsigned before = source == shuffle->getOperand(0) ? 0 : lanes_of(*source);
    if (lanes_of(*source) == part.count && llvm::equal(lanes, llvm::createSequentialMask(before, part.count, 0)))
      return source;
  }
  return builder.CreateShuffleVector(shuffle->getOperand(0), shuffle->getOperand(1), lanes);
}

/// What the instruction computes, of those lanes.
Value* made_part(llvm::IRBuilder<>& builder, Instruction& whole, const Part& part) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&whole);
  llvm::SmallVector<Value*, 3> operands;
  for (Value* operand : call ? llvm::iterator_range(call->args()) : whole.operands())
    operands.push_back(part_of(builder, operand, part));
  llvm::Type* type = llvm::FixedVectorType::get(whole.getType()->getScalarType(), part.count);
  if (call) {
    llvm::CallInst* made = builder.CreateIntrinsic(type, call->getIntrinsicID(), operands);
    made->copyIRFlags(call);
    return made;
  }
  Instruction* made = whole.clone();
  for (const auto& [i, operand] : llvm::enumerate(operands)) made->setOperand(static_cast<unsigned>(i), operand);
  made->mutateType(type);
  return builder.Insert(made);
}

void replace(Instruction& old, Value* by) {
  old.replaceAllUsesWith(by);
  old.eraseFromParent();
}

/// Arithmetic of whose result others take parts alone, and all as many lanes, becomes that of the parts.
bool take_apart(Instruction& whole) {
  llvm::MapVector<unsigned, llvm::SmallVector<Instruction*, 2>> takers;  // of the parts that begin there
  unsigned count = 0;
  for (llvm::User* user : whole.users()) {
    const auto part = part_taken_by(user);
    if (!part || (count != 0 && part->count != count) || part->first % part->count != 0) return false;
    count = part->count;
    takers[part->first].push_back(llvm::cast<Instruction>(user));
  }
  llvm::IRBuilder<> builder(&whole);
  for (const auto& [first, taken] : takers) {
    Value* part = made_part(builder, whole, {first, count});
    for (Instruction* each : taken) replace(*each, part);
  }
  whole.eraseFromParent();
  return true;
}

/// From the last to the first: what takes a part of one takes parts of its operands then.
void take_arithmetic_apart(BasicBlock& block) {
  for (Instruction& each : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (llvm::isInstructionTriviallyDead(&each)) {
      each.eraseFromParent();
      continue;
    }
    if (is_lane_by_lane(each) && take_apart(each)) continue;
    const auto part = part_taken_by(&each);
    if (!part || !llvm::isa<llvm::ShuffleVectorInst>(each.getOperand(0))) continue;
    llvm::IRBuilder<> builder(&each);
    replace(each, part_of(builder, each.getOperand(0), *part));
  }
}

// ---- order ----

std::optional<Part> noted_lanes(const Instruction& access) {
  const llvm::MDNode* note = access.getMetadata(kLanesNote);
  if (!note) return std::nullopt;
  const auto number = [&](unsigned i) {
    return static_cast<unsigned>(llvm::mdconst::extract<llvm::ConstantInt>(note->getOperand(i))->getZExtValue());
  };
  return Part{number(0), number(1)};
}

/// Instructions of a block, one after the other, that read first and then write: the reads, and the writes.
class Run {
 public:
  /// Whether it may be of the run; else that ends before.
  bool take(Instruction& instruction) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator()) return false;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const auto lanes = noted_lanes(instruction);
    if (load && !load->isSimple()) return false;
    if (store && (!store->isSimple() || !lanes)) return false;
    if (load && writes_) return false;
    if (!load && !store && (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects())) return false;
    all_.push_back(&instruction);
    if (!lanes) return true;
    accesses_.push_back({&instruction, *lanes});
    widest_ = std::max(widest_, lanes->count);
    reads_ |= load != nullptr;
    writes_ |= store != nullptr;
    return true;
  }

  void end() {
    if (reads_ && writes_) order();
    *this = {};
  }

 private:
  struct Access {
    Instruction* instruction;
    Part lanes;
  };
  unsigned turn_of(const Access& access) const { return access.lanes.first / widest_; }

  void order() {
    if (llvm::all_of(accesses_, [&](const Access& each) { return turn_of(each) == turn_of(accesses_[0]); })) return;
    llvm::stable_sort(accesses_, [&](const Access& a, const Access& b) { return turn_of(a) < turn_of(b); });
    const llvm::SmallPtrSet<Instruction*, 32> in_run(all_.begin(), all_.end());
    llvm::SmallPtrSet<Instruction*, 32> placed;
    Instruction* const behind = all_.back()->getNextNode();
    const auto place = [&](Instruction& instruction, auto& self) -> void {
      if (!in_run.contains(&instruction) || !placed.insert(&instruction).second) return;
      for (Value* operand : instruction.operands())
        if (auto* made = llvm::dyn_cast<Instruction>(operand)) self(*made, self);
      instruction.moveBefore(behind->getIterator());
    };
    for (Instruction* each : all_)
      if (llvm::isa<llvm::LoadInst>(each) && !noted_lanes(*each)) place(*each, place);
    for (const Access& access : accesses_) place(*access.instruction, place);
    for (Instruction* each : all_) place(*each, place);
  }

  llvm::SmallVector<Instruction*, 64> all_;
  llvm::SmallVector<Access, 16> accesses_;
  unsigned widest_ = 1;
  bool reads_ = false, writes_ = false;
};

}  // namespace

void note_lanes(Instruction& access, unsigned first, unsigned count) {
  llvm::LLVMContext& context = access.getContext();
  const auto number = [&](unsigned value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value));
  };
  access.setMetadata(kLanesNote, llvm::MDNode::get(context, {number(first), number(count)}));
}

void take_structures_in_turn(llvm::Function& code) {
  for (BasicBlock& block : code) {
    if (llvm::none_of(block,
                      [](const Instruction& each) { return llvm::isa<llvm::StoreInst>(each) && noted_lanes(each); }))
      continue;
    take_arithmetic_apart(block);
    llvm::SmallVector<Instruction*, 64> all;
    for (Instruction& each : block) all.push_back(&each);
    Run run;
    for (Instruction* each : all) {
      if (run.take(*each)) continue;
      run.end();
      run.take(*each);
    }
    run.end();
  }
}

}  // namespace cupola::cpu::build
