#include "backend/cpu/build/divided_rows.h"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "backend/cpu/build/test_machine.h"
#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

// Oracle: the host's division, a number at a time.

namespace cupola::cpu::build::testing {
namespace {

constexpr size_t kLanes = 16;
using Row = std::array<uint32_t, kLanes>;

/// What a division of %a by %b, or by %d, which is one for all, is made of.
constexpr const char *kByRow = "%v = {} <16 x i32> %a, %b", *kByOne = R"(
      %first = insertelement <16 x i32> poison, i32 %d, i64 0
      %all = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
      %v = {} <16 x i32> %a, %all)",
                     *kGuarded = R"(
      %first = insertelement <16 x i32> poison, i32 %d, i64 0
      %all = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
      %is.zero = icmp eq <16 x i32> %all, zeroinitializer
      %is.least = icmp eq <16 x i32> %a, splat (i32 -2147483648)
      %is.minus = icmp eq <16 x i32> %all, splat (i32 -1)
      %both = and <16 x i1> %is.least, %is.minus
      %traps = or <16 x i1> %is.zero, %both
      %safe = select <16 x i1> %traps, <16 x i32> splat (i32 1), <16 x i32> %all
      %v = {} <16 x i32> %a, %safe)";

struct Operation {
  const char* name;
  uint32_t (*of)(uint32_t a, uint32_t b);
  bool is_signed;
};
constexpr Operation kOperations[] = {
    {"udiv", [](uint32_t a, uint32_t b) { return a / b; }, false},
    {"urem", [](uint32_t a, uint32_t b) { return a % b; }, false},
    {"sdiv", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(int64_t(int32_t(a)) / int32_t(b)); }, true},
    {"srem", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(int64_t(int32_t(a)) % int32_t(b)); }, true},
};

bool divides(kir::TestModule& module) {
  return llvm::any_of(llvm::instructions(*module->getFunction("f")), [](const llvm::Instruction& instruction) {
    return instruction.getType()->isVectorTy() && instruction.isIntDivRem();
  });
}

/// Numbers at which results step, and others.
std::vector<uint32_t> numbers() {
  std::vector<uint32_t> all = {0, 1, 2, 3, 5, 7, 10, 255, 256, 641, 1000, 4095, 4096, 65535, 65536, 65537, 6700417};
  for (const uint32_t number : {0x7fffffffu, 0x80000000u, 0xffffffffu, 0xaaaaaaaau, 0x55555555u})
    for (const int step : {-2, -1, 0, 1, 2}) all.push_back(number + static_cast<uint32_t>(step));
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) all.push_back(static_cast<uint32_t>(random()) >> (i % 32));
  while (all.size() % kLanes != 0) all.push_back(static_cast<uint32_t>(random()));
  return all;
}

/// All numbers by all others, and their multiples and what is one less by themselves.
void expect_divided(const Operation& operation, const char* text, bool is_guarded, const char* processor) {
  SCOPED_TRACE(std::string(operation.name) + text + processor);
  kir::TestModule module(R"(
    define void @f(ptr %pa, ptr %pb, i32 %d, ptr %out) {
      %a = load <16 x i32>, ptr %pa, align 4
      %b = load <16 x i32>, ptr %pb, align 4
      )" + formatted(fmt::runtime(text), operation.name) +
                         "\nstore <16 x i32> %v, ptr %out, align 4\nret void }");
  divide_rows(*module->getFunction("f"), *machine_of(processor));
  EXPECT_FALSE(divides(module));
  auto* f = module.function<void(const uint32_t*, const uint32_t*, uint32_t, uint32_t*)>("f");
  const std::vector<uint32_t> all = numbers();
  for (const uint32_t b : all) {
    if (b == 0) continue;
    for (size_t i = 0; i < all.size(); i += kLanes) {
      Row a{}, by{}, got{}, expected{};
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t number = all[i + lane], multiple = number / b * b;
        a[lane] = lane % 3 == 0 ? number : lane % 3 == 1 ? multiple : multiple - 1;
        if (operation.is_signed && !is_guarded && b == UINT32_MAX && a[lane] == 0x80000000u) a[lane] = 0;
        by[lane] = b;
        expected[lane] = operation.of(a[lane], b);
      }
      f(a.data(), by.data(), b, got.data());
      ASSERT_EQ(got, expected) << "by " << b << ", from " << a[0] << " on";
    }
  }
}

TEST(DividedRows, AreWhatDivisionsAre) {
  for (const char* processor : {"x86-64", "x86-64-v3"})  // which has an instruction to multiply and add
    for (const Operation& operation : kOperations) {
      expect_divided(operation, kByRow, false, processor);
      expect_divided(operation, kByOne, false, processor);
      expect_divided(operation, kGuarded, true, processor);
    }
}

// By a constant LLVM multiplies integers; a few numbers of 64 bits are divided one after the other.
TEST(DividedRows, AreNotThoseThatAreDoneOtherwise) {
  for (const char* row :
       {"%v = udiv <16 x i32> %a, splat (i32 7)", "%v = udiv <2 x i32> %few, %few", "%v = udiv <4 x i64> %wide, %wide",
        "%v = udiv <12 x i32> %odd, %odd", "%v = udiv i32 %one, %one"}) {
    kir::TestModule module(
        std::string("define void @f(<16 x i32> %a, <2 x i32> %few, <4 x i64> %wide, <12 x i32> %odd, i32 %one) {\n") +
        row + "\nret void }");
    divide_rows(*module->getFunction("f"), *machine_of("x86-64-v3"));
    EXPECT_TRUE(llvm::any_of(llvm::instructions(*module->getFunction("f")), [](const llvm::Instruction& instruction) {
      return instruction.isIntDivRem();
    })) << row;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
