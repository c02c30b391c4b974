#include "backend/cpu/build/zero_rows.h"

#include <gmock/gmock.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/object_file.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

/// Structures of four floats, the second of which is zero: of eight, two rows, of which `%low` is stored between.
std::string with_orders(const std::string& before, const std::string& after) {
  return "declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)\n" + before + R"(
    %apart = shufflevector <32 x float> %row, <32 x float> zeroinitializer,
      <16 x i32> <i32 0, i32 poison, i32 1, i32 poison, i32 2, i32 poison, i32 3, i32 poison,
                  i32 4, i32 poison, i32 5, i32 poison, i32 6, i32 poison, i32 7, i32 poison>
    %low = shufflevector <16 x float> %apart, <16 x float> zeroinitializer,
      <16 x i32> <i32 0, i32 16, i32 poison, i32 poison, i32 2, i32 18, i32 poison, i32 poison,
                  i32 4, i32 20, i32 poison, i32 poison, i32 6, i32 22, i32 poison, i32 poison>
    call void @llvm.masked.store.v16f32.p0(<16 x float> %low, ptr align 4 %q, <16 x i1> %mask)
    %high = shufflevector <16 x float> %apart, <16 x float> zeroinitializer,
      <16 x i32> <i32 8, i32 24, i32 poison, i32 poison, i32 10, i32 26, i32 poison, i32 poison,
                  i32 12, i32 28, i32 poison, i32 poison, i32 14, i32 30, i32 poison, i32 poison>
  )" + after +
         "}";
}

const std::string kText = with_orders(R"(
  define void @f(ptr %p, ptr %q, i16 %bits) {
    %mask = bitcast i16 %bits to <16 x i1>
    %row = load <32 x float>, ptr %p, align 4
)",
                                      R"(
    %next = getelementptr i8, ptr %q, i64 64
    call void @llvm.masked.store.v16f32.p0(<16 x float> %high, ptr align 4 %next, <16 x i1> %mask)
    ret void
)");

/// Rows that LLVM ends the process over where it sees the zeros.
const std::string kUnselectable = with_orders(R"(
  define <16 x float> @f(<32 x float> %row, <16 x i1> %mask, ptr %q) {
)",
                                              "ret <16 x float> %high\n");

const std::string kUnselectableBits = R"(
  define <16 x i32> @f(<32 x float> %row) {
    %bits = bitcast <32 x float> %row to <32 x i32>
    %apart = shufflevector <32 x i32> %bits, <32 x i32> zeroinitializer,
      <16 x i32> <i32 0, i32 poison, i32 1, i32 poison, i32 2, i32 poison, i32 3, i32 poison,
                  i32 4, i32 poison, i32 5, i32 poison, i32 6, i32 poison, i32 7, i32 poison>
    %low = shufflevector <16 x i32> %apart, <16 x i32> zeroinitializer,
      <16 x i32> <i32 0, i32 16, i32 1, i32 poison, i32 2, i32 18, i32 3, i32 poison,
                  i32 4, i32 20, i32 5, i32 poison, i32 6, i32 22, i32 7, i32 poison>
    ret <16 x i32> %low
  })";

TEST(ZeroRows, AreHiddenFromLlvm) {
  for (const std::string& text : {kUnselectable, kUnselectableBits}) {
    kir::TestModule module(text);
    const auto machine = machine_for("cpu:x86_64:x86-64-v4");
    hide_zeros_in_rows(*module->getFunction("f"), **machine);
    EXPECT_THAT(module.text(), ::testing::Not(::testing::HasSubstr("zeroinitializer, <16")));
    EXPECT_TRUE(emit_object(*module, **machine));
  }
}

TEST(ZeroRows, StayZeros) {
  kir::TestModule module(kText);
  hide_zeros_in_rows(*module->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v4"));
  float from[32], to[32];
  for (int i = 0; i < 32; ++i) from[i] = static_cast<float>(i + 1);
  std::fill(std::begin(to), std::end(to), -1.0f);
  module.function<void(const float*, float*, uint16_t)>("f")(from, to, 0x3333);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(to[i], i % 4 >= 2 ? -1 : i % 4 == 1 ? 0 : static_cast<float>(i / 4 + 1)) << i;
}

}  // namespace
}  // namespace cupola::cpu::build::testing
