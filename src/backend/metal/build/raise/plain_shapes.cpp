#include "backend/metal/build/raise/plain_shapes.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerMemIntrinsics.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include "kir/core_intrinsics.h"
#include "kir/pass_analyses.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

constexpr uint64_t kUnrolledBytes = 256;  ///< copies of so many bytes are written out

/// The widest integer that both pointers are aligned to, up to 8 bytes.
uint64_t step_of(uint64_t left, llvm::Align alignment) {
  uint64_t step = std::min<uint64_t>(8, alignment.value());
  while (step > left) step /= 2;
  return step;
}

/// What is said of a pointer, or is known.
llvm::Align alignment_of(llvm::Value& pointer, llvm::MaybeAlign said, const llvm::Instruction& access) {
  return std::max(said.valueOrOne(), llvm::getKnownAlignment(&pointer, access.getDataLayout(), &access));
}

/// All is read before anything is written, so that the places may overlap.
void copy_written_out(llvm::IRBuilder<>& b, llvm::MemTransferInst& copy, uint64_t bytes) {
  const llvm::Align alignment = std::min(alignment_of(*copy.getRawDest(), copy.getDestAlign(), copy),
                                         alignment_of(*copy.getRawSource(), copy.getSourceAlign(), copy));
  llvm::SmallVector<std::pair<uint64_t, llvm::Value*>, 32> words;
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t step = step_of(bytes - at, alignment);
    llvm::Value* from = b.CreateConstGEP1_64(b.getInt8Ty(), copy.getSource(), at);
    words.push_back({at, b.CreateAlignedLoad(b.getIntNTy(static_cast<unsigned>(step * 8)), from, llvm::Align(step),
                                             copy.isVolatile())});
    at += step;
  }
  for (const auto& [at, word] : words)
    b.CreateAlignedStore(word, b.CreateConstGEP1_64(b.getInt8Ty(), copy.getDest(), at),
                         llvm::Align(word->getType()->getIntegerBitWidth() / 8), copy.isVolatile());
}

void set_written_out(llvm::IRBuilder<>& b, llvm::MemSetInst& set, uint64_t bytes) {
  const llvm::Align alignment = alignment_of(*set.getRawDest(), set.getDestAlign(), set);
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t step = step_of(bytes - at, alignment);
    llvm::Type* type = b.getIntNTy(static_cast<unsigned>(step * 8));
    llvm::Value* word =
        b.CreateMul(b.CreateZExt(set.getValue(), type),
                    llvm::ConstantInt::get(type, 0x0101010101010101u & (~uint64_t{0} >> (64 - step * 8))));
    b.CreateAlignedStore(word, b.CreateConstGEP1_64(b.getInt8Ty(), set.getDest(), at), llvm::Align(step),
                         set.isVolatile());
    at += step;
  }
}

void write_out(llvm::MemIntrinsic& memory, const llvm::TargetTransformInfo& costs) {
  llvm::IRBuilder<> b(&memory);
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory.getLength());
  const bool few = length && length->getZExtValue() <= kUnrolledBytes;
  if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&memory)) {
    if (few)
      set_written_out(b, *set, length->getZExtValue());
    else
      llvm::expandMemSetAsLoop(set);
  } else if (few) {
    copy_written_out(b, llvm::cast<llvm::MemTransferInst>(memory), length->getZExtValue());
  } else if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&memory)) {
    llvm::expandMemCpyAsLoop(copy, costs);
  } else {
    llvm::expandMemMoveAsLoop(llvm::cast<llvm::MemMoveInst>(&memory), costs);
  }
  memory.eraseFromParent();
}

/// Three-way comparisons, which LLVM makes of selects, as selects.
void write_out(llvm::CmpIntrinsic& comparison) {
  llvm::IRBuilder<> b(&comparison);
  llvm::Value *x = comparison.getLHS(), *y = comparison.getRHS();
  llvm::Type* type = comparison.getType();
  llvm::Value* less = b.CreateSelect(b.CreateICmp(comparison.getLTPredicate(), x, y),
                                     llvm::Constant::getAllOnesValue(type), llvm::Constant::getNullValue(type));
  llvm::Value* sign =
      b.CreateSelect(b.CreateICmp(comparison.getGTPredicate(), x, y), llvm::ConstantInt::get(type, 1), less);
  comparison.replaceAllUsesWith(sign);
  comparison.eraseFromParent();
}

void remove_intrinsics(llvm::Function& function) {
  const llvm::TargetTransformInfo costs(function.getDataLayout());
  llvm::SmallVector<llvm::IntrinsicInst*, 16> work;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) work.push_back(intrinsic);
  for (llvm::IntrinsicInst* intrinsic : work) {
    if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(intrinsic))
      write_out(*memory, costs);
    else if (auto* comparison = llvm::dyn_cast<llvm::CmpIntrinsic>(intrinsic))
      write_out(*comparison);
    else if (kir::core_class_of(intrinsic->getIntrinsicID()) == kir::CoreClass::kHint)
      intrinsic->eraseFromParent();
  }
}

}  // namespace

Result<> make_plain(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    remove_intrinsics(function);
    kir::PassAnalyses analyses;
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    passes.addPass(llvm::LowerSwitchPass());
    passes.addPass(llvm::FixIrreduciblePass());
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::ADCEPass());
    passes.run(function, analyses.functions);
  }
  return {};
}

void tidy_for_structure(llvm::Function& function) {
  kir::PassAnalyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(function, analyses.functions);
}

}  // namespace cupola::metal::build
