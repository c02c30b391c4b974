#include "backend/cpu/build/vector_turns.h"

#include "backend/cpu/build/analysed_kernel.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/run/cpu_device.h"

// Which loops let other warps on, and that they do.

namespace cupola::cpu::build::testing {
namespace {

/// A loop over `%i`, from `%first` on in steps of `%step`, in which a thread does what `turn` says.
std::string loop(const std::string& before, const std::string& turn) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.nctaid.x()
    declare void @cupola.barrier(i32, i32) convergent
    define ptx_kernel void @k(ptr %p, ptr %q, i64 %n, i64 %pitch) {
      %x = call i32 @cupola.tid.x()
      %t = zext i32 %x to i64
      %narrow_width = call i32 @cupola.ntid.x()
      %width = zext i32 %narrow_width to i64
      %narrow_blocks = call i32 @cupola.nctaid.x()
      %blocks = zext i32 %narrow_blocks to i64
      )" +
         before + R"(
      br label %loop
    loop:
      %i = phi i64 [ %first, %0 ], [ %next, %loop ]
      %place = getelementptr i32, ptr %p, i64 %i
      )" +
         turn + R"(
      %next = add i64 %i, %step
      %over = icmp sge i64 %next, %n
      br i1 %over, label %end, label %loop
    end:
      ret void
    })";
}

/// A kernel with such a loop, whose far turns are marked.
class Marked {
 public:
  Marked(const std::string& before, const std::string& turn)
      : module_(parse(context_, loop(before, turn) + "\n!0 = !{}")) {
    llvm::Function& function = *module_->getFunction("k");
    llvm::DominatorTree dominators(function);
    const llvm::PostDominatorTree post_dominators(function);
    llvm::LoopInfo loops(dominators);
    Evolution evolution(function, loops, dominators);
    const FarTurns turns = mark_far_turns(evolution, loops, dominators);
    EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
    const Shapes shapes(function, BlockClass::Rows, loops, post_dominators);
    const bool has_far_turns = keep_turns_of_rows(turns, shapes, /*to_the_end=*/false);
    marks = turn_marks(function);
    EXPECT_EQ(has_far_turns, !marks.empty());
  }

  /// The names of the addresses that are fetched ahead for.
  std::vector<std::string> rows() const {
    std::vector<std::string> names;
    for (const llvm::CallInst* mark : marks)
      for (const FarRow& row : rows_of(*mark)) names.push_back(row.address->getName().str());
    return names;
  }

  llvm::SmallVector<llvm::CallInst*, 4> marks;

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

bool takes_turns(const std::string& before, const std::string& turn = "store i32 1, ptr %place") {
  return !Marked(before, turn).marks.empty();
}

constexpr const char* kFromThread = "%first = add i64 %t, 0\n";

TEST(VectorTurns, AreOfLoopsOverAGridOrWithAPitch) {
  const std::string first = kFromThread;
  EXPECT_TRUE(takes_turns(first + "%step = mul i64 %blocks, %width"));
  EXPECT_TRUE(takes_turns(first + "%step = add i64 %pitch, 0"));
  EXPECT_TRUE(takes_turns(first + "%step = sub i64 0, %pitch"));
  EXPECT_TRUE(takes_turns(first + "%step = add i64 0, 1024"));  // words
  EXPECT_TRUE(takes_turns(first + "%step = sub i64 0, 1024"));
}

TEST(VectorTurns, AreOfIndicesThatMayCountFromTheEnd) {
  const auto from_end = [](const std::string& end) {
    return takes_turns(std::string(kFromThread) + "%step = mul i64 %blocks, %width",
                       "%below = icmp slt i64 %i, 0\n%wrap = select i1 %below, i64 " + end +
                           ", i64 0\n%at = getelementptr i32, ptr %place, i64 %wrap\nstore i32 1, ptr %at");
  };
  EXPECT_TRUE(from_end("%n"));
  EXPECT_FALSE(from_end("%i"));
}

TEST(VectorTurns, AreNotOfSmallStepsOrTheBlocksOwn) {
  const std::string first = kFromThread;
  EXPECT_FALSE(takes_turns(first + "%step = add i64 0, 1023"));
  EXPECT_FALSE(takes_turns(first + "%step = add i64 %width, 0"));
  EXPECT_FALSE(takes_turns(first + "%step = mul i64 %width, 4"));
}

TEST(VectorTurns, AreNotOfLanesApart) {
  EXPECT_FALSE(takes_turns("%first = add i64 %n, 0\n%step = add i64 %pitch, 0"));  // all lanes at one place
  EXPECT_FALSE(takes_turns("%first = mul i64 %t, %pitch\n%step = add i64 %pitch, 0"));
  EXPECT_FALSE(takes_turns("%first = add i64 %t, 0\n%step = mul i64 %t, %pitch"));
  // Not all lanes go far, or near, in all that they touch.
  EXPECT_FALSE(takes_turns(std::string(kFromThread) + "%step = add i64 %pitch, 0", R"(
      store i32 1, ptr %place
      %scaled = mul i64 %i, %t
      %other = getelementptr i32, ptr %q, i64 %scaled
      store i32 1, ptr %other)"));
}

TEST(VectorTurns, AreNotOfLoopsThatMeetOrTakeLong) {
  const std::string before = std::string(kFromThread) + "%step = add i64 %pitch, 0";
  EXPECT_TRUE(takes_turns(before, "%v = load i32, ptr %place\nstore i32 %v, ptr %q"));
  EXPECT_FALSE(takes_turns(before, "store i32 1, ptr %place\ncall void @cupola.barrier(i32 0, i32 0)"));
  EXPECT_FALSE(takes_turns(before, "%v = atomicrmw add ptr %place, i32 1 monotonic"));
  // In shared memory they take no longer than others, but the order of warps would show in what they return.
  const std::string in_shared =
      "store i32 1, ptr %place\n%v = atomicrmw add ptr %q, i32 1 monotonic, !cupola.shared_atomic !0";
  EXPECT_TRUE(takes_turns(before, in_shared));
  EXPECT_FALSE(takes_turns(before, in_shared + "\nstore i32 %v, ptr %place"));
  std::string much = "store i32 1, ptr %place\n";
  for (int i = 0; i < 60; ++i) much += formatted("%v{} = mul i64 %{}, 3\n", i, i == 0 ? "i" : formatted("v{}", i - 1));
  EXPECT_FALSE(takes_turns(before, much));
}

TEST(VectorTurns, NameRowsThatAreRead) {
  using Names = std::vector<std::string>;
  const auto rows = [](const std::string& turn) {
    return Marked(std::string(kFromThread) + "%own = alloca [64 x i32]\n%step = add i64 %pitch, 0", turn).rows();
  };
  const std::string other = "%other = getelementptr i32, ptr %q, i64 %i\n";
  EXPECT_EQ(rows("%v = load i32, ptr %place\n" + other + "%w = load i32, ptr %other"), (Names{"place", "other"}));
  EXPECT_EQ(rows("%v = load i32, ptr %place\n" + other + "store i32 %v, ptr %other"), Names{"place"});
  EXPECT_EQ(rows("store i32 1, ptr %place"), Names{});
  // Of another field of what is read already.
  EXPECT_EQ(
      rows("%beside = getelementptr i8, ptr %place, i64 60\n%v = load i32, ptr %place\n%w = load i32, ptr %beside"),
      Names{"place"});
  EXPECT_EQ(rows("%apart = getelementptr i8, ptr %place, i64 64\n%v = load i32, ptr %place\n%w = load i32, ptr %apart"),
            (Names{"place", "apart"}));
  // A thread's own memory, or what does not move.
  EXPECT_EQ(rows("store i32 1, ptr %place\n%mine = getelementptr i32, ptr %own, i64 %i\n%v = load i32, ptr %mine"),
            Names{});
  EXPECT_EQ(rows("store i32 1, ptr %place\n%v = load i32, ptr %q"), Names{});
}

using Order = std::vector<std::vector<uint32_t>>;

/// In which order the warps of blocks took their turns: for each turn of each of them how many came before it. `read`:
/// what else a turn does.
Order order_of_turns(uint32_t blocks, uint32_t warps, uint32_t turns, uint64_t pitch, const std::string& read = "") {
  TestProgram program("declare i32 @cupola.ctaid.x()\n" + loop(R"(
      %block = call i32 @cupola.ctaid.x()
      %begin = mul i32 %block, %narrow_width
      %narrow_first = add i32 %begin, %x
      %first = zext i32 %narrow_first to i64
      %step = add i64 %pitch, 0)",
                                                               read + R"(
      %before = load i32, ptr %q
      store i32 %before, ptr %place
      %with = add i32 %before, 1
      store i32 %with, ptr %q)"));
  std::vector<uint32_t> places(turns * pitch + 32 * warps * blocks);
  uint32_t count = 0;
  program.call_for_blocks("k", {blocks}, {32 * warps}, blocks, places.data(), &count, turns * pitch, pitch);
  Order order(blocks * warps);
  for (uint32_t warp = 0; warp < blocks * warps; ++warp)
    for (uint32_t turn = 0; turn < turns; ++turn) order[warp].push_back(places[turn * pitch + 32 * warp]);
  return order;
}

TEST(VectorTurns, LetOtherWarpsOnAfterSomeIfTheyAreFar) {
  EXPECT_EQ(order_of_turns(1, 2, 10, kFar / 4),
            (Order{{0, 1, 2, 3, 4, 5, 6, 7, 16, 17}, {8, 9, 10, 11, 12, 13, 14, 15, 18, 19}}));
  EXPECT_EQ(order_of_turns(1, 2, 10, kFar / 4 - 1),
            (Order{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19}}));
  EXPECT_EQ(order_of_turns(1, 1, 3, kFar), (Order{{0, 1, 2}}));
}

TEST(VectorTurns, LetTheNextBlockOnAsWell) {
  EXPECT_EQ(order_of_turns(2, 2, 9, kFar / 4), (Order{{0, 1, 2, 3, 4, 5, 6, 7, 32},
                                                      {8, 9, 10, 11, 12, 13, 14, 15, 33},
                                                      {16, 17, 18, 19, 20, 21, 22, 23, 34},
                                                      {24, 25, 26, 27, 28, 29, 30, 31, 35}}));
  EXPECT_EQ(order_of_turns(2, 2, 3, kFar / 4 - 1), (Order{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}));
  EXPECT_EQ(order_of_turns(2, 2, 3, kFar / 4), (Order{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}));
}

TEST(VectorTurns, AreFewerATimeThatGoThroughMoreRows) {
  const std::string rows = R"(
      %other = getelementptr i8, ptr %place, i64 64
      %v = load volatile i32, ptr %place
      %w = load volatile i32, ptr %other)";
  EXPECT_EQ(order_of_turns(1, 2, 5, kFar / 4, rows), (Order{{0, 1, 2, 3, 8}, {4, 5, 6, 7, 9}}));
}

/// Whether it does where a thread of rows writes at %p + `index`, perhaps in a loop.
bool writes_far_apart(const std::string& index, bool loops_there = false) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ntid.x()
    define ptx_kernel void @k(ptr %p, i32 %pitch) {
      %x = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %width = call i32 @cupola.ntid.x()
      br label %write
    write:
      %row = mul i32 )" + index + R"(
      %number = add i32 %row, %x
      %place = getelementptr float, ptr %p, i32 %number
      store float 1.0, ptr %place
      %again = icmp eq i32 %pitch, 7
      br i1 %again, label )" + (loops_there ? "%write" : "%over") +
                                         R"(, label %over
    over:
      ret void
    })");
  llvm::Function& kernel = *module->getFunction("k");
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(kernel, loops, dominators);
  return writes_rows_far_apart(kernel, evolution, loops);
}

TEST(VectorTurns, RowsFarApartAreThoseOfAPitch) {
  EXPECT_TRUE(writes_far_apart("%y, %pitch"));
  EXPECT_TRUE(writes_far_apart("%y, 1024"));
  EXPECT_FALSE(writes_far_apart("%y, 16"));
  EXPECT_FALSE(writes_far_apart("%y, %width"));
  EXPECT_FALSE(writes_far_apart("%y, %pitch", /*loops_there=*/true)) << "it may come back to them";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
