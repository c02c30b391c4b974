#include "backend/cpu/build/interleaved_fields.h"

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include <string>

#include "backend/cpu/build/rung_comparison_fixture.h"
#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

/// Eight structures of two numbers in four registers: %f0 and %f1 have one field each.
constexpr const char* kFields = R"(
    %p1 = getelementptr i8, ptr %p, i64 16
    %p2 = getelementptr i8, ptr %p, i64 32
    %p3 = getelementptr i8, ptr %p, i64 48
    %r0 = load <4 x float>, ptr %p
    %r1 = load <4 x float>, ptr %p1
    %r2 = load <4 x float>, ptr %p2
    %r3 = load <4 x float>, ptr %p3
    %a0 = shufflevector <4 x float> %r0, <4 x float> %r1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
    %a1 = shufflevector <4 x float> %r0, <4 x float> %r1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
    %b0 = shufflevector <4 x float> %r2, <4 x float> %r3, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
    %b1 = shufflevector <4 x float> %r2, <4 x float> %r3, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
    %f0 = shufflevector <4 x float> %a0, <4 x float> %b0, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
    %f1 = shufflevector <4 x float> %a1, <4 x float> %b1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
)";
/// Another number for each register of four lanes.
constexpr const char* kFactor = R"(
    %x.one = insertelement <4 x float> poison, float %x, i64 0
    %x.all = shufflevector <4 x float> %x.one, <4 x float> poison, <8 x i32> zeroinitializer
    %y.one = insertelement <4 x float> poison, float %y, i64 0
    %y.all = shufflevector <4 x float> %y.one, <4 x float> poison, <8 x i32> zeroinitializer
    %factor = select <8 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0>, <8 x float> %x.all, <8 x float> %y.all
)";

struct Loop {
  std::string sums = R"(
    %t0 = call <8 x float> @llvm.fma.v8f32(<8 x float> %factor, <8 x float> %f0, <8 x float> %s0)
    %t1 = call <8 x float> @llvm.fma.v8f32(<8 x float> %factor, <8 x float> %f1, <8 x float> %s1)
)";
  std::string first0 = "zeroinitializer", first1 = "zeroinitializer", next0 = "%t0", next1 = "%t1";
  std::string fields = kFields, more;
};

/// Whether sums of a loop are made in the order of memory, so that nobody reads fields in it.
bool keeps(const Loop& loop) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
    declare <8 x float> @llvm.minnum.v8f32(<8 x float>, <8 x float>)
    declare <8 x float> @llvm.maxnum.v8f32(<8 x float>, <8 x float>)
    define void @k(ptr %context, ptr %p, ptr %o, float %x, float %y, <8 x float> %lanes, i32 %n) {
    begin:
      br label %loop
    loop:
      %i = phi i32 [ 0, %begin ], [ %next, %loop ]
      %s0 = phi <8 x float> [ )" + loop.first0 +
                                         ", %begin ], [ " + loop.next0 + R"(, %loop ]
      %s1 = phi <8 x float> [ )" + loop.first1 +
                                         ", %begin ], [ " + loop.next1 + ", %loop ]\n" + loop.fields + kFactor +
                                         loop.sums + loop.more + R"(
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %n
      br i1 %more, label %loop, label %out
    out:
      %o1 = getelementptr i8, ptr %o, i64 32
      store <8 x float> )" + loop.next0 + R"(, ptr %o
      store <8 x float> )" + loop.next1 + R"(, ptr %o1
      ret void
    })");
  llvm::Function& code = *module->getFunction("k");
  keep_fields_interleaved(code);
  EXPECT_FALSE(llvm::verifyFunction(code, &llvm::errs()));
  bool some_read = false;
  for (const llvm::Instruction& instruction : llvm::instructions(code))
    some_read |= (instruction.getName() == "f0" || instruction.getName() == "f1") && !instruction.use_empty();
  return !some_read;
}

TEST(InterleavedFields, SumsAreMadeInTheOrderOfMemory) {
  EXPECT_TRUE(keeps({}));
  EXPECT_TRUE(keeps({.sums = R"(
    %m0 = fmul <8 x float> %factor, %f0
    %m1 = fmul <8 x float> %factor, %f1
    %t0 = fadd <8 x float> %s0, %m0
    %t1 = fadd <8 x float> %s1, %m1
)"}));
  EXPECT_TRUE(keeps({.first0 = "splat (float 2.0)", .first1 = "splat (float 2.0)"}));
  EXPECT_TRUE(keeps({.sums = R"(
    %u0 = fmul <8 x float> %f0, %f0
    %u1 = fmul <8 x float> %f1, %f1
    %t0 = fadd <8 x float> %s0, %u0
    %t1 = fadd <8 x float> %s1, %u1
)"}));
}

TEST(InterleavedFields, WhatDiffersBetweenFieldsIsNot) {
  EXPECT_FALSE(keeps({.first0 = "splat (float 1.0)"})) << "where they begin";
  EXPECT_FALSE(keeps({.next0 = "%t1", .next1 = "%t0"})) << "fields change places";
  EXPECT_FALSE(keeps({.sums = R"(
    %t0 = fadd <8 x float> %s0, %f0
    %t1 = fsub <8 x float> %s1, %f1
)"}));
  EXPECT_FALSE(keeps({.sums = R"(
    %t0 = call <8 x float> @llvm.minnum.v8f32(<8 x float> %s0, <8 x float> %f0)
    %t1 = call <8 x float> @llvm.maxnum.v8f32(<8 x float> %s1, <8 x float> %f1)
)"}));
  EXPECT_FALSE(keeps({.sums = R"(
    %t0 = fadd nnan <8 x float> %s0, %f0
    %t1 = fadd <8 x float> %s1, %f1
)"})) << "what is promised of one";
  EXPECT_FALSE(keeps({.sums = R"(
    %t0 = fsub <8 x float> %s0, %f0
    %t1 = fsub <8 x float> %f1, %s1
)"}));
  EXPECT_FALSE(keeps({.sums = R"(
    %m0 = fmul <8 x float> %x.all, %f0
    %m1 = fmul <8 x float> %y.all, %f1
    %t0 = fadd <8 x float> %s0, %m0
    %t1 = fadd <8 x float> %s1, %m1
)"}));
  EXPECT_FALSE(keeps({.sums = R"(
    %t0 = fadd <8 x float> %s0, %f0
    %t1 = fadd <8 x float> %s0, %f1
)"}));
}

TEST(InterleavedFields, WhatDiffersBetweenLanesIsNot) {
  for (const char* differing : {"%lanes",
                                "<float 1.0, float 2.0, float 1.0, float 2.0, float 1.0, float 2.0, "
                                "float 1.0, float 2.0>"}) {
    EXPECT_FALSE(keeps({.first0 = differing, .first1 = differing}));
    const std::string product = "= fmul <8 x float> " + std::string(differing) + ", ";
    EXPECT_FALSE(keeps({.sums = "%m0 " + product + "%f0\n%m1 " + product +
                                "%f1\n%t0 = fadd <8 x float> %s0, %m0\n%t1 = fadd <8 x float> %s1, %m1\n"}));
  }
}

TEST(InterleavedFields, WhatLoopsReadOtherwiseIsNot) {
  EXPECT_FALSE(keeps({.more = "store <8 x float> %f1, ptr %o\n"}));
  EXPECT_FALSE(keeps({.more = "store <8 x float> %t0, ptr %o\n"}));
  EXPECT_FALSE(keeps({.more = "%turned = shufflevector <8 x float> %s0, <8 x float> poison, <8 x i32> <i32 1, i32 0, "
                              "i32 3, i32 2, i32 5, i32 4, i32 7, i32 6>\nstore <8 x float> %turned, ptr %o\n"}));
  std::string others = kFields;
  others.replace(others.rfind("%a1, <4 x float> %b1"), 3, "%b1");  // of the second field the last structures twice
  EXPECT_FALSE(keeps({.fields = others}));
}

/// Threads sum up what lies beside each other in shared memory, four or two numbers each, for each with what the loop's
/// turn or a row of the block says; %sums of them.
std::string program(unsigned count, bool by_rows, const std::string& last) {
  std::string text = "@tile = internal addrspace(3) global [4096 x float] undef, align 16\n";
  std::string body = R"(
      br label %fill
    fill:
      %k = phi i32 [ %me, %0 ], [ %k.next, %fill ]
      %k64 = zext i32 %k to i64
      %masked = and i64 %k64, 1023
      %from = getelementptr i32, ptr %in, i64 %masked
      %word = load i32, ptr %from
      %small = and i32 %word, 255
      %number = uitofp i32 %small to float
      %to = getelementptr float, ptr addrspace(3) @tile, i32 %k
      store float %number, ptr addrspace(3) %to
      %k.next = add i32 %k, 32
      %k.more = icmp ult i32 %k.next, 4096
      br i1 %k.more, label %fill, label %filled
    filled:
      call void @cupola.barrier(i32 0, i32 0)
      br label %turn
    turn:
      %i = phi i32 [ 0, %filled ], [ %i.next, %turn ]
)";
  for (unsigned j = 0; j < count; ++j) body += formatted("%s{0} = phi float [ 0.0, %filled ], [ %t{0}, %turn ]\n", j);
  body += formatted(
      "%row = mul i32 %i, 256\n%mine = mul i32 %x, {}\n%begin = add i32 %row, %mine\n"
      "%which = {}\n%which64 = zext i32 %which to i64\n%f.at = getelementptr i32, ptr %in, i64 %which64\n"
      "%f.word = load i32, ptr %f.at\n%f.small = and i32 %f.word, 15\n%factor = uitofp i32 %f.small to float\n",
      count, by_rows ? "add i32 %i, %y" : "add i32 %i, 5");
  for (unsigned j = 0; j < count; ++j)
    body += formatted(
        "%at{0} = add i32 %begin, {0}\n%a{0} = getelementptr float, ptr addrspace(3) @tile, i32 %at{0}\n"
        "%v{0} = load float, ptr addrspace(3) %a{0}\n"
        "%t{0} = call float @llvm.fma.f32(float %factor, float %v{0}, float %s{0})\n",
        j);
  body +=
      "%i.next = add i32 %i, 1\n%i.more = icmp ult i32 %i.next, 9\nbr i1 %i.more, label %turn, label %over\nover:\n";
  return text + "declare float @llvm.fma.f32(float, float, float)\n" + kernel_with(body + last);
}

TEST(InterleavedFields, SumsAreWhatAThreadAtATimeMakes) {
  for (const unsigned count : {2u, 4u})
    for (const bool by_rows : {false, true}) {
      std::string last = "%r0 = fptoui float %t0 to i32\n";
      for (unsigned j = 1; j < count; ++j)
        last += formatted(
            "%w{0} = fptoui float %t{0} to i32\n%m{0} = mul i32 %r{1}, 31\n%r{0} = xor i32 %m{0}, %w{0}\n", j, j - 1);
      last += formatted("%r = add i32 %r{}, 0\nbr label %write", count - 1);
      for (const Dim3& block : {Dim3{64}, Dim3{32, 2}, Dim3{16, 16}, Dim3{8, 8}, Dim3{40}})
        EXPECT_EQ(RungComparison().compare_for_shape(program(count, by_rows, last), block), "")
            << count << by_rows << " " << block.x << " x " << block.y;
    }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
