#include "backend/cpu/build/turn_vectors.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"

// Which loops take several turns at once. That they compute the same is for kernels.memory_in_step to show.

namespace cupola::cpu::build::testing {
namespace {

/// A loop that goes on from `first` to %n and does `turn` with %word, of %place; what it carries begins with zero and
/// goes on as %next_sum.
std::string loop(const std::string& turn, const std::string& type = "i32", const std::string& zero = "0") {
  return R"(
    define )" +
         type + R"( @walk(ptr %row, ptr %other, i32 %n) {
      br label %test
    test:
      %i = phi i32 [ 0, %0 ], [ %next, %turn ]
      %sum = phi )" +
         type + " [ " + zero + R"(, %0 ], [ %next_sum, %turn ]
      %goes_on = icmp slt i32 %i, %n
      br i1 %goes_on, label %turn, label %end
    turn:
      %i64 = sext i32 %i to i64
      %place = getelementptr )" +
         type + R"(, ptr %row, i64 %i64
      %there = getelementptr )" +
         type + R"(, ptr %other, i64 %i64
      %word = load )" +
         type + R"(, ptr %place
      )" +
         turn + R"(
      %next = add i32 %i, 1
      br label %test
    end:
      ret )" +
         type + R"( %sum
    })";
}

bool takes_vectors(const std::string& text) {
  llvm::LLVMContext context;
  const auto module = parse(context, text);
  const auto machine = machine_for("cpu:x86_64:x86-64-v3");
  if (!retarget(*module, **machine)) return false;
  llvm::Function& walk = *module->getFunction("walk");
  take_turns_in_vectors(walk, **machine);
  EXPECT_FALSE(llvm::verifyFunction(walk, &llvm::errs()));
  return llvm::any_of(llvm::instructions(walk),
                      [](const llvm::Instruction& each) { return each.getType()->isVectorTy(); });
}

TEST(TurnVectors, SumIntegers) {
  EXPECT_TRUE(takes_vectors(loop("%next_sum = add i32 %sum, %word")));
  EXPECT_TRUE(
      takes_vectors(loop("%is_more = icmp sgt i32 %word, %sum\n %next_sum = select i1 %is_more, i32 %word, i32 %sum")));
}

TEST(TurnVectors, AddFloatsInTheirOrder) {
  EXPECT_FALSE(takes_vectors(loop("%next_sum = fadd float %sum, %word", "float", "0.0")));
  EXPECT_FALSE(
      takes_vectors(loop("%is_less = fcmp nnan nsz olt float %word, %sum\n"
                         "%next_sum = select nnan nsz i1 %is_less, float %word, float %sum",
                         "float", "0.0")))
      << "nor are minima joined";
}

TEST(TurnVectors, MakeRowsOfRows) {
  EXPECT_TRUE(takes_vectors(
      loop("%float = bitcast i32 %word to float\n %product = fmul float %float, 3.0\n"
           "%made = bitcast float %product to i32\n store i32 %made, ptr %there\n %next_sum = add i32 0, 1")));
}

TEST(TurnVectors, LeaveTurnsThatNeedTheLastOne) {
  EXPECT_FALSE(takes_vectors(loop("store i32 %sum, ptr %place\n %next_sum = add i32 %sum, %word"))) << "what is before";
  EXPECT_FALSE(
      takes_vectors(loop("%behind = getelementptr i8, ptr %place, i64 4\n %made = mul i32 %word, 3\n store i32 %made, "
                         "ptr %behind\n %next_sum = add i32 0, 1")));
  EXPECT_FALSE(takes_vectors(loop("%seen = load volatile i32, ptr %there\n %next_sum = add i32 %sum, %word")));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
