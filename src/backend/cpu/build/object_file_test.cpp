#include "backend/cpu/build/object_file.h"

#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <fstream>

#include "backend/cpu/build/test_program.h"

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

}  // namespace
}  // namespace cupola::cpu::build
