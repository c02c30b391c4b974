#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "kir/address_space.h"
#include "kir/c_functions.h"
#include "kir/expansion.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

using llvm::Value;

constexpr char kLeft[] = "cupola-left-to-processor";
constexpr char kMark[] = "cupola-flush-denormals", kMode[] = "denormal-fp-math-f32";

using Functions = llvm::SmallPtrSet<const llvm::Function*, 32>;

bool is_elementary(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->hasFnAttribute(kElementary);
}

/// The least or the greatest of two: the processor compares denormals as zeros, and LLVM's code for it may hand on what
/// it was given.
bool is_extreme(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
    case llvm::Intrinsic::minimumnum:
    case llvm::Intrinsic::maximumnum:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::minimum:
    case llvm::Intrinsic::maximum:
      return true;
    default:
      return false;
  }
}

/// Whether PTX has an .ftz form of the instruction that clang's f32 operation becomes. Loads, stores, moves, selects,
/// negation and copies of the sign do not flush. Elementary functions flush as a whole.
bool computes(const llvm::Instruction& instruction) {
  if (is_extreme(instruction)) return true;
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::fma:
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::exp2:
      case llvm::Intrinsic::log2:
      case llvm::Intrinsic::sin:
      case llvm::Intrinsic::cos:
      case llvm::Intrinsic::ceil:
      case llvm::Intrinsic::floor:
      case llvm::Intrinsic::trunc:
      case llvm::Intrinsic::rint:
      case llvm::Intrinsic::nearbyint:
      case llvm::Intrinsic::round:
      case llvm::Intrinsic::roundeven:
        return true;
      default:
        return false;
    }
  if (llvm::isa<llvm::CallInst>(instruction)) return is_elementary(instruction);
  return instruction.isBinaryOp() || llvm::isa<llvm::FCmpInst, llvm::FPExtInst, llvm::FPTruncInst>(instruction);
}

void flush_operands(llvm::Instruction& instruction) {
  llvm::IRBuilder<> b(&instruction);
  for (llvm::Use& operand : instruction.operands())
    if (operand->getType()->getScalarType()->isFloatTy()) operand.set(flush(b, operand));
}

void flush_result(llvm::Instruction& instruction) {
  if (!instruction.getType()->getScalarType()->isFloatTy()) return;
  llvm::IRBuilder<> b(instruction.getNextNode());
  llvm::SmallVector<llvm::Use*, 8> uses;
  for (llvm::Use& use : instruction.uses()) uses.push_back(&use);
  Value* flushed = flush(b, &instruction);
  for (llvm::Use* use : uses) use->set(flushed);
}

using Instructions = llvm::SmallVector<llvm::Instruction*, 32>;

Instructions those_that(llvm::Function& function, bool (*are)(const llvm::Instruction&)) {
  Instructions found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (are(instruction)) found.push_back(&instruction);
  return found;
}

void write_out(llvm::Function& function) {
  for (llvm::Instruction* instruction : those_that(function, computes)) {
    flush_operands(*instruction);
    flush_result(*instruction);
  }
}

/// Takes the mode from a function and its calls, where LLVM would fold flushes that are written out. True: it flushes.
bool take_mode(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->removeFnAttr(kMode);
  const bool flushes = says_flushing(function) && !function.isDeclaration();
  function.removeFnAttr(kMode);
  return flushes;
}

/// The x of flush(x) (expansion.h); null: it is no flush.
Value* flushed_by(const llvm::Instruction& instruction) {
  using namespace llvm::PatternMatch;
  Value* x = nullptr;
  llvm::CmpPredicate less;
  const auto is_flush = m_Select(m_FCmp(less, m_FAbs(m_Value(x)), m_SpecificFP(0x1p-126)),
                                 m_CopySign(m_AnyZeroFP(), m_Deferred(x)), m_Deferred(x));
  return match(&instruction, is_flush) && less == llvm::FCmpInst::FCMP_OLT ? x : nullptr;
}

// -- flushing by the processor --

/// What the processor leaves to do. Elementary functions look at the bits of their operands and make results of bits.
/// What PTX flushed (neg.ftz) needs not be flushed where operations take it that see it as zero.
void write_out_the_rest(llvm::Function& function) {
  for (llvm::Instruction* instruction : those_that(function, is_elementary)) {
    flush_operands(*instruction);
    flush_result(*instruction);
  }
  for (llvm::Instruction* instruction : those_that(function, is_extreme)) flush_result(*instruction);
  const auto sees_zeros = [](const llvm::User* user) {
    const auto& taker = *llvm::cast<llvm::Instruction>(user);
    return computes(taker) && !is_elementary(taker) && !is_extreme(taker);
  };
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (Value* value = flushed_by(instruction); value && llvm::all_of(instruction.users(), sees_zeros))
      instruction.replaceAllUsesWith(value);
}

/// A type of which the processor would flush what CUDA does not.
bool keeps_denormals(const llvm::Type* type) {
  const llvm::Type* scalar = type->getScalarType();
  return scalar->isDoubleTy() || scalar->isBFloatTy();
}

/// Whether the operation only hands bits on.
bool moves(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return call->getIntrinsicID() == llvm::Intrinsic::fabs || call->getIntrinsicID() == llvm::Intrinsic::copysign;
  if (llvm::isa<llvm::CallInst>(instruction)) return true;  // of a function that is looked at, too
  using llvm::Instruction;
  switch (instruction.getOpcode()) {
    case Instruction::Load:
    case Instruction::Store:
    case Instruction::Select:
    case Instruction::PHI:
    case Instruction::BitCast:
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ExtractValue:
    case Instruction::InsertValue:
    case Instruction::ShuffleVector:
    case Instruction::FNeg:
    case Instruction::Freeze:
    case Instruction::Ret:
      return true;
    default:
      return false;
  }
}

/// Sums in shared memory keep denormals (PTX ISA, "atom"); in memory that came as a kernel's argument they do not.
bool may_be_shared(const llvm::AtomicRMWInst& update) {
  if (update.getPointerAddressSpace() == kGlobalSpace) return false;
  const auto* argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(update.getPointerOperand()));
  return !argument || !is_kernel(*argument->getParent());
}

/// Whether the instruction gives what it should while the processor flushes.
bool may_run_flushing(const llvm::Instruction& instruction) {
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return !update->isFloatingPointOperation() || (update->getType()->isFloatTy() && !may_be_shared(*update));
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    const llvm::Function* callee = call->getCalledFunction();
    if (!callee || (callee->isDeclaration() && is_library_call(callee->getName()))) return false;
  }
  if (moves(instruction)) return true;
  return !keeps_denormals(instruction.getType()) && llvm::none_of(instruction.operands(), [](const Value* operand) {
    return keeps_denormals(operand->getType());
  });
}

struct Reached {
  Functions functions;
  bool suits = true;  ///< all of them: the processor may flush
};

/// Arithmetic of f32, of whatever kind.
bool computes_single(const llvm::Instruction& instruction) {
  const auto is_single = [](const Value* value) { return value->getType()->getScalarType()->isFloatTy(); };
  return llvm::isa<llvm::FPMathOperator>(instruction) && !moves(instruction) &&
         (is_single(&instruction) || llvm::any_of(instruction.operand_values(), is_single));
}

/// What runs with a kernel. `flushing`: the functions that flush.
Reached reached_from(const llvm::Function& kernel, const Functions& flushing) {
  Reached reached{.functions = {}, .suits = flushing.contains(&kernel)};
  llvm::SmallVector<const llvm::Function*, 16> open{&kernel};
  while (!open.empty()) {
    const llvm::Function& function = *open.pop_back_val();
    if (function.isDeclaration() || !reached.functions.insert(&function).second) continue;
    const bool flushes = flushing.contains(&function) || function.hasFnAttribute(kElementary);
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      reached.suits &= may_run_flushing(instruction) && (flushes || !computes_single(instruction));
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && call->getCalledFunction()) open.push_back(call->getCalledFunction());
    }
  }
  return reached;
}

/// Marks kernels of which the processor may flush all; returns what runs with no other.
Functions leave_to_processor(llvm::Module& module, const Functions& flushing) {
  Functions left, others;
  for (llvm::Function* kernel : kernels(module)) {
    const Reached reached = reached_from(*kernel, flushing);
    if (reached.suits) kernel->addFnAttr(kMark);
    (reached.suits ? left : others).insert(reached.functions.begin(), reached.functions.end());
  }
  for (const llvm::Function* function : flushing)
    if (others.contains(function) || (function->hasAddressTaken() && !is_kernel(*function))) left.erase(function);
  return left;
}

}  // namespace

void say_flushing(llvm::Function& function) {
  function.addFnAttr(kMode, "preserve-sign,preserve-sign");
}

bool says_flushing(const llvm::Function& function) {
  return function.getFnAttribute(kMode).getValueAsString().starts_with("preserve-sign");
}

bool flushes_denormals(const llvm::Function& kernel) {
  return kernel.hasFnAttribute(kMark);
}

void say_what_flushes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.hasFnAttribute(kLeft)) continue;
    function.removeFnAttr(kLeft);
    say_flushing(function);
  }
}

bool flush_denormals(llvm::Module& module, bool by_processor) {
  Functions flushing;
  for (llvm::Function& function : module)
    if (take_mode(function)) flushing.insert(&function);
  const Functions left = by_processor ? leave_to_processor(module, flushing) : Functions();
  for (llvm::Function& function : module)
    if (flushing.contains(&function)) {
      if (left.contains(&function)) {
        write_out_the_rest(function);
        function.addFnAttr(kLeft);
      } else {
        write_out(function);
      }
    }
  return !flushing.empty() &&
         llvm::any_of(module, [](const llvm::Function& function) { return function.hasFnAttribute(kElementary); });
}

}  // namespace cupola::kir
