#include "backend/cpu/build/kept_columns.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include <array>
#include <random>
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
    declare i32 @llvm.umax.i32(i32, i32)
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

llvm::Function* keep_columns(llvm::Function& kernel, const Dim3& shape) {
  llvm::StoreInst* store = store_down_a_column(kernel, shape);
  return store ? keep_column(*store, shape) : nullptr;
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

// Blocks may choose, or have gone through loops as often as they read: what moves mostly is no column.
TEST(KeptColumns, AreNotStoresWhosePlaceIsChosenOrRead) {
  const std::string sum = "%at = add i32 %number, %moved\n" + store("%at") + "ret void";
  for (const char* moved :
       {"%odd = and i32 %block, 1\n%moved = mul i32 %odd, 4096\n", "%moved = and i32 %block, 4096\n",
        "%odd = and i32 %block, 1\n%is = icmp eq i32 %odd, 0\n%moved = select i1 %is, i32 0, i32 4096\n",
        "%is = icmp ult i32 %block, %n\n%moved = select i1 %is, i32 0, i32 4096\n",
        "%is = icmp ult i32 %x, %n\n%moved = select i1 %is, i32 0, i32 4096\n", "%moved = load i32, ptr %in\n",
        "%moved = udiv i32 %block, 16\n", "%moved = lshr i32 %block, 4\n",
        "%moved = call i32 @llvm.umax.i32(i32 %block, i32 %n)\n"})
    EXPECT_FALSE(keeps(moved + sum)) << moved;
  const auto behind = [](const std::string& base) {
    return base +
           "%wide = zext i32 %number to i64\n%p = getelementptr i32, ptr %base, i64 %wide\n"
           "store i32 %value, ptr %p\nret void";
  };
  EXPECT_TRUE(keeps(behind("%base = getelementptr i32, ptr %o32, i64 7\n")));
  EXPECT_FALSE(keeps(behind("%is = icmp ult i32 %block, %n\n%base = select i1 %is, ptr %o32, ptr %in\n")));
  EXPECT_FALSE(
      keeps(behind("%b64 = zext i32 %block to i64\n%odd = and i64 %b64, 1\n"
                   "%base = getelementptr [64 x i32], ptr %o32, i64 %odd\n")));
  EXPECT_FALSE(
      keeps(behind("%b8 = trunc i32 %block to i8\n%next = add i8 %b8, 3\n%wide8 = zext i8 %next to i64\n"
                   "%near = zext i8 %b8 to i64\n%gap = sub i64 %wide8, %near\n"
                   "%base = getelementptr i32, ptr %o32, i64 %gap\n")))
      << "a gap that wraps";
  EXPECT_FALSE(keeps(R"(
      %turns = load i32, ptr %in
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %loop ]
      %base = phi ptr [ %o32, %0 ], [ %after, %loop ]
      %after = getelementptr [1024 x i32], ptr %base, i64 1
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %turns
      br i1 %more, label %loop, label %out
    out:
      )" + behind("")));
  EXPECT_FALSE(keeps("%window = getelementptr i8, ptr %context, i64 16\n%base = load ptr, ptr %window\n" + behind("")))
      << "shared memory, which the next block has too";
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

// Threads that leave are brought to where the others go on (vector_exits.h): their words stay what they were.
TEST(KeptColumns, AreNotThoseOfThreadsThatLeft) {
  for (const std::string leaves :
       {"%who = icmp uge i32 %number, 1200", "%odd = and i32 %value, 3\n%who = icmp eq i32 %odd, 0"})
    for (const std::string before : {"", "call void @cupola.barrier(i32 0, i32 0)\n"})
      EXPECT_EQ(difference(before + leaves + "\nbr i1 %who, label %gone, label %here\ngone:\nret void\nhere:\n" +
                               store("%number") + "ret void",
                           {40}, {32}),
                "")
          << leaves;
}

/// A table of random places: rows and columns by sums of what blocks and threads have, choose or read, for each word
/// another one.
class RandomTable {
 public:
  explicit RandomTable(uint32_t seed) : random_(seed) {}

  std::string body() {
    std::string code = "%c0 = icmp ult i32 %block, " + std::to_string(1 + pick(20)) +
                       "\n%c1 = icmp eq i32 %bit, 0\n%c2 = icmp ult i32 %x, 9\n%word = load i32, ptr %in.x\n"
                       "%c3 = icmp slt i32 %word, 0\n";
    const std::string choice = "%c" + std::to_string(pick(4));
    const std::string moved = one_of({"%away = add i32 0, 0", "%away = select i1 " + choice + ", i32 0, i32 6400",
                                      "%away = mul i32 %bit, 6400", "%away = add i32 3, 4"});
    const std::string row =
        one_of({"%rows = mul i32 %blocks, 5\n%row.of = mul i32 %x, %rows", "%row.of = mul i32 %x, 190",
                "%turned = sub i32 31, %x\n%row.of = mul i32 %turned, 190"});
    const std::string column = one_of({"%column = add i32 %block, 0", "%column = add i32 %block, 100",
                                       "%column = select i1 " + choice + ", i32 %block, i32 %late",
                                       "%column = sub i32 150, %block", "%column = and i32 %block, 63"});
    const std::string base = one_of(
        {"%base = getelementptr i32, ptr %o32, i64 5",
         "%other = getelementptr i32, ptr %o32, i64 6400\n%base = select i1 " + choice + ", ptr %o32, ptr %other",
         "%bit64 = zext i32 %bit to i64\n%base = getelementptr [6400 x i32], ptr %o32, i64 %bit64"});
    const std::string extend = one_of({"zext", "sext"});
    return "%bit = and i32 %block, 1\n%late = add i32 %block, 90\n%x64 = zext i32 %x to i64\n"
           "%in.x = getelementptr i32, ptr %in, i64 %x64\n" +
           code + moved + "\n" + row + "\n" + column + "\n" + base + "\n" + one_of({"", "", "", guard()}) +
           "%sum = add i32 %row.of, %column\n%at = add i32 %sum, %away\n%wide = " + extend +
           " i32 %at to i64\n%place = getelementptr i32, ptr %base, i64 %wide\nstore i32 %value, ptr %place\n"
           "ret void";
  }

 private:
  /// Some threads are over before, others in each block.
  std::string guard() {
    return "%stays = icmp ult i32 %number, " + std::to_string(pick(1280)) +
           "\nbr i1 %stays, label %mine, label %gone\ngone:\nret void\nmine:\n";
  }
  unsigned pick(unsigned count) { return random_() % count; }
  std::string one_of(std::initializer_list<std::string> all) { return *(all.begin() + pick(all.size())); }
  std::mt19937 random_;
};

TEST(KeptColumns, OfRandomTablesAreTheSame) {
  int kept = 0;
  constexpr int kTables = 300;
  for (uint32_t seed = 0; seed < kTables; ++seed) {
    const std::string body = RandomTable(seed).body();
    kept += keeps(body, {32});
    EXPECT_EQ(difference(body, {40}, {32}), "") << seed << "\n" << body;
  }
  EXPECT_GT(kept, kTables / 25);  // in a quarter of them threads leave
  EXPECT_LT(kept, kTables / 2);
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
  constexpr int kThreads = 32, kThread = 5;  // each block's words lie behind each other, this thread's is one of them
  std::array<int, kThreads * kMostKeptBlocks> kept;
  kept.fill(-1);
  for (uint32_t block = 0; block < kMostKeptBlocks; ++block)
    kept[block * kThreads + kThread] = static_cast<int>(block) + 1;
  std::array<int, 1024> memory{};
  module.function<void(const int*, int*, int8_t, uint32_t)>("kept.words")(&kept[kThread], &memory[512], first, count);
  std::vector<int> found(count, -1000);
  for (int i = 0; i < 1024; ++i)
    if (memory[i] > 0 && memory[i] <= static_cast<int>(count)) found[memory[i] - 1] = i - 512;
  return found;
}

// A byte that reaches the end goes on at its other one.
TEST(KeptColumns, GoOnWhereTheNumberWraps) {
  for (const uint32_t count : {1u, 5u, 15u, 16u})
    for (const int first : {-128, -127, -20, -16, -15, -1, 0, 1, 111, 112, 113, 126, 127}) {
      std::vector<int> as_signed, as_unsigned;
      for (uint32_t i = 0; i < count; ++i) {
        as_signed.push_back(static_cast<int8_t>(first + static_cast<int>(i)));
        as_unsigned.push_back(static_cast<uint8_t>(first + static_cast<int>(i)));
      }
      ASSERT_EQ(places("sext", static_cast<int8_t>(first), count), as_signed) << first << " " << count;
      ASSERT_EQ(places("zext", static_cast<int8_t>(first), count), as_unsigned) << first << " " << count;
    }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
