#include "backend/metal/build/raise/take_vectors_apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <array>

#include "kir/test_module.h"

namespace cupola::metal::build {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The text's module, which has no vectors any more. Tests run it.
class TakenApart : public kir::TestModule {
 public:
  explicit TakenApart(const std::string& module) : TestModule(module) {
    take_vectors_apart(**this);
    EXPECT_FALSE(llvm::verifyModule(**this, &llvm::errs()));
    for (const llvm::Function& function : **this) {
      if (function.isDeclaration()) continue;
      for (const llvm::Argument& argument : function.args()) EXPECT_FALSE(argument.getType()->isVectorTy()) << text();
      for (const llvm::Instruction& instruction : llvm::instructions(function)) {
        EXPECT_FALSE(instruction.getType()->isVectorTy()) << text();
        for (const llvm::Value* operand : instruction.operands())
          EXPECT_FALSE(operand->getType()->isVectorTy()) << text();
      }
    }
  }
};

TEST(TakeVectorsApart, CastsFromNumbersAndToThem) {
  TakenApart module(R"(
    define i32 @swapped(i32 %x) {
      %halves = bitcast i32 %x to <2 x i16>
      %turned = shufflevector <2 x i16> %halves, <2 x i16> poison, <2 x i32> <i32 1, i32 0>
      %y = bitcast <2 x i16> %turned to i32
      ret i32 %y
    }
    define i64 @negated(i64 %x) {
      %halves = bitcast i64 %x to <4 x half>
      %less = fneg <4 x half> %halves
      %y = bitcast <4 x half> %less to i64
      ret i64 %y
    })");
  EXPECT_EQ(module.function<uint32_t(uint32_t)>("swapped")(0x12345678), 0x56781234u);
  EXPECT_EQ(module.function<uint64_t(uint64_t)>("negated")(0x0001800300050007), 0x8001000380058007u);
}

TEST(TakeVectorsApart, CastsBetweenVectorsOfOtherLengths) {
  TakenApart module(R"(
    define i32 @second_byte(float %a, float %b) {
      %one = insertelement <2 x float> poison, float %a, i32 0
      %two = insertelement <2 x float> %one, float %b, i32 1
      %bytes = bitcast <2 x float> %two to <8 x i8>
      %byte = extractelement <8 x i8> %bytes, i32 7
      %x = zext i8 %byte to i32
      ret i32 %x
    }
    define i64 @of_bytes(i32 %a, i32 %b) {
      %one = insertelement <2 x i32> poison, i32 %a, i32 0
      %two = insertelement <2 x i32> %one, i32 %b, i32 1
      %bytes = bitcast <2 x i32> %two to <8 x i8>
      %turned = shufflevector <8 x i8> %bytes, <8 x i8> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
      %word = bitcast <8 x i8> %turned to <1 x i64>
      %x = extractelement <1 x i64> %word, i32 0
      ret i64 %x
    }
    define i32 @three_as_two(i32 %a) {
      %short = trunc i32 %a to i16
      %three = insertelement <3 x i16> <i16 1, i16 2, i16 3>, i16 %short, i32 1
      %two = bitcast <3 x i16> %three to <2 x i24>
      %last = extractelement <2 x i24> %two, i32 1
      %x = zext i24 %last to i32
      ret i32 %x
    })");
  EXPECT_EQ(module.function<uint32_t(float, float)>("second_byte")(0, 1.0f), 0x3fu);
  EXPECT_EQ(module.function<uint64_t(uint32_t, uint32_t)>("of_bytes")(0x04030201, 0x08070605), 0x0102030405060708u);
  EXPECT_EQ(module.function<uint32_t(uint32_t)>("three_as_two")(0xabcd), 0x3abu);
}

TEST(TakeVectorsApart, BitsAreNumbersInMemoryAndOutOfIt) {
  TakenApart module(R"(
    define i32 @less(i64 %x, i64 %y, ptr %kept) {
      %a = bitcast i64 %x to <8 x i8>
      %b = bitcast i64 %y to <8 x i8>
      %which = icmp ult <8 x i8> %a, %b
      store <8 x i1> %which, ptr %kept
      %again = load <8 x i1>, ptr %kept
      %mask = bitcast <8 x i1> %again to i8
      %r = zext i8 %mask to i32
      ret i32 %r
    })");
  unsigned char kept = 0;
  EXPECT_EQ(module.function<uint32_t(uint64_t, uint64_t, void*)>("less")(0x0102030405060708, 0x0201030406050809, &kept),
            0x8bu);
  EXPECT_EQ(kept, 0x8b);
}

TEST(TakeVectorsApart, VolatileElementsAreReadOnce) {
  TakenApart module(R"(
    define i32 @sum(ptr %p) {
      %x = load volatile <2 x i16>, ptr %p
      store volatile <2 x i16> %x, ptr %p
      %sum = call i16 @llvm.vector.reduce.add.v2i16(<2 x i16> %x)
      %r = zext i16 %sum to i32
      ret i32 %r
    }
    declare i16 @llvm.vector.reduce.add.v2i16(<2 x i16>))");
  EXPECT_THAT(module.text(), HasSubstr("load volatile i16"));
  const std::string text = module.text();
  size_t loads = 0;
  for (size_t at = text.find("load volatile"); at != std::string::npos; at = text.find("load volatile", at + 1))
    ++loads;
  EXPECT_EQ(loads, 2u);
  std::array<uint16_t, 2> memory = {40, 2};
  EXPECT_EQ(module.function<uint32_t(void*)>("sum")(memory.data()), 42u);
}

TEST(TakeVectorsApart, FunctionsTakeAndReturnStructures) {
  TakenApart module(R"(
    define internal { <2 x i16>, i32 } @turned({ <2 x i16>, i32 } noundef %x, <2 x i16> noundef %more) {
      %v = extractvalue { <2 x i16>, i32 } %x, 0
      %sum = add <2 x i16> %v, %more
      %r = insertvalue { <2 x i16>, i32 } %x, <2 x i16> %sum, 0
      ret { <2 x i16>, i32 } %r
    }
    define i32 @f(i32 %x, i1 %by_pointer) {
      %two = bitcast i32 %x to <2 x i16>
      %whole = insertvalue { <2 x i16>, i32 } { <2 x i16> poison, i32 7 }, <2 x i16> %two, 0
      %callee = select i1 %by_pointer, ptr @turned, ptr @turned
      %a = call { <2 x i16>, i32 } %callee({ <2 x i16>, i32 } %whole, <2 x i16> <i16 1, i16 2>)
      %b = call { <2 x i16>, i32 } @turned({ <2 x i16>, i32 } %a, <2 x i16> <i16 1, i16 2>)
      %v = extractvalue { <2 x i16>, i32 } %b, 0
      %n = extractvalue { <2 x i16>, i32 } %b, 1
      %bits = bitcast <2 x i16> %v to i32
      %r = add i32 %bits, %n
      ret i32 %r
    })");
  EXPECT_EQ(module.function<uint32_t(uint32_t, bool)>("f")(0x00100020, true), 0x00140022u + 7);
}

TEST(TakeVectorsApart, ElementsByNumbersKnownLater) {
  TakenApart module(R"(
    define i32 @put(i32 %x, i32 %at, i8 %byte, i1 %turn, i32 %turns) {
    entry:
      %four = bitcast i32 %x to <4 x i8>
      br label %loop
    loop:
      %before = phi <4 x i8> [ %four, %entry ], [ %chosen, %loop ]
      %turn.before = phi i32 [ 0, %entry ], [ %turn.now, %loop ]
      %put = insertelement <4 x i8> %before, i8 %byte, i32 %at
      %other = shufflevector <4 x i8> %put, <4 x i8> %before, <4 x i32> <i32 1, i32 0, i32 7, i32 2>
      %chosen = select i1 %turn, <4 x i8> %other, <4 x i8> %put
      %turn.now = add i32 %turn.before, 1
      %more = icmp ult i32 %turn.now, %turns
      br i1 %more, label %loop, label %done
    done:
      %low = extractelement <4 x i8> %chosen, i32 %at
      %frozen = freeze <4 x i8> %chosen
      %all = bitcast <4 x i8> %frozen to i32
      %wide = zext i8 %low to i32
      %r = xor i32 %all, %wide
      ret i32 %r
    })");
  auto* put = module.function<uint32_t(uint32_t, uint32_t, uint8_t, bool, uint32_t)>("put");
  EXPECT_EQ(put(0x44332211, 2, 0xaa, false, 3), 0x44aa2211u ^ 0xaa);
  EXPECT_EQ(put(0x44332211, 2, 0xaa, true, 1), 0xaa441122u ^ 0x44);
}

TEST(TakeVectorsApart, KernelsKeepTheirParameters) {
  kir::TestModule module(R"(
    define ptx_kernel void @k(<2 x half> %x, ptr %p) { store <2 x half> %x, ptr %p ret void })");
  take_vectors_apart(*module);
  EXPECT_THAT(module.text(), HasSubstr("@k(<2 x half> %x"));
  EXPECT_THAT(module.text(), Not(HasSubstr("store <2 x half>")));
}

}  // namespace
}  // namespace cupola::metal::build
