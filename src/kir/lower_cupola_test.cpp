#include "kir/lower_cupola.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>

#include "kir/intrinsics.h"
#include "kir/kir.h"

// Every row of intrinsics.def either becomes something else or is refused by name. Oracle of the texts: the PTX ISA.

namespace cupola::kir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Intrinsic kRows[] = {
#define KIR_INTRINSIC(enumerator, name, result, parameters, effect, meaning) Intrinsic::enumerator,
#include "kir/intrinsics.def"
#undef KIR_INTRINSIC
};

/// A function that calls the row; integer constants are `constant`, but for a barrier's number of threads, 0.
Result<std::string> lowered(Intrinsic row, uint64_t constant = 1) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false),
      llvm::GlobalValue::ExternalLinkage, "f", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", function));
  llvm::Function* callee = declare(module, row);
  const bool barrier = name_of(row).starts_with("cupola.barrier");
  llvm::SmallVector<llvm::Value*, 5> arguments;
  for (llvm::Argument& argument : callee->args())
    arguments.push_back(
        argument.getType()->isPointerTy()
            ? static_cast<llvm::Value*>(function->getArg(0))
            : llvm::ConstantInt::get(argument.getType(), barrier && arguments.size() == 1 ? 0 : constant));
  llvm::Value* result = b.CreateCall(callee, arguments);
  if (!result->getType()->isVoidTy()) b.CreateStore(result, function->getArg(0));
  b.CreateRetVoid();
  TRY(lower_cupola(module));
  EXPECT_FALSE(llvm::verifyModule(module)) << print(module);
  return print(module);
}

TEST(LowerCupola, LeavesNoRow) {
  for (const Intrinsic row : kRows) {
    const auto text = lowered(row);
    if (text)
      EXPECT_THAT(*text, Not(HasSubstr("@cupola."))) << name_of(row).str();
    else
      EXPECT_THAT(text.error().message, HasSubstr(name_of(row).str()));
  }
}

TEST(LowerCupola, PicksTheFormOfAConstant) {
  const auto shuffle = [](uint64_t kind) { return lowered(Intrinsic::Shuffle, kind).value(); };
  EXPECT_THAT(shuffle(0), HasSubstr("shfl.sync.up.b32 v|p, $3, $4, $5, $1;"));
  EXPECT_THAT(shuffle(3), HasSubstr("shfl.sync.idx.b32"));
  EXPECT_THAT(lowered(Intrinsic::Vote, 0).value(), HasSubstr("vote.sync.all.pred r, p, $1; selp.u32 $0, 1, 0, r;"));
  EXPECT_THAT(lowered(Intrinsic::Vote, 3).value(), HasSubstr("vote.sync.ballot.b32 $0, p, $1;  }"));
  EXPECT_THAT(lowered(Intrinsic::Match, 1).value(), HasSubstr("match.all.sync.b64 m|p, $3, $1;"));
  EXPECT_THAT(lowered(Intrinsic::Dot4, 1).value(), HasSubstr("dp4a.s32.u32 $0, $2, $3, $4;"));
  EXPECT_THAT(lowered(Intrinsic::Dot2, 2).value(), HasSubstr("dp2a.lo.u32.s32 $0, $2, $3, $4;"));
  EXPECT_THAT(lowered(Intrinsic::Redux, 7).value(), HasSubstr("redux.sync.xor.b32 $0, $3, $1;"));
}

TEST(LowerCupola, NamesNoCountForABarrierOfAll) {
  EXPECT_THAT(lowered(Intrinsic::Barrier).value(), HasSubstr("barrier.sync $0;"));
  EXPECT_THAT(lowered(Intrinsic::BarrierReduce).value(), HasSubstr("barrier.red.and.pred r, $1, p;"));
}

TEST(LowerCupola, CallsWhatDriversProvide) {
  EXPECT_THAT(lowered(Intrinsic::Vprintf).value(), HasSubstr("declare i32 @vprintf(ptr, ptr)"));
  EXPECT_THAT(lowered(Intrinsic::AssertFail).value(), HasSubstr("declare void @__assertfail(ptr, ptr, i32, ptr, i64)"));
}

}  // namespace
}  // namespace cupola::kir
