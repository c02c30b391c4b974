// Oracle: a GPU's rules for NaNs, worked out by hand: a sum with a NaN is a NaN, a minimum the other operand; sums of
// numbers are exact here. A loop that waits for a NaN to equal itself would never end.

#include <bit>

#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

struct NarrowAtomic {
  const char *operation, *type;
  uint16_t memory, operand;
  uint16_t after;  ///< 0x7fff: any NaN
};

bool is_nan(const NarrowAtomic& c, uint16_t bits) {
  const int infinity = std::string(c.type).ends_with("bfloat") ? 0x7f80 : 0x7c00;
  return (bits & 0x7fff) > infinity;
}

TEST(FloatAtomics, EndAndReturnTheOldBitsWhateverTheyAre) {
  constexpr NarrowAtomic kCases[] = {
      {"fadd", "bfloat", 0x7f81, 0x3f80, 0x7fff}, {"fadd", "bfloat", 0xffa5, 0x3f80, 0x7fff},
      {"fadd", "bfloat", 0x3f80, 0x3f80, 0x4000}, {"fadd", "bfloat", 0x7fc1, 0x3f80, 0x7fff},
      {"fmin", "bfloat", 0x7fc1, 0x3f80, 0x3f80}, {"fmax", "bfloat", 0x4000, 0x3f80, 0x4000},
      {"fadd", "half", 0x7c01, 0x3c00, 0x7fff},   {"fadd", "half", 0xfd55, 0x3c00, 0x7fff},
      {"fadd", "half", 0x3c00, 0x3c00, 0x4000},   {"fadd", "half", 0x0001, 0x0001, 0x0002},
      {"fmin", "half", 0x7e01, 0x3c00, 0x3c00},   {"fmax", "half", 0x3c00, 0x4000, 0x4000},
      {"fsub", "half", 0x7c01, 0x3c00, 0x7fff},   {"fsub", "bfloat", 0x4000, 0x3f80, 0x3f80},
  };
  for (const NarrowAtomic& c : kCases) {
    const std::string type = c.type;
    TestProgram program("define ptx_kernel void @k(ptr %p, " + type + " %x, ptr %old) {\n %r = atomicrmw " +
                        c.operation + " ptr %p, " + type + " %x monotonic, align 2\n %b = bitcast " + type +
                        " %r to i16\n store i16 %b, ptr %old\n ret void\n}");
    uint16_t memory[] = {0x1234, c.memory, 0x5678}, old = 0;
    program.launch("k", {1}, {1}, &memory[1], c.operand, &old);
    const std::string what = std::string(c.operation) + " " + c.type + " " + std::to_string(c.memory);
    EXPECT_EQ(old, c.memory) << what;
    if (c.after == 0x7fff)
      EXPECT_TRUE(is_nan(c, memory[1])) << what << ": " << memory[1];
    else
      EXPECT_EQ(memory[1], c.after) << what;
    EXPECT_EQ(memory[0], 0x1234);
    EXPECT_EQ(memory[2], 0x5678);
  }
}

TEST(FloatAtomics, PairsOfNumbersChangeAtOnce) {
  for (const char* type : {"half", "bfloat"}) {
    TestProgram program("define ptx_kernel void @k(ptr %p, i32 %x, ptr %old) {\n %v = bitcast i32 %x to <2 x " +
                        std::string(type) + ">\n %r = atomicrmw fadd ptr %p, <2 x " + type +
                        "> %v monotonic, align 4\n %b = bitcast <2 x " + type +
                        "> %r to i32\n store i32 %b, ptr %old\n ret void\n}");
    const bool is_half = std::string(type) == "half";
    const uint32_t one = is_half ? 0x3c00 : 0x3f80, two = 0x4000, signalling = is_half ? 0x7c01 : 0x7f81;
    uint32_t memory = signalling << 16 | one, old = 0;
    program.launch("k", {1}, {1}, &memory, one << 16 | one, &old);
    EXPECT_EQ(old, signalling << 16 | one);
    EXPECT_EQ(memory & 0xffff, two);
    EXPECT_GT(memory >> 16 & 0x7fff, is_half ? 0x7c00U : 0x7f80U);
  }
}

// What an H200 leaves in memory (tests/ptx/values/atomics.tsv).
TEST(FloatAtomics, SumsFlushDenormalsInGlobalMemoryAlone) {
  struct Sum {
    uint32_t memory, operand, in_global, in_shared;
  };
  constexpr Sum kSums[] = {
      {1, 0, 0, 1},
      {0, 1, 0, 1},
      {0x80000001, 0x80000000, 0x80000000, 0x80000001},
      {0x00400000, 0x00400000, 0, 0x00800000},
      {0x00800001, 0x80800000, 0, 1},
      {0x3f800000, 0x40000000, 0x40400000, 0x40400000},
  };
  const char* const text = R"(
    @tile = internal addrspace(3) global float undef
    define ptx_kernel void @k(ptr %p, float %x, i32 %where, ptr %out) {
      %shared = icmp ne i32 %where, 0
      %w = load float, ptr %p
      store float %w, ptr addrspace(3) @tile
      %t = addrspacecast ptr addrspace(3) @tile to ptr
      %any = select i1 %shared, ptr %t, ptr %p
      %old = atomicrmw fadd ptr %any, float %x monotonic, align 4
      %known = atomicrmw fadd ptr addrspace(3) @tile, float -0.0 monotonic, align 4
      %now = load float, ptr %any
      %old.bits = bitcast float %old to i32
      store i32 %old.bits, ptr %out
      %next = getelementptr i32, ptr %out, i32 1
      store float %now, ptr %next
      ret void
    })";
  TestProgram program(text);
  for (const Sum& c : kSums) {
    for (const uint32_t shared : {0, 1}) {
      uint32_t memory = c.memory, out[2] = {};
      program.launch("k", {1}, {1}, &memory, std::bit_cast<float>(c.operand), shared, &out[0]);
      EXPECT_EQ(out[0], c.memory) << c.operand << shared;
      EXPECT_EQ(out[1], shared ? c.in_shared : c.in_global) << c.memory << " " << c.operand;
    }
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
