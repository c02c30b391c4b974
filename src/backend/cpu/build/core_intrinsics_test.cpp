// Every row of kir's core_intrinsics.def that computes compiles here, for every type it may have: no call of a function
// outside the closed table, nothing that code generation cannot select.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <array>
#include <cmath>

#include "backend/cpu/build/test_program.h"
#include "kir/core_intrinsics.h"

namespace cupola::cpu::build::testing {
namespace {

struct Row {
  llvm::Intrinsic::ID intrinsic;
  kir::CoreClass group;
};
constexpr Row kRows[] = {
#define KIR_CORE(name, group) {llvm::Intrinsic::name, kir::CoreClass::group},
#include "kir/core_intrinsics.def"
#undef KIR_CORE
};

std::vector<llvm::Type*> types_of(kir::CoreClass group, llvm::LLVMContext& context) {
  const auto pairs = [](std::vector<llvm::Type*> types) {
    for (llvm::Type* type : std::vector(types)) types.push_back(llvm::FixedVectorType::get(type, 2));
    return types;
  };
  llvm::IRBuilder<> b(context);
  const std::vector<llvm::Type*> integers = {b.getInt8Ty(), b.getInt16Ty(), b.getInt32Ty(), b.getInt64Ty()};
  switch (group) {
    case kir::CoreClass::kFloat:
      return pairs({b.getHalfTy(), b.getBFloatTy(), b.getFloatTy(), b.getDoubleTy()});
    case kir::CoreClass::kInteger:
      return pairs(integers);
    case kir::CoreClass::kReduction: {
      std::vector<llvm::Type*> vectors;
      for (llvm::Type* type : integers) vectors.push_back(llvm::FixedVectorType::get(type, 4));
      return vectors;
    }
    case kir::CoreClass::kMemory:
    case kir::CoreClass::kPointer:
      return {b.getPtrTy(0), b.getPtrTy(1), b.getPtrTy(3)};
    case kir::CoreClass::kStack:
      return {b.getPtrTy(0)};
    case kir::CoreClass::kHint:  // each is made another way; what they leave is nothing
      return {};
  }
  return {};
}

/// The types that the name carries, when the row works on `type`.
std::vector<llvm::Type*> overloads_of(llvm::Intrinsic::ID intrinsic, llvm::Type* type) {
  llvm::IRBuilder<> b(type->getContext());
  const auto as_shape = [&](llvm::Type* element) -> llvm::Type* {
    return type->isVectorTy() ? llvm::FixedVectorType::get(element, 2) : element;
  };
  switch (intrinsic) {
    case llvm::Intrinsic::ldexp:
    case llvm::Intrinsic::frexp:
      return {type, as_shape(b.getInt32Ty())};
    case llvm::Intrinsic::scmp:
    case llvm::Intrinsic::ucmp:
      return {as_shape(b.getInt32Ty()), type};
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memcpy_inline:
    case llvm::Intrinsic::memmove:
      return {type, type, b.getInt64Ty()};
    case llvm::Intrinsic::memset:
    case llvm::Intrinsic::memset_inline:
    case llvm::Intrinsic::ptrmask:
      return {type, b.getInt64Ty()};
    default:
      return {type};
  }
}

/// A kernel that takes each operand from memory and stores the result.
void make_kernel(llvm::Module& module, llvm::Intrinsic::ID intrinsic, llvm::Type* type) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto* kernel = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
                                        llvm::GlobalValue::ExternalLinkage, "k", module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", kernel));
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(&module, intrinsic, overloads_of(intrinsic, type));
  llvm::SmallVector<llvm::Value*, 4> arguments;
  for (const llvm::Argument& argument : callee->args())
    arguments.push_back(argument.hasAttribute(llvm::Attribute::ImmArg)
                            ? llvm::cast<llvm::Value>(llvm::ConstantInt::get(argument.getType(), 0))
                            : b.CreateLoad(argument.getType(), kernel->getArg(0)));
  llvm::Value* result = b.CreateCall(callee, arguments);
  if (!result->getType()->isVoidTy()) b.CreateStore(result, kernel->getArg(0));
  b.CreateRetVoid();
}

TEST(CoreIntrinsics, EveryRowOfEveryTypeCompiles) {
  size_t built = 0;
  for (const Row& row : kRows) {
    llvm::LLVMContext types;
    const size_t count = types_of(row.group, types).size();
    for (size_t i = 0; i < count; ++i) {
      llvm::LLVMContext context;
      llvm::Type* type = types_of(row.group, context)[i];
      if (row.intrinsic == llvm::Intrinsic::bswap && type->getScalarSizeInBits() == 8) continue;  // there is none
      auto module = parse(context, "");
      make_kernel(*module, row.intrinsic, type);
      const std::string text = llvm::Intrinsic::getBaseName(row.intrinsic).str();
      const auto image = build(std::move(module), {.target = "cpu:test", .keep = {}});
      EXPECT_TRUE(image) << text << ", type " << i << ": " << image.error().message;
      ++built;
    }
  }
  EXPECT_GT(built, 300u);
}

// Oracle: std::frexp.
TEST(CoreIntrinsics, LanesHaveFractionsAndExponentsOfTheirOwn) {
  TestProgram program(R"(
    declare i32 @cupola.tid.x()
    declare { double, i32 } @llvm.frexp.f64.i32(double)
    define ptx_kernel void @k(ptr %values, ptr %exponents) {
      %t = call i32 @cupola.tid.x()
      %i = zext i32 %t to i64
      %v = getelementptr double, ptr %values, i64 %i
      %e = getelementptr i32, ptr %exponents, i64 %i
      %x = load double, ptr %v
      %both = call { double, i32 } @llvm.frexp.f64.i32(double %x)
      %fraction = extractvalue { double, i32 } %both, 0
      %exponent = extractvalue { double, i32 } %both, 1
      store double %fraction, ptr %v
      store i32 %exponent, ptr %e
      ret void
    })");
  std::array<double, 32> values, fractions;
  std::array<int, 32> exponents{}, expected{};
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::ldexp(1.0 + static_cast<double>(i), static_cast<int>(i * 60) - 1050);
    fractions[i] = std::frexp(values[i], &expected[i]);
  }
  program.launch("k", {1}, {32}, values.data(), exponents.data());
  EXPECT_EQ(values, fractions);
  EXPECT_EQ(exponents, expected);
}

TEST(CoreIntrinsics, HintsOnSharedMemoryLeaveNothing) {
  TestProgram program(R"(
    @s = addrspace(3) global [4 x i32] poison, align 16
    declare void @llvm.prefetch.p3(ptr addrspace(3), i32 immarg, i32 immarg, i32 immarg)
    declare void @llvm.assume(i1)
    define ptx_kernel void @k(ptr %out) {
      call void @llvm.prefetch.p3(ptr addrspace(3) @s, i32 0, i32 3, i32 1)
      call void @llvm.assume(i1 true) [ "align"(ptr addrspace(3) @s, i64 16) ]
      store i32 5, ptr addrspace(3) @s
      %v = load i32, ptr addrspace(3) @s
      store i32 %v, ptr %out
      ret void
    })");
  int out = 0;
  program.launch("k", {1}, {1}, &out);
  EXPECT_EQ(out, 5);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
