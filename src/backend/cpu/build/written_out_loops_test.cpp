#include "backend/cpu/build/written_out_loops.h"

#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>

#include <regex>
#include <string>

#include "backend/cpu/build/test_program.h"
#include "kir/pass_analyses.h"

namespace cupola::cpu::build::testing {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

size_t stores_written_out(llvm::Function& function) {
  kir::PassAnalyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(MarkLoopsToWriteOut());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass(3)));
  passes.run(function, analyses.functions);
  size_t count = 0;
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block) count += instruction.getOpcode() == llvm::Instruction::Store;
  return count;
}

/// How often the function @k stores once its loops are written out. A loop of `turns` around one of `inner` turns,
/// which stores `stores` times.
size_t stores(const std::string& turns, const std::string& inner, int stores) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    define void @k(ptr %p, i32 %n) {
    start:
      br label %outer
    outer:
      %i = phi i32 [ 0, %start ], [ %i.next, %latch ]
      br label %inner
    inner:
      %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
      )" + repeated("store volatile i32 %j, ptr %p\n", stores) +
                                         R"(
      %j.next = add nuw nsw i32 %j, 1
      %j.go = icmp ult i32 %j.next, )" + inner +
                                         R"(
      br i1 %j.go, label %inner, label %latch
    latch:
      %i.next = add nuw nsw i32 %i, 1
      %i.go = icmp ult i32 %i.next, )" + turns +
                                         R"(
      br i1 %i.go, label %outer, label %over
    over:
      ret void
    })");
  return stores_written_out(*module->getFunction("k"));
}

TEST(WrittenOutLoops, AreThoseWithAKnownNumberOfTurns) {
  EXPECT_EQ(stores("8", "4", 20), 8u * 4 * 20);
  EXPECT_EQ(stores("%n", "4", 90), 4u * 90);
  EXPECT_EQ(stores("8", "%n", 90), 90u) << "around a loop of which that is not known";
}

TEST(WrittenOutLoops, AreNoMoreCodeThanACacheBears) {
  EXPECT_EQ(stores("20", "8", 100), 8u * 100) << "the outer loop would be 16,000";
  EXPECT_EQ(stores("8", "200", 100), 100u);
  EXPECT_EQ(stores("%n", "70", 100), 100u) << "an innermost loop would be 7,000";
  EXPECT_EQ(stores("%n", "50", 100), 5000u);
}

// Of an unknown target, which has 8 registers of 32 bits.
TEST(WrittenOutLoops, AreNotThoseThatFillRegisters) {
  const auto sum = [](const std::string& row) {
    llvm::LLVMContext context;
    const auto module = parse(context, formatted(R"(
      define {0} @k(ptr %p) {{
      start:
        br label %turn
      turn:
        %i = phi i32 [ 0, %start ], [ %next, %turn ]
        %sum = phi {0} [ zeroinitializer, %start ], [ %more, %turn ]
        {1}
        %read = load volatile {0}, ptr %p
        %more = fadd {0} %sum, %read
        %next = add nuw nsw i32 %i, 1
        %go = icmp ult i32 %next, 16
        br i1 %go, label %turn, label %over
      over:
        ret {0} %more
      }})",
                                                 row, repeated("store volatile i32 %i, ptr %p\n", 40)));
    return stores_written_out(*module->getFunction("k"));
  };
  EXPECT_EQ(sum("<7 x float>"), 16u * 40);
  EXPECT_EQ(sum("<8 x float>"), 40u);
}

TEST(WrittenOutLoops, AreNotThoseInWhichAllLanesScatter) {
  const auto stores = [](const std::string& mask) {
    llvm::LLVMContext context;
    const auto module = parse(context, formatted(R"(
      define void @k(ptr %p, <8 x ptr> %to, <8 x i32> %row, <8 x i1> %some) {{
      start:
        br label %turn
      turn:
        %i = phi i32 [ 0, %start ], [ %next, %turn ]
        call void @llvm.masked.scatter.v8i32.v8p0(<8 x i32> %row, <8 x ptr> align 4 %to, <8 x i1> {})
        {}
        %next = add nuw nsw i32 %i, 1
        %go = icmp ult i32 %next, 16
        br i1 %go, label %turn, label %over
      over:
        ret void
      }})",
                                                 mask, repeated("store volatile i32 %i, ptr %p\n", 40)));
    return stores_written_out(*module->getFunction("k"));
  };
  EXPECT_EQ(stores("splat (i1 true)"), 40u);
  EXPECT_EQ(stores("%some"), 16u * 40);
}

TEST(WrittenOutLoops, AreNotThoseInWhichAllLanesUpdateMemory) {
  /// Where the memory's number is %old, and %new is written.
  const auto stores = [](const std::string& made, int lanes) {
    llvm::LLVMContext context;
    std::string text = R"(
      declare i32 @llvm.smax.i32(i32, i32)
      define void @k(ptr %p, i32 %x) {
      start:
        br label %turn
      turn:
        %i = phi i32 [ 0, %start ], [ %next, %turn ]
        )";
    for (int lane = 0; lane < lanes; ++lane)
      text += std::regex_replace("%to = getelementptr i32, ptr %p, i32 " + std::to_string(lane) +
                                     "\n%old = load i32, ptr %to\n%new = " + made + "\nstore i32 %new, ptr %to\n",
                                 std::regex("%(to|old|new)\\b"), "%$01" + std::to_string(lane));
    const auto module = parse(context, text + R"(
        %next = add nuw nsw i32 %i, 1
        %go = icmp ult i32 %next, 16
        br i1 %go, label %turn, label %over
      over:
        ret void
      })");
    return stores_written_out(*module->getFunction("k"));
  };
  EXPECT_EQ(stores("add i32 %old, %x", 32), 32u);
  EXPECT_EQ(stores("call i32 @llvm.smax.i32(i32 %x, i32 %old)", 32), 32u);
  EXPECT_EQ(stores("add i32 %old, %x", 31), 16u * 31) << "one lane does not";
  EXPECT_EQ(stores("add i32 %i, %x", 32), 16u * 32) << "what lay there is not asked for";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
