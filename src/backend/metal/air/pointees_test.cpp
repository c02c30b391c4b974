#include "backend/metal/air/pointees.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include <memory>

namespace cupola::air {
namespace {

class PointeesTest : public testing::Test {
 protected:
  void read(const char* text) {
    llvm::SMDiagnostic problem;
    module_ = llvm::parseAssemblyString(text, problem, context_);
    ASSERT_TRUE(module_) << problem.getMessage().str();
    pointees_ = std::make_unique<Pointees>(*module_, types_);
  }
  const llvm::Function& function(const char* name) { return *module_->getFunction(name); }
  TypeId parameter(const char* name, unsigned place) { return pointees_->type_of(*function(name).getArg(place)); }
  /// The type of the n-th instruction of a function.
  TypeId made(const char* name, int n) { return pointees_->type_of(*std::next(llvm::inst_begin(function(name)), n)); }
  TypeId pointer_to(llvm::Type* type, unsigned space) { return types_.pointer_to(types_.of(type), space); }
  llvm::Type* i8() { return llvm::Type::getInt8Ty(context_); }
  llvm::Type* i32() { return llvm::Type::getInt32Ty(context_); }
  llvm::Type* f32() { return llvm::Type::getFloatTy(context_); }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  TypeTable types_;
  std::unique_ptr<Pointees> pointees_;
};

TEST_F(PointeesTest, UsesThatAgreeSayWhatAPointerPointsTo) {
  read(
      "define void @f(ptr addrspace(1) %p, ptr addrspace(3) %q) {\n"
      "  %x = load float, ptr addrspace(1) %p\n"
      "  %a = getelementptr float, ptr addrspace(1) %p, i64 4\n"
      "  store float %x, ptr addrspace(3) %q\n"
      "  ret void\n}");
  EXPECT_EQ(parameter("f", 0), pointer_to(f32(), 1));
  EXPECT_EQ(parameter("f", 1), pointer_to(f32(), 3));
  EXPECT_EQ(made("f", 1), pointer_to(f32(), 1));
}

TEST_F(PointeesTest, UsesThatDisagreeOrSayNothingMakeItABytesPointer) {
  read(
      "define void @f(ptr addrspace(1) %p, ptr %unused) {\n"
      "  %x = load float, ptr addrspace(1) %p\n"
      "  %y = load i32, ptr addrspace(1) %p\n"
      "  ret void\n}");
  EXPECT_EQ(parameter("f", 0), pointer_to(i8(), 1));
  EXPECT_EQ(parameter("f", 1), pointer_to(i8(), 0));
}

TEST_F(PointeesTest, FunctionsFromElsewhereTakeWhatAllCallsGiveThem) {
  read(
      "declare i32 @air.atomic(ptr addrspace(1), i32)\n"
      "declare void @two_minds(ptr addrspace(1))\n"
      "define void @f(ptr addrspace(1) %p, ptr addrspace(1) %q) {\n"
      "  %x = load i32, ptr addrspace(1) %p\n"
      "  %y = load float, ptr addrspace(1) %q\n"
      "  %old = call i32 @air.atomic(ptr addrspace(1) %p, i32 1)\n"
      "  call void @two_minds(ptr addrspace(1) %p)\n"
      "  call void @two_minds(ptr addrspace(1) %q)\n"
      "  ret void\n}");
  EXPECT_EQ(parameter("air.atomic", 0), pointer_to(i32(), 1));
  EXPECT_EQ(parameter("two_minds", 0), pointer_to(i8(), 1));
  const llvm::Instruction& call = *std::next(llvm::inst_begin(function("f")), 3);
  EXPECT_EQ(pointees_->wanted(call, 0), pointer_to(i8(), 1));
}

TEST_F(PointeesTest, AddressesPointToWhatTheyReach) {
  read(
      "%S = type { i32, float }\n"
      "define void @f(ptr %p) {\n"
      "  %a = getelementptr %S, ptr %p, i64 0, i32 1\n"
      "  %room = alloca [3 x i32]\n"
      "  %loaded = load ptr, ptr %a\n"
      "  %x = load i32, ptr %loaded\n"
      "  ret void\n}");
  EXPECT_EQ(parameter("f", 0), pointer_to(llvm::StructType::getTypeByName(context_, "S"), 0));
  EXPECT_EQ(made("f", 0), pointer_to(f32(), 0));
  EXPECT_EQ(made("f", 1), pointer_to(llvm::ArrayType::get(i32(), 3), 0));
  EXPECT_EQ(made("f", 2), pointer_to(i32(), 0));
  const llvm::Instruction& load = *std::next(llvm::inst_begin(function("f")), 2);
  EXPECT_EQ(pointees_->wanted(load, 0), types_.pointer_to(pointer_to(i32(), 0), 0));
}

TEST_F(PointeesTest, AggregatesAndResultsHoldBytesPointers) {
  read(
      "define ptr @f(ptr %p) {\n"
      "  %x = load i32, ptr %p\n"
      "  ret ptr %p\n}\n"
      "define void @g(ptr %p) {\n"
      "  %q = call ptr @f(ptr %p)\n"
      "  %y = load float, ptr %q\n"
      "  ret void\n}");
  EXPECT_EQ(pointees_->signature_of(function("f")).result, pointer_to(i8(), 0));
  EXPECT_EQ(made("g", 0), pointer_to(i8(), 0));
}

}  // namespace
}  // namespace cupola::air
