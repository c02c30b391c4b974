#include "backend/cpu/build/inner_blocks.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

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
  const size_t asked = questions_for_places(function, Dim3{32, 4});
  if (asked < kFewestQuestions || asked > kMostQuestions) return std::nullopt;
  const InnerBlocks inner = code_for_inner_blocks(function, Dim3{32, 4});
  EXPECT_EQ(questions_in(function), before) << "code for all blocks asks as it did";
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return before - questions_in(*inner.code);
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
  const InnerBlocks inner = code_for_inner_blocks(*module->getFunction("k"), Dim3{32});
  const auto* end = llvm::cast<llvm::ReturnInst>(inner.are_inner->getEntryBlock().getTerminator());
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

/// How many blocks of a grid of {x, 2} are run by code for all blocks and by that for inner ones, which are those with
/// an x of `from` or more.
std::array<uint32_t, 2> run_apart(uint32_t x, uint32_t from, const LeastBlocks& least) {
  const auto runs = [](const char* name, unsigned place) {
    return formatted(R"(
    define void @{0}(ptr %context, ptr %counts) {{
      %at.blocks = getelementptr i8, ptr %context, i64 {1}
      %blocks = load i32, ptr %at.blocks
      %at.left = getelementptr i8, ptr %context, i64 {2}
      %left = load i32, ptr %at.left
      %ran = sub i32 %blocks, %left
      %count = getelementptr i32, ptr %counts, i64 {3}
      %old = load i32, ptr %count
      %new = add i32 %old, %ran
      store i32 %new, ptr %count
      ret void
    }})",
                     name, offsetof(ThreadContext, blocks), offsetof(ThreadContext, blocks_left), place);
  };
  kir::TestModule module(runs("all", 0) + runs("inner", 1) +
                         formatted(R"(
    define i1 @are_inner(ptr %context, ptr %counts) {{
      %at.x = getelementptr i8, ptr %context, i64 {}
      %x = load i32, ptr %at.x, !invariant.load !0
      %is.inner = icmp uge i32 %x, {}
      ret i1 %is.inner
    }}
    !0 = !{{}})",
                                   offsetof(ThreadContext, ctaid), from));
  llvm::Function* made = run_inner_blocks_apart(*module->getFunction("all"), *module->getFunction("inner"),
                                                *module->getFunction("are_inner"), least);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  made->setName("apart");
  made->setLinkage(llvm::GlobalValue::ExternalLinkage);
  ThreadContext context{};
  context.nctaid[0] = x;
  context.nctaid[1] = 2;
  context.nctaid[2] = 1;
  context.blocks = 2 * x;
  std::array<uint32_t, 2> counts{};
  module.function<void(ThreadContext*, uint32_t*)>("apart")(&context, counts.data());
  EXPECT_EQ(counts[0] + counts[1], 2 * x) << "each once";
  return counts;
}

TEST(InnerBlocks, AreRunApartWhereTheyAreMany) {
  using Counts = std::array<uint32_t, 2>;
  EXPECT_EQ(run_apart(10, 3, {1, 0}), (Counts{6, 14}));
  EXPECT_EQ(run_apart(10, 3, {7, 0}), (Counts{6, 14}));
  EXPECT_EQ(run_apart(10, 3, {8, 0}), (Counts{20, 0})) << "7 beside each other are too few";
  EXPECT_EQ(run_apart(10, 0, {1, 20}), (Counts{0, 20}));
  EXPECT_EQ(run_apart(10, 0, {1, 21}), (Counts{20, 0})) << "the grid is too small, though all are inner";
  EXPECT_EQ(run_apart(10, 3, {1, 21}), (Counts{20, 0}));
  EXPECT_EQ(run_apart(1, 1, {1, 0}), (Counts{2, 0}));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
