#include "backend/cpu/build/place_notes.h"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Scalar/GVN.h>

#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/whole_block.h"
#include "kir/pass_analyses.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What LLVM makes of code that writes and reads at %at, with many notes between.
std::string forwarded(const std::string& at, const std::string& write, const std::string& read) {
  std::string notes;
  for (int i = 0; i < 60; ++i) notes += "store volatile i32 " + std::to_string(i) + ", ptr %warp\n";
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)
    declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
    define <4 x i32> @k(ptr %context, <4 x i32> %v, i64 %field) {
      %warp = getelementptr inbounds i8, ptr %context, i64 76
      %window = load ptr, ptr %context
      %at = )" + at + notes + write + notes +
                                         read + R"(
      ret <4 x i32> %r
    })");
  llvm::Function& code = *module->getFunction("k");
  llvm::SmallVector<llvm::StoreInst*, 64> stores;
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isVolatile())
      stores.push_back(store);
  tell_notes_apart(code, stores);
  kir::PassAnalyses analyses;
  llvm::GVNPass().run(code, analyses.functions);
  std::string text;
  llvm::raw_string_ostream(text) << *code.back().getTerminator();
  return text;
}

constexpr const char* kWindow = "getelementptr i8, ptr %window, i64 128\n";

TEST(PlaceNotes, AreNotWhereTheCodeReadsAndWrites) {
  const std::string write = "store <4 x i32> %v, ptr %at\n", read = "%r = load <4 x i32>, ptr %at\n";
  EXPECT_THAT(forwarded(kWindow, write, read), HasSubstr("%v"));
  EXPECT_THAT(
      forwarded(kWindow,
                "call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr %at, <4 x i1> splat (i1 true))\n" + write,
                read),
      HasSubstr("%v"));
}

TEST(PlaceNotes, MayBeInTheContext) {
  EXPECT_THAT(forwarded("getelementptr i8, ptr %context, i64 %field\n", "store <4 x i32> %v, ptr %at\n",
                        "%r = load <4 x i32>, ptr %at\n"),
              Not(HasSubstr("%v")));
}

/// What is left of code in which %warp and %block are places of notes.
struct Left {
  size_t notes, blocks;
};
Left left_of(const std::string& code) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
    declare void @other()
    declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
    define void @k(ptr %context, ptr %p, i1 %some, i32 %n) {
      %field = getelementptr inbounds i8, ptr %context, i64 16
      %window = load ptr, ptr %field
      %place = getelementptr i8, ptr %window, i64 64
      %end = getelementptr i8, ptr %window, i64 )" +
                                         std::to_string(kSharedWindow) + R"(
      %warp = getelementptr inbounds i8, ptr %context, i64 76
      %block = getelementptr inbounds i8, ptr %context, i64 36
      %again = getelementptr inbounds i8, ptr %context, i64 76
)" + code + "ret void }");
  llvm::Function& function = *module->getFunction("k");
  mark_whole_blocks(function);
  kir::PassAnalyses analyses;
  drop_overwritten_notes(function, analyses.functions);
  const auto notes = llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::StoreInst>(instruction) && instruction.isVolatile();
  });
  return {static_cast<size_t>(notes), function.size()};
}
size_t left(const std::string& code) {
  return left_of(code).notes;
}

TEST(PlaceNotes, AreDroppedWhereOthersFollow) {
  const std::string warp = "store volatile i32 1, ptr %warp\n", block = "store volatile i32 2, ptr %block\n";
  EXPECT_EQ(left(warp + warp + "store volatile i32 3, ptr %again\n"), 1u);
  EXPECT_EQ(left(warp + block + warp + block), 2u) << "one of each";
  EXPECT_EQ(left(warp + "call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1)\n%x = add i32 1, 2\n" + warp), 1u);
}

TEST(PlaceNotes, AreDroppedBeforeWhatCannotFail) {
  const std::string warp = "store volatile i32 1, ptr %warp\n";
  const auto at = [](const std::string& most) {
    return "%few = and i32 %n, " + most +
           "\n%far = zext i32 %few to i64\n%at = getelementptr i32, ptr %place, i64 %far\n";
  };
  const std::string load = "%x = load i32, ptr %at\n";
  const std::vector<std::string> certain = {
      "%x = load i32, ptr %place\n", "store <4 x i32> zeroinitializer, ptr %place\n",
      "%x = load i32, ptr %window\nstore i32 %x, ptr %place\n",
      "%x = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %place, <4 x i1> zeroinitializer, <4 x i32> poison)\n",
      at("15") + load};
  for (const std::string& between : certain) EXPECT_EQ(left(warp + between + warp), 1u) << between;
  const std::vector<std::string> may_fail = {"%x = load i32, ptr %end\n",
                                             "%at = getelementptr i8, ptr %end, i64 -4\n%x = load i64, ptr %at\n",
                                             "%at = getelementptr i8, ptr %window, i64 -4\n" + load,
                                             at(std::to_string(kSharedWindow)) + load,
                                             at("-1") + load,
                                             "%x = load i32, ptr %place\nstore i32 %x, ptr %p\n"};
  for (const std::string& between : may_fail) EXPECT_EQ(left(warp + between + warp), 2u) << between;
}

TEST(PlaceNotes, StayWhereSomethingMayFailOrTell) {
  const std::string warp = "store volatile i32 1, ptr %warp\n";
  for (const char* between : {"%x = load i32, ptr %p\n", "store i32 1, ptr %p\n", "call void @other()\n",
                              "fence seq_cst\n", "%x = atomicrmw add ptr %p, i32 1 monotonic\n"})
    EXPECT_EQ(left(warp + between + warp), 2u) << between;
  const std::string other = "store volatile i32 1, ptr %p\n";
  EXPECT_EQ(left(other + other), 2u) << "the kernel's own";
  EXPECT_EQ(left("store volatile i8 1, ptr %warp\n" + warp), 2u);
}

TEST(PlaceNotes, AreDroppedWhereOthersFollowOnEachWay) {
  const std::string warp = "store volatile i32 1, ptr %warp\n";
  const auto parted = [&](const std::string& one, const std::string& other, const std::string& behind) {
    return left(warp + "br i1 %some, label %a, label %b\na:\n" + one + "br label %on\nb:\n" + other +
                "br label %on\non:\n" + behind);
  };
  EXPECT_EQ(parted(warp, warp, ""), 2u);
  EXPECT_EQ(parted("", "", warp), 1u);
  EXPECT_EQ(parted(warp, "", ""), 2u) << "the other way returns with the first one";
  EXPECT_EQ(parted("store i32 1, ptr %p\n", "", warp), 2u);
}

/// A loop of %n turns that does `turn`, then `behind`.
std::string loop(const std::string& turn, const std::string& behind) {
  return "br label %turn\nturn:\n%i = phi i32 [ 0, %0 ], [ %next, %turn ]\n" + turn +
         "%next = add nuw i32 %i, 1\n%more = icmp ult i32 %next, %n\nbr i1 %more, label %turn, label %on\non:\n" +
         behind;
}

TEST(PlaceNotes, LoopsThatOnlyMakeThemGoWithThem) {
  const std::string warp = "store volatile i32 %i, ptr %warp\n", last = "store volatile i32 7, ptr %warp\n";
  const Left idle = left_of(loop(warp, last));
  EXPECT_EQ(idle.notes, 1u);
  const Left busy = left_of(loop(warp + "store i32 %i, ptr %p\n", last));
  EXPECT_EQ(busy.notes, 2u);
  EXPECT_LT(idle.blocks, busy.blocks);
  EXPECT_EQ(left(loop(warp, "")), 1u) << "it says where the code was last";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
