#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "compile/code_fixture.h"

// Programs end while threads that nobody waits for compile. LLVM's objects are destroyed at the end.

namespace cupola {
namespace {

/// A kernel that takes some milliseconds to compile.
std::string kernel_of(int steps) {
  std::string text = R"(
    target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
    target triple = "nvptx64-nvidia-cuda"
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    define ptx_kernel void @work(ptr %p) {
      %x0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x())";
  for (int i = 0; i < steps; ++i)
    text += formatted("\n      %y{0} = mul i32 %x{0}, {2}\n      %x{1} = xor i32 %y{0}, %x0", i, i + 1, 2 * i + 3);
  return text + formatted("\n      store i32 %x{}, ptr %p\n      ret void\n    }}", steps);
}

[[noreturn]] void end_after(std::chrono::microseconds time) {
  static const auto& text = *new std::string(kernel_of(300));
  (void)compiled({"cpu:here", "", {{image::CodeKind::Kir, bytes_of(text)}}, "all"});  // what LLVM makes once is there
  for (int i = 0; i < 2; ++i)
    std::thread([] {
      for (;;) (void)compiled({"cpu:here", "", {{image::CodeKind::Kir, bytes_of(text)}}, "all"});
    }).detach();
  std::this_thread::sleep_for(time);
  std::exit(42);
}

TEST(ProcessEnd, WaitsForThreadsThatCompile) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (int i = 0; i < 24; ++i)
    EXPECT_EXIT(end_after(std::chrono::microseconds(i * i * 200)), testing::ExitedWithCode(42), "") << i;
}

TEST(ProcessEnd, NothingIsCompiledAfterIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::atexit([] {
          const auto late = compiled({"cpu:here", "", {{image::CodeKind::Kir, bytes_of(kernel_of(1))}}, "all"});
          _Exit(!late && late.error().code == ErrorCode::Deinitialized ? 43 : 44);
        });
        (void)compiled({"cpu:here", "", {{image::CodeKind::Kir, bytes_of(kernel_of(1))}}, "all"});
        std::exit(42);
      },
      testing::ExitedWithCode(43), "");
}

}  // namespace
}  // namespace cupola
