// Oracle of the values: the products of parts, added up in C++.

#include "backend/cpu/build/dot_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/TargetParser/Host.h>

#include <array>
#include <random>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_machine.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kLanes = 32;
constexpr kir::DotProduct kProducts[] = {
    {true, false, false},  {true, true, false},  {true, false, true},  {true, true, true},
    {false, false, false}, {false, true, false}, {false, false, true}, {false, true, true},
};

std::string name_of(const kir::DotProduct& product) {
  return std::string(product.of_bytes ? "bytes" : "halves") + (product.left_signed ? "_s" : "_u") +
         (product.right_signed ? "s" : "u");
}

/// void bytes_su(ptr left, ptr right, ptr sum), which adds the products of 32 lanes to `sum`; a function for each kind.
void add_functions(llvm::Module& module, const llvm::TargetMachine& machine) {
  llvm::IRBuilder<> b(module.getContext());
  llvm::Type* words = llvm::FixedVectorType::get(b.getInt32Ty(), kLanes);
  for (const kir::DotProduct& product : kProducts) {
    auto* function = llvm::Function::Create(
        llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false),
        llvm::GlobalValue::ExternalLinkage, name_of(product), module);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
    llvm::Value* operands[3];
    for (unsigned i = 0; i < 3; ++i) operands[i] = b.CreateAlignedLoad(words, function->getArg(i), llvm::Align(4));
    b.CreateAlignedStore(add_products_of_lanes(b, product, operands[0], operands[1], operands[2], machine),
                         function->getArg(2), llvm::Align(4));
    b.CreateRetVoid();
  }
}

int64_t part(uint32_t word, unsigned place, unsigned width, bool is_signed) {
  const int64_t bits = word >> (place * width) & ((uint32_t{1} << width) - 1);
  return is_signed && bits >> (width - 1) ? bits - (int64_t{1} << width) : bits;
}

uint32_t expected(const kir::DotProduct& product, uint32_t left, uint32_t right, uint32_t sum) {
  int64_t total = sum;
  for (unsigned i = 0; i < (product.of_bytes ? 4u : 2u); ++i)
    total += part(left, i, product.of_bytes ? 8 : 16, product.left_signed) * part(right, i, 8, product.right_signed);
  return static_cast<uint32_t>(total);
}

using Row = std::array<uint32_t, kLanes>;

/// Each kind with lanes whose operands are edges, or random.
void expect_values(kir::TestModule& module, const std::string& level) {
  constexpr uint32_t kEdges[] = {0,          1,          0x80808080, 0x7f7f7f7f, 0xffffffff, 0x80008000, 0x7fff7fff,
                                 0x00ff00ff, 0xff00ff00, 0x807f807f, 0x7f807f80, 0x80000000, 0x7fffffff, 0x01020304};
  std::mt19937 random(1);
  const auto operand = [&] { return random() % 2 ? kEdges[random() % std::size(kEdges)] : uint32_t(random()); };
  for (const kir::DotProduct& product : kProducts) {
    auto* add = module.function<void(const uint32_t*, const uint32_t*, uint32_t*)>(name_of(product));
    for (int round = 0; round < 300; ++round) {
      Row left, right, sum;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        left[lane] = operand(), right[lane] = operand(), sum[lane] = operand();
      Row result = sum;
      add(left.data(), right.data(), result.data());
      for (unsigned lane = 0; lane < kLanes; ++lane)
        ASSERT_EQ(result[lane], expected(product, left[lane], right[lane], sum[lane]))
            << level << ", " << name_of(product) << std::hex << ": " << left[lane] << ", " << right[lane];
    }
  }
}

/// Whether this processor does.
bool runs(llvm::StringRef level) {
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  return level != "x86-64-v4" || __builtin_cpu_supports("x86-64-v4");
}

TEST(DotProducts, AreThoseOfThePartsOnEachLevel) {
  for (const std::string level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "host"}) {
    kir::TestModule module("");
    add_functions(*module, **machine_for("cpu:x86_64:" + level));
    if (runs(level)) expect_values(module, level);
  }
}

TEST(DotProducts, InPlainInstructionsAreTheSame) {
  kir::TestModule module("");
  llvm::IRBuilder<> b(module->getContext());
  for (const kir::DotProduct& product : kProducts) {
    auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty()}, false);
    auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name_of(product), *module);
    b.SetInsertPoint(llvm::BasicBlock::Create(module->getContext(), "", f));
    b.CreateRet(kir::add_products(b, product, f->getArg(0), f->getArg(1), f->getArg(2)));
  }
  for (const kir::DotProduct& product : kProducts)
    for (const uint32_t left : {0u, 0x80808080u, 0x7fff8000u, 0xff017f80u})
      for (const uint32_t right : {0u, 0x80808080u, 0x7fff8000u, 0xff017f80u})
        EXPECT_EQ(module.function<uint32_t(uint32_t, uint32_t, uint32_t)>(name_of(product))(left, right, ~0u),
                  expected(product, left, right, ~0u))
            << name_of(product);
}

/// The instructions for a processor.
std::string assembly(const std::string& processor) {
  const auto machine = machine_of(processor);
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  add_functions(module, *machine);
  return emit_assembly(module, *machine);
}

TEST(DotProducts, TakeTheInstructionsThatTheProcessorHas) {
  const std::string int8 = assembly("sierraforest");
  for (const char* one : {"vpdpbssd", "vpdpbsud", "vpdpbuud", "vpdpwssd"}) EXPECT_THAT(int8, HasSubstr(one));
  const std::string wide = assembly("icelake-server");
  for (const char* one : {"vpdpbusd", "vpdpwssd"}) EXPECT_THAT(wide, HasSubstr(one));
  EXPECT_THAT(assembly("znver4"), HasSubstr("(%rdx), %zmm"));
  const std::string narrow = assembly("alderlake");
  for (const char* one : {"vpdpbusd", "vpdpwssd"}) EXPECT_THAT(narrow, HasSubstr(one));
  for (const char* without : {"x86-64-v3", "x86-64-v4"}) {
    const std::string text = assembly(without);
    EXPECT_THAT(text, HasSubstr("vpmaddwd"));
    EXPECT_THAT(text, Not(HasSubstr("vpmulld")));
    EXPECT_THAT(text, Not(HasSubstr("vpdp")));
  }
  EXPECT_THAT(assembly("x86-64"), HasSubstr("pmaddwd"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
