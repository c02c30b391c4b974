// Oracle: "NVVM IR Specification" (what each of its own intrinsics takes and gives), LLVM's verifier.

#include "kir/nvvm_ir.h"

#include <gmock/gmock.h>

#include "kir/kir.h"

namespace cupola::kir {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<std::string> read_text(const std::string& text, const NvvmOptions& options = {}) {
  llvm::LLVMContext context;
  TRY(std::unique_ptr<llvm::Module> module, read_nvvm(context, std::as_bytes(std::span(text)), options));
  return print(*module);
}

std::string printed(const std::string& text, const NvvmOptions& options = {}) {
  const Result<std::string> result = read_text(text, options);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or("");
}

constexpr char kKernel[] = R"(
target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-n16:32:64"
define void @k(float* %p) {
  %a = load float, float* %p
  %m = fmul float %a, %a
  %s = fadd float %m, %a
  store float %s, float* %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float*)* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 2}
)";

TEST(NvvmIr, GetsTheLayoutOfKir) {
  const std::string text = printed(kKernel);
  EXPECT_THAT(text, HasSubstr(kDataLayout));
  EXPECT_THAT(text, HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
  llvm::LLVMContext context;
  auto module = read_nvvm(context, std::as_bytes(std::span(std::string_view(kKernel))), {});
  ASSERT_TRUE(module);
  EXPECT_EQ(kernels(**module).size(), 1u);
}

TEST(NvvmIr, OptionsBecomeFlagsAndAttributes) {
  EXPECT_THAT(printed(kKernel), HasSubstr("fmul contract float"));
  EXPECT_THAT(printed(kKernel, {.contract = false}), Not(HasSubstr("contract")));
  EXPECT_THAT(printed(kKernel), Not(HasSubstr("denormal-fp-math-f32")));
  const std::string flushing = printed(kKernel, {.flush_denormals = true});
  EXPECT_THAT(flushing, HasSubstr("\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\""));
  EXPECT_THAT(flushing, HasSubstr("nvvm-reflect-ftz"));
}

std::string with_call(const std::string& declaration, const std::string& call) {
  return "declare " + declaration + "\ndefine i32 @f(i32 %m, i32 %a, i64 %w, i1 %t) {\n %r = call " + call +
         "\n %x = extractvalue { i32, i1 } %r, 0\n ret i32 %x\n}\n";
}

std::string shuffle(const std::string& mode) {
  return with_call("{ i32, i1 } @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)",
                   "{ i32, i1 } @llvm.nvvm.shfl.sync.i32(i32 %m, i32 " + mode + ", i32 %a, i32 1, i32 31)");
}
std::string vote(const std::string& mode) {
  return with_call("{ i32, i1 } @llvm.nvvm.vote.sync(i32, i32, i1)",
                   "{ i32, i1 } @llvm.nvvm.vote.sync(i32 %m, i32 " + mode + ", i1 %t)");
}

TEST(NvvmIr, ShufflesAndVotesGoByTheirMode) {
  EXPECT_THAT(printed(shuffle("0")), HasSubstr("@llvm.nvvm.shfl.sync.idx.i32p(i32 %m, i32 %a, i32 1, i32 31)"));
  EXPECT_THAT(printed(shuffle("1")), HasSubstr("@llvm.nvvm.shfl.sync.up.i32p(i32 %m"));
  EXPECT_THAT(printed(shuffle("2")), HasSubstr("@llvm.nvvm.shfl.sync.down.i32p(i32 %m"));
  EXPECT_THAT(printed(shuffle("3")), HasSubstr("@llvm.nvvm.shfl.sync.bfly.i32p(i32 %m"));
  EXPECT_THAT(printed(vote("0")), HasSubstr("@llvm.nvvm.vote.all.sync(i32 %m, i1 %t)"));
  EXPECT_THAT(printed(vote("1")), HasSubstr("@llvm.nvvm.vote.any.sync(i32 %m, i1 %t)"));
  EXPECT_THAT(printed(vote("2")), HasSubstr("@llvm.nvvm.vote.uni.sync(i32 %m, i1 %t)"));
  EXPECT_THAT(printed(vote("3")), HasSubstr("@llvm.nvvm.vote.ballot.sync(i32 %m, i1 %t)"));
}

TEST(NvvmIr, AModeThatDoesNotExistIsRefused) {
  const Result<std::string> result = read_text(shuffle("4"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::NotSupported);
  EXPECT_THAT(result.error().message, HasSubstr("llvm.nvvm.shfl.sync.i32"));
}

TEST(NvvmIr, AModeThatIsNoConstantYetChoosesBetweenAll) {
  const std::string shuffled = printed(shuffle("%a"));
  EXPECT_THAT(shuffled, HasSubstr("switch i32 %a"));
  for (const char* way : {"idx", "up", "down", "bfly"})
    EXPECT_THAT(shuffled,
                HasSubstr(std::string("@llvm.nvvm.shfl.sync.") + way + ".i32p(i32 %m, i32 %a, i32 1, i32 31)"));
  const std::string voted = printed(vote("%a"));
  for (const char* kind : {"all", "any", "uni", "ballot"})
    EXPECT_THAT(voted, HasSubstr(std::string("@llvm.nvvm.vote.") + kind + ".sync(i32 %m, i1 %t)"));
}

TEST(NvvmIr, MatchesOfAllGoByTheirType) {
  const std::string text = with_call("{ i32, i1 } @llvm.nvvm.match.all.sync.i64(i32, i64)",
                                     "{ i32, i1 } @llvm.nvvm.match.all.sync.i64(i32 %m, i64 %w)");
  EXPECT_THAT(printed(text), HasSubstr("@llvm.nvvm.match.all.sync.i64p(i32 %m, i64 %w)"));
}

TEST(NvvmIr, OtherTypesThanTheSpecificationsAreRefused) {
  const Result<std::string> result = read_text(
      "declare i32 @llvm.nvvm.vote.sync(i32, i32, i1)\ndefine i32 @f(i32 %m, i1 %t) {\n"
      " %r = call i32 @llvm.nvvm.vote.sync(i32 %m, i32 3, i1 %t)\n ret i32 %r\n}\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::InvalidImage);
}

/// The module's functions after it was read as bitcode.
size_t functions_of_bitcode(const std::string& text) {
  llvm::LLVMContext context;
  const auto module = read(context, std::as_bytes(std::span(text)));
  const auto again = read_nvvm(context, write(**module), {});
  return again ? (*again)->size() : ~size_t{0};
}

TEST(NvvmIr, LibdeviceAloneIsNotEvenRead) {
  const std::string
      table = "@table = internal constant [2 x i32] [i32 1, i32 2]\n",
      ours =
          "define i32 @__nv_f(i32 %x) \"cupola-libdevice\" {\n %p = getelementptr i32, ptr @table, i32 %x\n"
          " %y = load i32, ptr %p\n ret i32 %y\n}\n",
      other = "define i32 @f(i32 %x) {\n ret i32 %x\n}\n";
  EXPECT_EQ(functions_of_bitcode(table + ours), 0u);
  EXPECT_EQ(functions_of_bitcode(table + ours + other), 1u);
  EXPECT_EQ(functions_of_bitcode(other), 1u);
}

TEST(NvvmIr, FunctionsOfLibdeviceAreLeftToTheDeviceLibrary) {
  const std::string text = printed(
      "define float @__nv_f(float %x) \"cupola-libdevice\" {\n ret float %x\n}\n"
      "define float @g(float %x) {\n %y = call float @__nv_f(float %x)\n ret float %y\n}\n");
  EXPECT_THAT(text, HasSubstr("declare float @__nv_f(float)"));
  EXPECT_THAT(text, Not(HasSubstr("define float @__nv_f")));
}

TEST(NvvmIr, MalformedCodeIsAnErrorWithItsLine) {
  const Result<std::string> text = read_text("define void @f() {\n ret i32* null\n}\n");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::InvalidImage);
  EXPECT_THAT(text.error().message, HasSubstr("line 2"));
  const Result<std::string> truncated = read_text("BC\xC0\xDE");
  ASSERT_FALSE(truncated);
  EXPECT_EQ(truncated.error().code, ErrorCode::InvalidImage);
  EXPECT_FALSE(read_text("define i32 @f() {\n %x = add i32 %y, 1\n %y = add i32 %x, 1\n ret i32 %y\n}\n"));
}

}  // namespace
}  // namespace cupola::kir
