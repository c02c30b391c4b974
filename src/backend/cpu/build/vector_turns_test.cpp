#include "backend/cpu/build/vector_turns.h"

#include "backend/cpu/build/analysed_kernel.h"
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

bool takes_turns(const std::string& before, const std::string& turn = "store i32 1, ptr %place") {
  llvm::LLVMContext context;
  const auto module = parse(context, loop(before, turn));
  llvm::Function& function = *module->getFunction("k");
  llvm::DominatorTree dominators(function);
  const llvm::PostDominatorTree post_dominators(function);
  llvm::LoopInfo loops(dominators);
  const FarTurns turns = mark_far_turns(function, loops, dominators);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  keep_turns_of_rows(turns, Shapes(function, BlockClass::Rows, loops, post_dominators));
  return !turn_marks(function).empty();
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
  std::string much = "store i32 1, ptr %place\n";
  for (int i = 0; i < 60; ++i) much += formatted("%v{} = mul i64 %{}, 3\n", i, i == 0 ? "i" : formatted("v{}", i - 1));
  EXPECT_FALSE(takes_turns(before, much));
}

using Order = std::vector<std::vector<uint32_t>>;

/// In which order a block's warps took their turns: for each turn of each of its warps how many came before it.
Order order_of_turns(uint32_t warps, uint32_t turns, uint64_t pitch) {
  auto device = make_cpu_device();
  llvm::LLVMContext context;
  const std::string text = loop(std::string(kFromThread) + "%step = add i64 %pitch, 0", R"(
      %before = load i32, ptr %q
      store i32 %before, ptr %place
      %with = add i32 %before, 1
      store i32 %with, ptr %q)");
  auto image = build(parse(context, text), {.target = device->properties().image_target});
  EXPECT_TRUE(image) << image.error().message;
  std::vector<uint32_t> places(turns * pitch);
  uint32_t count = 0;
  struct {
    uint32_t *places, *count;
    uint64_t n, pitch;
  } const parameters = {places.data(), &count, turns * pitch, pitch};
  hal::Launch launch;
  launch.executable = device->load(image::serialize(*image)).value();
  launch.grid = {1};
  launch.block = {32 * warps};
  launch.parameters.resize(sizeof parameters);
  std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
  auto queue = device->create_queue(0).value();
  EXPECT_TRUE(queue->progress()->wait(queue->submit(std::move(launch))));
  Order order(warps);
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t turn = 0; turn < turns; ++turn) order[warp].push_back(places[turn * pitch + 32 * warp]);
  return order;
}

TEST(VectorTurns, LetOtherWarpsOnAfterSomeIfTheyAreFar) {
  EXPECT_EQ(order_of_turns(2, 10, kFar / 4),
            (Order{{0, 1, 2, 3, 4, 5, 6, 7, 16, 17}, {8, 9, 10, 11, 12, 13, 14, 15, 18, 19}}));
  EXPECT_EQ(order_of_turns(2, 10, kFar / 4 - 1),
            (Order{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19}}));
  EXPECT_EQ(order_of_turns(1, 3, kFar), (Order{{0, 1, 2}}));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
