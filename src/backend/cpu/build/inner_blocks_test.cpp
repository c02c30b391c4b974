#include "backend/cpu/build/inner_blocks.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"

// Which questions make blocks inner ones. That the look at a block is right VectorDifferential shows.

namespace cupola::cpu::build::testing {
namespace {

size_t questions_in(llvm::Function& function) {
  return static_cast<size_t>(llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::ICmpInst>(instruction) && !instruction.use_empty();
  }));
}

/// How many comparisons of `text` code for inner blocks does without; nothing: there is no such code. The last one is
/// `%px < %n`, which it does without where it does without others.
std::optional<size_t> left_out(const std::string& text, const std::string& answers) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    define void @k(ptr %p, i32 %n, i64 %wide, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %b = call i32 @cupola.ctaid.x()
      %first = mul i32 %b, 32
      %px = add i32 %first, %t
      )" + text + R"(
      %end = icmp slt i32 %px, %n
      %all = and i1 %end, )" + answers + R"(
      store i1 %all, ptr %q
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  const size_t before = questions_in(function);
  const auto inner = code_for_inner_blocks(function, Dim3{32, 4});
  EXPECT_EQ(questions_in(function), before) << "code for all blocks asks as it did";
  if (!inner) return std::nullopt;
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return before - questions_in(*inner->code);
}

TEST(InnerBlocks, AreThoseWhoseThreadsAgree) {
  EXPECT_EQ(left_out("%a = icmp sgt i32 %px, 0", "%a"), 2u);
  EXPECT_EQ(left_out("%a = icmp eq i32 %n, %px", "%a"), 2u) << "the other way round";
  EXPECT_EQ(left_out("%s = mul i32 %px, 3\n %d = sub i32 %s, %n\n %a = icmp ult i32 %d, 900", "%a"), 2u);
  EXPECT_EQ(left_out("%l = shl i32 %px, 2\n %d = or disjoint i32 %l, 1\n %a = icmp ult i32 %d, %n", "%a"), 2u);
  EXPECT_EQ(left_out("%w = sext i32 %px to i64\n %a = icmp slt i64 %w, %wide", "%a"), 2u);
  EXPECT_EQ(left_out("%row = add i32 %first, %y\n %m = xor i32 %n, 5\n %a = icmp ne i32 %row, %m", "%a"), 2u);
}

// What is asked behind a condition may be of no number where the condition does not hold.
TEST(InnerBlocks, AnswersThatNoThreadAsksForAreSome) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    define void @k(i32 %n, i32 %bits, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %b = call i32 @cupola.ctaid.x()
      %first = mul i32 %b, 32
      %px = add i32 %first, %t
      %are.few = icmp ult i32 %bits, 32
      br i1 %are.few, label %ask, label %over
    ask:
      %end = shl i32 1, %bits
      %is.before = icmp slt i32 %px, %end
      %is.within = icmp slt i32 %px, %n
      %all = and i1 %is.before, %is.within
      store i1 %all, ptr %q
      br label %over
    over:
      ret void
    })");
  const auto inner = code_for_inner_blocks(*module->getFunction("k"), Dim3{32});
  ASSERT_TRUE(inner);
  const auto* end = llvm::cast<llvm::ReturnInst>(inner->are_inner->getEntryBlock().getTerminator());
  int frozen = 0;
  const llvm::Value* all = end->getReturnValue();
  for (; const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(all); all = both->getOperand(0))
    frozen += llvm::isa<llvm::FreezeInst>(both->getOperand(1));
  EXPECT_TRUE(llvm::isa<llvm::Constant>(all));
  EXPECT_EQ(frozen, 2);
}

TEST(InnerBlocks, AreNotMadeForOneQuestion) {
  EXPECT_EQ(left_out("", "true"), std::nullopt);
  EXPECT_EQ(left_out("%a = icmp eq i32 %t, 3", "%a"), std::nullopt) << "the same in all blocks";
  EXPECT_EQ(left_out("%a = icmp slt i32 %b, %n", "%a"), std::nullopt) << "the same for all threads";
}

// Were it asked, code for the answer that no thread gets would never end.
TEST(InnerBlocks, AreNotAskedWhatIsAssumed) {
  const std::string assumed = "%a = icmp sgt i32 %px, 5\n call void @llvm.assume(i1 %a)\n";
  EXPECT_EQ(left_out(assumed, "%a"), std::nullopt) << "one question is left";
  EXPECT_EQ(left_out(assumed + "%c = icmp sgt i32 %px, 0", "%c"), 2u);
}

TEST(InnerBlocks, AreNotMadeForWhatIsNotKnownBefore) {
  EXPECT_EQ(left_out("%v = load i32, ptr %p\n %a = icmp slt i32 %px, %v", "%a"), std::nullopt) << "memory";
  EXPECT_EQ(left_out("%v = udiv i32 7, %n\n %a = icmp slt i32 %px, %v", "%a"), std::nullopt) << "it may be a fault";
  EXPECT_EQ(left_out("%m = mul i32 %px, %n\n %a = icmp slt i32 %m, 9", "%a"), std::nullopt) << "steps of unknown size";
  EXPECT_EQ(left_out("%l = or i32 %px, 1\n %a = icmp slt i32 %l, %n", "%a"), std::nullopt);
  EXPECT_EQ(left_out("%w = sext i32 %px to i64\n %a = icmp eq i64 %w, %wide", "%a"), std::nullopt);
  EXPECT_EQ(left_out("%m = mul i32 %px, 1000000\n %a = icmp slt i32 %m, %n", "%a"), std::nullopt) << "far steps";
  EXPECT_EQ(left_out("%a = icmp slt i32 %px, %t", "%a"), std::nullopt) << "both sides move";
}

TEST(InnerBlocks, AreNotMadeForManyQuestions) {
  const auto many = [](int count) {
    std::string text, all = "true";
    for (int i = 0; i < count; ++i) {
      text += formatted("%a{} = icmp ne i32 %px, {}\n %b{} = and i1 {}, %a{}\n ", i, 100 + i, i, all, i);
      all = formatted("%b{}", i);
    }
    return left_out(text, all);
  };
  EXPECT_EQ(many(15), 16u);
  EXPECT_EQ(many(16), std::nullopt);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
