#include "backend/cpu/build/gather_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/object_file.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kText = R"(
  declare <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr>, <16 x i1>, <16 x i32>)
  declare void @llvm.masked.scatter.v16i32.v16p0(<16 x i32>, <16 x ptr>, <16 x i1>)
  define void @f(ptr %base, ptr %numbers, i1 %which) {
    %i = load <16 x i32>, ptr %numbers
    %far = sext <16 x i32> %i to <16 x i64>
    %a = getelementptr i32, ptr %base, <16 x i64> %far
    br i1 %which, label %yes, label %over
  yes:
    %v = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr> align 4 %a, <16 x i1> splat (i1 true), <16 x i32> poison)
    %w = add <16 x i32> %v, splat (i32 1)
    call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> %w, <16 x ptr> align 4 %a, <16 x i1> splat (i1 true))
    br label %over
  over:
    ret void
  })";

TEST(GatherAddresses, AreMadeOfNumbersOf32BitsInTheSameBlock) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(kText, error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  const auto machine = *machine_for("cpu:x86_64:x86-64-v4");
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  llvm::Function& function = *module->getFunction("f");
  make_addresses_beside_gathers(function);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  for (const llvm::Instruction& instruction : *std::next(function.begin()))
    for (const llvm::Value* operand : instruction.operands())
      if (const auto* made = llvm::dyn_cast<llvm::GetElementPtrInst>(operand)) {
        EXPECT_EQ(made->getParent(), instruction.getParent());
        EXPECT_EQ(llvm::cast<llvm::Instruction>(*made->idx_begin())->getParent(), instruction.getParent());
      }
  if (machine->getTargetTriple().getArch() != llvm::Triple::x86_64) return;
  const std::string assembly = emit_assembly(*module, *machine);
  EXPECT_THAT(assembly, HasSubstr("vpscatterdd"));
  EXPECT_THAT(assembly, Not(HasSubstr("vpscatterq")));
}

/// Code that gathers by %far, made of numbers %i of 32 bits, some way from 0.
std::string gathers_by(const std::string& far) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(R"(
  declare <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr>, <32 x i1>, <32 x i32>)
  define void @f(ptr %base, ptr %numbers, i1 %which) {
    %read = load <32 x i32>, ptr %numbers
    %i = and <32 x i32> %read, splat (i32 255)
    )" + far + R"(
    %a = getelementptr i32, ptr %base, <32 x i64> %far
    %v = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %a, <32 x i1> splat (i1 true), <32 x i32> poison)
    store <32 x i32> %v, ptr %numbers
    ret void
  })",
                                                error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  const auto machine = *machine_for("cpu:x86_64:x86-64-v4");
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  make_addresses_beside_gathers(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  if (machine->getTargetTriple().getArch() == llvm::Triple::x86_64) return emit_assembly(*module, *machine);
  return "vpgatherdd";
}

TEST(GatherAddresses, AreOfNumbersOf32BitsWhereOneIsChosen) {
  const std::string wide = "%wide = zext nneg <32 x i32> %i to <32 x i64>\n%far = select i1 %which, ";
  EXPECT_THAT(gathers_by(wide + "<32 x i64> %wide, <32 x i64> zeroinitializer"), HasSubstr("vpgatherdd"));
  EXPECT_THAT(gathers_by(wide + "<32 x i64> splat (i64 7), <32 x i64> %wide"), HasSubstr("vpgatherdd"));
}

TEST(GatherAddresses, AreOfNumbersOf32BitsWhereNoneIsNegative) {
  EXPECT_THAT(gathers_by("%frozen = freeze <32 x i32> %i\n%far = zext <32 x i32> %frozen to <32 x i64>"),
              HasSubstr("vpgatherdd"));
  if (machine_for("cpu:x86_64:x86-64-v4").value()->getTargetTriple().getArch() != llvm::Triple::x86_64) GTEST_SKIP();
  EXPECT_THAT(gathers_by("%far = zext <32 x i32> %read to <32 x i64>"), Not(HasSubstr("vpgatherdd")));
  EXPECT_THAT(gathers_by("%frozen = freeze <32 x i32> %read\n%far = zext <32 x i32> %frozen to <32 x i64>"),
              Not(HasSubstr("vpgatherdd")));
}

TEST(GatherAddresses, AreOfMoreWhereTheOtherNeedsThem) {
  if (machine_for("cpu:x86_64:x86-64-v4").value()->getTargetTriple().getArch() != llvm::Triple::x86_64) GTEST_SKIP();
  const std::string code = gathers_by(
      "%wide = sext <32 x i32> %i to <32 x i64>\n%far = select i1 %which, <32 x i64> %wide, <32 x i64> splat (i64 "
      "4294967296)");
  EXPECT_THAT(code, Not(HasSubstr("vpgatherdd")));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
