#include "backend/cpu/build/kept_columns.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include <array>
#include <numeric>
#include <vector>

#include "backend/cpu/build/rung_comparison_fixture.h"
#include "kir/test_module.h"

// Which stores are kept, and that memory is the same in the end: the oracle is the code for a thread.

namespace cupola::cpu::build::testing {
namespace {

/// A thread %x of block %block of %blocks, whose word of a table with a row for each thread is number %number, and a
/// value for it; `body` ends the kernel.
std::string kernel(const std::string& body, const std::string& arguments) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare i32 @cupola.nctaid.x()
    declare void @cupola.barrier(i32, i32) convergent
    define ptx_kernel void @k()" +
         arguments + R"() {
      %x = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %band = call i32 @cupola.ctaid.y()
      %blocks = call i32 @cupola.nctaid.x()
      %row = mul i32 %x, %blocks
      %number = add i32 %row, %block
      %seed = mul i32 %number, 40503
      %far = mul i32 %band, 1000003
      %value = add i32 %seed, %far
      )" +
         body + "\n}";
}

std::string store(const std::string& number, const std::string& type = "i32", const std::string& value = "%value") {
  return "%wide = zext i32 " + number + " to i64\n%place = getelementptr " + type + ", ptr %o32, i64 %wide\nstore " +
         type + " " + value + ", ptr %place\n";
}

/// Whether the store is kept, in code that is well formed then.
bool keeps(const std::string& body, const Dim3& shape = {256}) {
  llvm::LLVMContext context;
  const auto module = parse(context, kernel(body, "ptr %context, ptr %o32, ptr %in, i32 %n"));
  llvm::Function& function = *module->getFunction("k");
  const llvm::Function* write = keep_columns(function, shape);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  EXPECT_EQ(write != nullptr, keeps_columns(function));
  return write;
}

TEST(KeptColumns, AreLastStoresOfAWordForEachBlock) {
  EXPECT_TRUE(keeps(store("%number") + "ret void"));
  EXPECT_TRUE(keeps("%v = bitcast i32 %value to float\n" + store("%number", "float", "%v") + "ret void"));
  EXPECT_TRUE(keeps("call void @cupola.barrier(i32 0, i32 0)\n" + store("%number") + "br label %out\nout:\nret void"));
  EXPECT_TRUE(keeps("%of = mul i32 %x, 1000\n%at = add i32 %of, %block\n" + store("%at") + "ret void"));
  EXPECT_TRUE(
      keeps("%x64 = zext i32 %x to i64\n%n64 = sext i32 %n to i64\n%b64 = zext i32 %block to i64\n"
            "%of = mul i64 %x64, %n64\n%at = add i64 %of, %b64\n%p = getelementptr i32, ptr %o32, i64 %at\n"
            "store i32 %value, ptr %p\nret void"));
  for (const Dim3& shape : {Dim3{32}, Dim3{224}}) EXPECT_TRUE(keeps(store("%number") + "ret void", shape)) << shape.x;
  for (const Dim3& shape : {Dim3{33}, Dim3{288}, Dim3{32, 2}, Dim3{32, 1, 2}})
    EXPECT_FALSE(keeps(store("%number") + "ret void", shape)) << shape.x << shape.y << shape.z;
}

TEST(KeptColumns, AreNotStoresThatLieOtherwise) {
  for (const char* number : {"mul i32 %number, 2", "add i32 %x, %block", "add i32 %row, %x", "xor i32 %number, 4",
                             "sub i32 %row, %block", "add i32 %number, %block"})
    EXPECT_FALSE(keeps("%at = " + std::string(number) + "\n" + store("%at") + "ret void")) << number;
  EXPECT_FALSE(keeps("%of = mul i32 %x, 127\n%at = add i32 %of, %block\n" + store("%at") + "ret void")) << "too near";
  EXPECT_FALSE(
      keeps("%b64 = zext i32 %block to i64\n%base = getelementptr i32, ptr %o32, i64 %b64\n"
            "%wide = zext i32 %number to i64\n%p = getelementptr i32, ptr %base, i64 %wide\n"
            "store i32 %value, ptr %p\nret void"))
      << "by two";
  EXPECT_FALSE(
      keeps("%base = load ptr, ptr %in\n%wide = zext i32 %number to i64\n"
            "%p = getelementptr i32, ptr %base, i64 %wide\nstore i32 %value, ptr %p\nret void"))
      << "another base for each block, maybe";
  EXPECT_FALSE(keeps("%v = zext i32 %value to i64\n" + store("%number", "i64", "%v") + "ret void"));
  EXPECT_FALSE(keeps("%v = trunc i32 %value to i16\n" + store("%number", "i16", "%v") + "ret void"));
  // Where a sum wraps that is extended within the number, words would lie apart.
  EXPECT_FALSE(
      keeps("%wraps = add i32 %block, %n\n%b64 = zext i32 %wraps to i64\n%x64 = zext i32 %x to i64\n"
            "%of = mul i64 %x64, 4096\n%at = add i64 %of, %b64\n%p = getelementptr i32, ptr %o32, i64 %at\n"
            "store i32 %value, ptr %p\nret void"));
}

TEST(KeptColumns, AreNotStoresBehindWhichThreadsDoMore) {
  EXPECT_FALSE(keeps(store("%number") + "call void @cupola.barrier(i32 0, i32 0)\nret void"));
  EXPECT_FALSE(keeps(store("%number") + "fence seq_cst\nret void"));
  EXPECT_FALSE(keeps(store("%number") + "%old = atomicrmw add ptr %in, i32 1 monotonic\nret void"));
  EXPECT_FALSE(keeps(store("%number") + "%is = icmp eq i32 %x, 0\nbr i1 %is, label %more, label %out\n"
                                        "more:\nstore i32 1, ptr %in\nbr label %out\nout:\nret void"));
  EXPECT_FALSE(
      keeps("%wide = zext i32 %number to i64\n%p = getelementptr i32, ptr %o32, i64 %wide\n"
            "store volatile i32 %value, ptr %p\nret void"));
}

TEST(KeptColumns, AreNotStoresOfSomeThreadsOrInLoops) {
  EXPECT_FALSE(keeps("%is = icmp slt i32 %x, %n\nbr i1 %is, label %in.range, label %out\nin.range:\n" +
                     store("%number") + "br label %out\nout:\nret void"));
  EXPECT_FALSE(keeps("br label %loop\nloop:\n%i = phi i32 [ 0, %0 ], [ %next, %loop ]\n" + store("%number") +
                     "%next = add i32 %i, 1\n%more = icmp slt i32 %next, %n\n"
                     "br i1 %more, label %loop, label %out\nout:\nret void"));
}

std::string difference(const std::string& body, Dim3 grid, Dim3 block) {
  const std::string text =
      kernel(body, "ptr %o8, ptr %o16, ptr %o32, ptr %o64, ptr %in, ptr %sums, i32 %n, i32 %total");
  return RungComparison(grid).compare_for_shape(text, block, /*hot=*/true);
}

TEST(KeptColumns, AreWrittenInTheEnd) {
  const std::string meet = "call void @cupola.barrier(i32 0, i32 0)\n";
  for (const Dim3& block : {Dim3{32}, Dim3{96}, Dim3{256}}) {
    for (const uint32_t blocks : {1, 2, 15, 16, 17, 31, 33, 70})
      for (const std::string& before : {std::string(), meet})
        EXPECT_EQ(difference(before + store("%number") + "ret void", {blocks}, block), "") << blocks << " " << block.x;
    // Rows of blocks, each of which has a table of its own behind the others'.
    const std::string of_band = formatted("%size = mul i32 %blocks, {}\n%begin = mul i32 %size, %band\n", block.x) +
                                "%at = add i32 %number, %begin\n";
    for (const Dim3& grid : {Dim3{1, 20}, Dim3{5, 9}, Dim3{16, 3}, Dim3{19, 3}})
      EXPECT_EQ(difference(of_band + store("%at") + "ret void", grid, block), "") << grid.x << " x " << grid.y;
  }
}

/// Where a thread's words are written, by numbers of `extend`ed bytes from `first` on: places from the base on, in
/// order.
std::vector<int> places(const std::string& extend, int8_t first, uint32_t count) {
  kir::TestModule module(
      kernel("%b8 = trunc i32 %block to i8\n%n8 = add i8 %b8, 3\n%x64 = zext i32 %x to i64\n"
             "%of = mul i64 %x64, 4096\n%base = getelementptr i32, ptr %o32, i64 %of\n%wide = " +
                 extend +
                 " i8 %n8 to i64\n%p = getelementptr i32, ptr %base, i64 %wide\n"
                 "store i32 %value, ptr %p\nret void",
             "ptr %context, ptr %o32"));
  llvm::Function& function = *module->getFunction("k");
  llvm::Function* write = keep_columns(function, {32});
  EXPECT_TRUE(write);
  if (!write) return {};
  function.eraseFromParent();
  write->setLinkage(llvm::GlobalValue::ExternalLinkage);
  alignas(64) int line[kMostKeptBlocks];
  std::iota(std::begin(line), std::end(line), 1);
  std::array<int, 1024> memory{};
  module.function<void(const int*, int*, int8_t, uint32_t)>("kept.words")(line, &memory[512], first, count);
  std::vector<int> found(count, 0);
  for (int i = 0; i < 1024; ++i)
    if (memory[i] > 0 && memory[i] <= static_cast<int>(count)) found[memory[i] - 1] = i - 512;
  return found;
}

// A byte that reaches the end goes on at its other one.
TEST(KeptColumns, GoOnWhereTheNumberWraps) {
  for (const uint32_t count : {1u, 5u, 15u, 16u})
    for (int first = -128; first < 128; ++first) {
      std::vector<int> as_signed, as_unsigned;
      for (uint32_t i = 0; i < count; ++i) {
        as_signed.push_back(static_cast<int8_t>(first + static_cast<int>(i)));
        as_unsigned.push_back(static_cast<uint8_t>(first + static_cast<int>(i)));
      }
      ASSERT_EQ(places("sext", static_cast<int8_t>(first), count), as_signed) << first << " " << count;
      ASSERT_EQ(places("zext", static_cast<int8_t>(first), count), as_unsigned) << first << " " << count;
      if (first == -110 || first == 20) first += 80;
    }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
