#include "backend/cpu/build/structures_in_turn.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include <string>

#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

/// Eight lanes' numbers in two registers, %r0 and %r1, and together, %all.
const std::string kReads = R"(
    %p1 = getelementptr i8, ptr %p, i64 16
    %q1 = getelementptr i8, ptr %q, i64 16
    %r0 = load <4 x float>, ptr %p, !cupola.lanes !0
    %r1 = load <4 x float>, ptr %p1, !cupola.lanes !1
    %all = shufflevector <4 x float> %r0, <4 x float> %r1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
)";
/// Of %made.
const std::string kWrites = R"(
    %w0 = shufflevector <8 x float> %made, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
    store <4 x float> %w0, ptr %q, !cupola.lanes !0
    %w1 = shufflevector <8 x float> %made, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
    store <4 x float> %w1, ptr %q1, !cupola.lanes !1
)";
const std::string kTwice = "%made = fadd <8 x float> %all, %all\n";

struct Turned {
  std::string order;       ///< of what reads (r) and writes (w) of lanes 0, 1, ... of registers; others: R, W
  bool has_whole = false;  ///< arithmetic of all lanes
};

Turned turned(const std::string& body) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
    declare <8 x i32> @llvm.scmp.v8i32.v8i32(<8 x i32>, <8 x i32>)
    declare void @someone()
    define void @k(ptr %p, ptr %q, ptr %o, <8 x float> %given, float %x) {
      %x.one = insertelement <8 x float> poison, float %x, i64 0
      %x.all = shufflevector <8 x float> %x.one, <8 x float> poison, <8 x i32> zeroinitializer
    )" + body + R"(
      ret void
    }
    !0 = !{i32 0, i32 4}
    !1 = !{i32 4, i32 4}
    !2 = !{i32 0, i32 8})");
  llvm::Function& code = *module->getFunction("k");
  take_structures_in_turn(code);
  EXPECT_FALSE(llvm::verifyFunction(code, &llvm::errs()));
  Turned result;
  for (llvm::Instruction& each : llvm::instructions(code)) {
    const llvm::MDNode* note = each.getMetadata("cupola.lanes");
    const std::string which =
        note ? std::to_string(llvm::mdconst::extract<llvm::ConstantInt>(note->getOperand(0))->getZExtValue() / 4) : "";
    if (llvm::isa<llvm::LoadInst>(each)) result.order += note ? "r" + which : "R";
    if (llvm::isa<llvm::StoreInst>(each)) result.order += note ? "w" + which : "W";
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&each);
        call && call->getCalledFunction()->getName() == "someone")
      result.order += "!";
    result.has_whole |= llvm::isa<llvm::BinaryOperator, llvm::CallInst, llvm::SelectInst>(each) &&
                        each.getType()->isVectorTy() &&
                        llvm::cast<llvm::FixedVectorType>(each.getType())->getNumElements() == 8;
  }
  return result;
}

std::string order(const std::string& body) {
  return turned(body).order;
}

TEST(StructuresInTurn, ReadAndWriteARegistersLanesAtATime) {
  EXPECT_EQ(order(kReads + kTwice + kWrites), "r0w0r1w1");
  EXPECT_EQ(order(kReads + "%s = load float, ptr %o\n" + kTwice + kWrites + "store float %s, ptr %p"), "Rr0w0r1w1W")
      << "what all lanes share";
}

TEST(StructuresInTurn, TakeArithmeticApart) {
  const Turned chain = turned(kReads + R"(
    %product = fmul <8 x float> %all, %x.all
    %sum = call <8 x float> @llvm.fma.v8f32(<8 x float> %product, <8 x float> %given, <8 x float> splat (float 2.0))
    %is_less = fcmp olt <8 x float> %sum, %all
    %least = select <8 x i1> %is_less, <8 x float> %sum, <8 x float> %all
    %bits = bitcast <8 x float> %least to <8 x i32>
    %sign = call <8 x i32> @llvm.scmp.v8i32.v8i32(<8 x i32> %bits, <8 x i32> <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>)
    %made = sitofp <8 x i32> %sign to <8 x float>
    )" + kWrites);
  EXPECT_EQ(chain.order, "r0w0r1w1");
  EXPECT_FALSE(chain.has_whole);
  // What others need of all lanes is computed once.
  EXPECT_TRUE(turned(kReads + kTwice + kWrites + "store <8 x float> %made, ptr %o").has_whole);
}

TEST(StructuresInTurn, ReadBeforeAnyWriteWhatOtherLanesNeed) {
  EXPECT_EQ(order(kReads +
                  "%made = shufflevector <8 x float> %all, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, "
                  "i32 3, i32 2, i32 1, i32 0>" +
                  kWrites),
            "r0r1w0w1");
}

TEST(StructuresInTurn, LeaveTheOrderOfALanesAccesses) {
  const std::string third =
      "%r2 = load <4 x float>, ptr %q1, !cupola.lanes !1\n store <4 x float> %r2, ptr %o, !cupola.lanes !1\n";
  EXPECT_EQ(order(kReads + kTwice + kWrites + third), "r0w0r1w1r1w1");
  EXPECT_EQ(order(kReads + kTwice + "%last = load <4 x float>, ptr %o, !cupola.lanes !1\n" + kWrites +
                  "store <4 x float> %last, ptr %p"),
            "r0w0r1r1w1W");
  // Of all eight lanes at once.
  EXPECT_EQ(order(kReads + kTwice + "store <8 x float> %made, ptr %q, !cupola.lanes !2"), "r0r1w0");
}

TEST(StructuresInTurn, LeaveWhatMayBeOfAnyLane) {
  EXPECT_EQ(order(kReads + kTwice + "store float %x, ptr %o\n" + kWrites), "r0r1Ww0w1");
  EXPECT_EQ(order(kReads + kTwice + "call void @someone()\n" + kWrites), "r0r1!w0w1");
  EXPECT_EQ(order(kReads + kTwice + "%s = load volatile float, ptr %o\n" + kWrites), "r0r1Rw0w1");
  EXPECT_EQ(order(kReads + "%s = load <8 x float>, ptr %o\n" + kTwice + kWrites + "store <8 x float> %s, ptr %p"),
            "Rr0w0r1w1W")
      << "reads come before what is written";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
