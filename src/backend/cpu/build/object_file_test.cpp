#include "backend/cpu/build/object_file.h"

#include <gtest/gtest.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <fstream>

#include "backend/cpu/build/test_program.h"
#include "base/format.h"

namespace cupola::cpu::build {
namespace {

TEST(MachineFor, TakesTheLevelThatATargetEndsIn) {
  const llvm::StringRef host = llvm::sys::getHostCPUName();
  const auto cpu = [](const std::string& target) { return (*machine_for(target))->getTargetCPU().str(); };
  EXPECT_EQ(cpu("cpu:x86_64:0123456789abcdef"), host);
  EXPECT_EQ(cpu("cpu:test"), host);
  if (llvm::sys::getDefaultTargetTriple().starts_with("x86_64")) {
    EXPECT_EQ(cpu("cpu:x86_64:x86-64-v3"), "x86-64-v3");
    EXPECT_EQ((*machine_for("cpu:x86_64:x86-64-v3"))->getTargetFeatureString(), "+fast-gather");
    EXPECT_EQ((*machine_for("cpu:x86_64:x86-64"))->getTargetFeatureString(), "");
  }
}

/// A warp's sum of 24 rows that begin at %i and behind it, each of which may be a gather instead.
std::string sum_of_rows() {
  std::string text = R"(
    declare i32 @cupola.tid.x()
    define ptx_kernel void @k(ptr %x, ptr %y, i32 %n) {
    entry:
      %t = call i32 @cupola.tid.x()
      br label %turn
    turn:
      %i = phi i32 [ %t, %entry ], [ %next, %turn ]
      %s0 = uitofp i32 %i to float)";
  for (int k = 0; k < 24; ++k) {
    const std::string one = std::to_string(k), next = std::to_string(k + 1);
    text += "\n%i" + one + " = add i32 %i, " + one + "\n%w" + one + " = sext i32 %i" + one + " to i64\n%a" + one +
            " = getelementptr float, ptr %x, i64 %w" + one + "\n%v" + one + " = load float, ptr %a" + one + "\n%p" +
            one + " = fmul float %v" + one + ", %v" + one + "\n%s" + next + " = fadd float %s" + one + ", %p" + one;
  }
  return text + R"(
      %wide = zext i32 %i to i64
      %to = getelementptr float, ptr %y, i64 %wide
      store float %s24, ptr %to
      %next = add i32 %i, 32
      %more = icmp ult i32 %next, %n
      br i1 %more, label %turn, label %over
    over:
      ret void
    })";
}

TEST(EmitAssembly, ArithmeticStaysBesideWhatItReads) {
  if (!llvm::sys::getDefaultTargetTriple().starts_with("x86_64")) GTEST_SKIP() << "reads assembly for x86-64";
  const std::string path = ::testing::TempDir() + "object_file_test";
  llvm::LLVMContext context;
  const auto built = build(testing::parse(context, sum_of_rows()), {.target = "cpu:x86_64:x86-64-v4", .keep = path});
  ASSERT_TRUE(built) << built.error().message;
  std::ifstream file(path + ".s");
  int kept = 0;
  for (std::string line; std::getline(file, line);)
    kept += line.find("vmov") != line.npos && line.find("(%rsp)") != line.npos && line.find("mm") < line.find("(%rsp)");
  EXPECT_LT(kept, 8);
}

// In a mask register the cut would be a move that LLVM takes for a copy.
TEST(EmitAssembly, BitsOfMasksAreCutInGeneralRegisters) {
  if (!llvm::sys::getDefaultTargetTriple().starts_with("x86_64")) GTEST_SKIP() << "reads assembly for x86-64";
  for (const char* bits : {"255", "65535"}) {
    llvm::LLVMContext context;
    const auto module = testing::parse(context, formatted(R"(
      define void @k(ptr %v, ptr %all, ptr %few) {{
        %a = load <32 x i32>, ptr %v
        %mask = icmp sgt <32 x i32> %a, zeroinitializer
        %bits = bitcast <32 x i1> %mask to i32
        %cut = and i32 %bits, {}
        store <32 x i1> %mask, ptr %all
        store i32 %cut, ptr %few
        ret void
      }})",
                                                          bits));
    const auto machine = machine_for("cpu:x86_64:x86-64-v4");
    ASSERT_TRUE(machine);
    const std::string text = emit_assembly(*module, **machine);
    EXPECT_NE(text.find("kmov"), text.npos);
    EXPECT_EQ(text.find("kmovb\t%k"), text.npos) << text;
    EXPECT_EQ(text.find("kmovw\t%k"), text.npos) << text;
  }
}

/// The function @k: sums of `count` products for each of `sums` vectors of 32, of rows that all of them read.
std::string products(int sums, int count) {
  std::string text = "define void @k(ptr %a, ptr %b, ptr %c) {\n";
  for (int i = 0; i < count; ++i) {
    const std::string row = std::to_string(i);
    text += "%p" + row + " = getelementptr <32 x float>, ptr %b, i64 " + row + "\n%r" + row +
            " = load <32 x float>, ptr %p" + row + ", align 4\n";
  }
  std::string stores;
  for (int sum = 0; sum < sums; ++sum) {
    std::string last = "zeroinitializer";
    for (int i = 0; i < count; ++i) {
      const std::string one = std::to_string(sum) + "." + std::to_string(i);
      text += "%q" + one + " = getelementptr float, ptr %a, i64 " + std::to_string(sum * count + i) + "\n%f" + one +
              " = load float, ptr %q" + one + "\n%i" + one + " = insertelement <32 x float> poison, float %f" + one +
              ", i64 0\n%s" + one + " = shufflevector <32 x float> %i" + one +
              ", <32 x float> poison, <32 x i32> zeroinitializer\n%m" + one +
              " = call <32 x float> @llvm.fma(<32 x float> %s" + one + ", <32 x float> %r" + std::to_string(i) +
              ", <32 x float> " + last + ")\n";
      last = "%m" + one;
    }
    const std::string to = std::to_string(sum);
    stores += "%t" + to + " = getelementptr <32 x float>, ptr %c, i64 " + to + "\nstore <32 x float> " + last +
              ", ptr %t" + to + ", align 4\n";
  }
  return text + stores + "ret void\n}\n";
}

// Sums that are independent of each other are begun together by the scheduler, and then leave their registers.
TEST(EmitShorterObject, TakesTheOrderInWhichMoreStaysInRegisters) {
  if (!llvm::sys::getDefaultTargetTriple().starts_with("x86_64")) GTEST_SKIP() << "counts instructions for x86-64";
  const auto machine = machine_for("cpu:x86_64:x86-64-v3");
  ASSERT_TRUE(machine);
  int as_written = 0;
  for (const int sums : {1, 8}) {
    llvm::LLVMContext context;
    const auto module = testing::parse(context, products(sums, 16));
    ASSERT_TRUE(module && retarget(*module, **machine));
    const auto scheduled = llvm::CloneModule(*module), written = llvm::CloneModule(*module);
    const auto one = emit_object(*scheduled, **machine), other = emit_object(*written, **machine, Order::AsWritten);
    const auto emitted = emit_shorter_object(*module, **machine, [] { return Result<>(); });
    ASSERT_TRUE(one && other && emitted);
    const bool is_written = emitted->order == Order::AsWritten;
    EXPECT_EQ(emitted->object->getBuffer(), (is_written ? *other : *one)->getBuffer());
    EXPECT_LE(emitted->object->getBufferSize(), (is_written ? *one : *other)->getBufferSize());
    as_written += is_written;
  }
  EXPECT_EQ(as_written, 1) << "of eight sums, not of one";
}

TEST(EmitShorterObject, DoesNotEmitLongCodeTwice) {
  const auto machine = machine_for("cpu:x86_64:x86-64-v3");
  if (!machine) GTEST_SKIP() << machine.error().message;
  llvm::LLVMContext context;
  const auto module = testing::parse(context, products(40, 32));
  ASSERT_TRUE(retarget(*module, **machine));
  const auto emitted = emit_shorter_object(*module, **machine, [] { return Result<>(); });
  ASSERT_TRUE(emitted);
  EXPECT_GT(emitted->object->getBufferSize(), 64u << 10);
  EXPECT_EQ(emitted->order, Order::Scheduled);
}

TEST(EmitShorterObject, AsksWhetherToGoOnBetweenBoth) {
  const auto machine = machine_for("cpu:x86_64:x86-64-v3");
  if (!machine) GTEST_SKIP() << machine.error().message;
  llvm::LLVMContext context;
  const auto module = testing::parse(context, products(1, 1));
  ASSERT_TRUE(retarget(*module, **machine));
  const auto emitted = emit_shorter_object(
      *module, **machine, []() -> Result<> { return fail(ErrorCode::Deinitialized, "the process ends"); });
  ASSERT_FALSE(emitted);
  EXPECT_EQ(emitted.error().code, ErrorCode::Deinitialized);
}

}  // namespace
}  // namespace cupola::cpu::build
