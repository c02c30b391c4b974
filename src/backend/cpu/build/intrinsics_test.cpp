#include "backend/cpu/build/intrinsics.h"

#include <array>

#include "backend/cpu/build/test_program.h"

// Oracle: the indices counted by loops on the host, x fastest; the windows as the test made them.

namespace cupola::cpu::build::testing {
namespace {

TEST(Intrinsics, SpecialRegistersOfEveryThread) {
  const char* names[] = {"tid.x",   "tid.y",    "tid.z",    "ntid.x",   "ntid.y", "ntid.z", "ctaid.x", "ctaid.y",
                         "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "warpid", "nwarpid"};
  std::string text, body;
  for (size_t i = 0; i < std::size(names); ++i) {
    const std::string n = std::to_string(i);
    text += std::string("declare i32 @cupola.") + names[i] + "()\n";
    body += "%v" + n + " = call i32 @cupola." + names[i] + "()\n";
    body += "%p" + n + " = getelementptr i32, ptr %row, i64 " + n + "\nstore i32 %v" + n + ", ptr %p" + n + "\n";
  }
  TestProgram program(text + R"(
    @next = addrspace(1) global i64 0
    define ptx_kernel void @k(ptr %out) {
      %i = atomicrmw add ptr addrspace(1) @next, i64 1 monotonic
      %o = mul i64 %i, 60
      %row = getelementptr i8, ptr %out, i64 %o
      )" + body + "ret void }");
  const Dim3 grid{3, 2, 2}, block{5, 4, 3};
  std::vector<std::array<uint32_t, 15>> out(grid.count() * block.count());
  program.launch("k", grid, block, out.data());
  size_t row = 0;
  for (uint32_t bz = 0; bz < grid.z; ++bz)
    for (uint32_t by = 0; by < grid.y; ++by)
      for (uint32_t bx = 0; bx < grid.x; ++bx)
        for (uint32_t z = 0; z < block.z; ++z)
          for (uint32_t y = 0; y < block.y; ++y)
            for (uint32_t x = 0; x < block.x; ++x) {
              const uint32_t t = x + 5 * (y + 4 * z);
              const std::array<uint32_t, 15> expected = {x, y, z, 5, 4, 3, bx, by, bz, 3, 2, 2, t % 32, t / 32, 2};
              ASSERT_EQ(out[row], expected) << row;
              ++row;
            }
}

TEST(Intrinsics, OnlyConstantVariablesAreConstant) {
  TestProgram program(R"(
    declare i1 @cupola.is_constant(ptr)
    @before = addrspace(1) global i32 1
    @c = addrspace(4) constant [3 x i32] [i32 1, i32 2, i32 3]
    @after = addrspace(1) global i32 1
    define i32 @ask(ptr %p) {
      %r = call i1 @cupola.is_constant(ptr %p)
      %v = zext i1 %r to i32
      ret i32 %v
    }
    define ptx_kernel void @k(ptr %out) {
      %a = call i32 @ask(ptr addrspacecast (ptr addrspace(1) @before to ptr))
      store i32 %a, ptr %out
      %b = call i32 @ask(ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(4) @c to ptr), i64 11))
      %o1 = getelementptr i32, ptr %out, i64 1
      store i32 %b, ptr %o1
      %c = call i32 @ask(ptr addrspacecast (ptr addrspace(1) @after to ptr))
      %o2 = getelementptr i32, ptr %out, i64 2
      store i32 %c, ptr %o2
      %d = call i32 @ask(ptr %out)
      %o3 = getelementptr i32, ptr %out, i64 3
      store i32 %d, ptr %o3
      ret void
    })");
  std::array<int, 4> out{9, 9, 9, 9};
  program.launch("k", {1}, {1}, out.data());
  EXPECT_EQ(out, (std::array<int, 4>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
