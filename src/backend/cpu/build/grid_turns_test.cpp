#include "backend/cpu/build/grid_turns.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/kernel_unit.h"
#include "backend/cpu/build/test_machine.h"
#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/vector_rung.h"
#include "kir/intrinsics.h"

// Where blocks take turns over a grid together, and how many. That they compute what they did VectorDifferential shows.

namespace cupola::cpu::build::testing {
namespace {

/// How many turns of the kernel's loop stand before it, each with `loads` loads; 0: it is as it was.
size_t taken_together(const std::string& text, size_t loads = 1, const Dim3& shape = {256}, uint32_t rows = 6) {
  llvm::LLVMContext context;
  const auto module = parse(context, text);
  llvm::Function& function = *module->getFunction("k");
  const auto count = [&](auto is) { return static_cast<size_t>(llvm::count_if(llvm::instructions(function), is)); };
  const auto is_load = [](const llvm::Instruction& each) { return llvm::isa<llvm::LoadInst>(each); };
  const auto is_barrier = [](const llvm::Instruction& each) {
    return kir::intrinsic_of(each) == kir::Intrinsic::Barrier;
  };
  const size_t before = count(is_load), barriers = count(is_barrier);
  const bool changed = meet_in_grid_turns(function, kir::CallReach(*module), shape, rows);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  EXPECT_EQ(count(is_barrier), barriers + (changed ? 1 : 0));
  EXPECT_EQ((count(is_load) - before) % loads, 0u);
  return (count(is_load) - before) / loads;
}

struct Loop {
  std::string first = "%mine", end = "%n", test = "slt i32 %i, %end", turn = "", step = "%all", behind = "",
              index = "%i", before = "", meet = "call void @cupola.barrier(i32 0, i32 0)", enter = "br label %before";
};

/// A loop that sums what it reads at %p.
std::string kernel(const Loop& loop) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare i32 @cupola.nctaid.x()
    declare void @cupola.barrier(i32, i32)
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
    define void @k(ptr %p, ptr %q, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %y = call i32 @cupola.ctaid.y()
      %blocks = call i32 @cupola.nctaid.x()
      %of.block = mul i32 %block, 256
      %mine = add i32 %of.block, %t
      %all = mul i32 %blocks, 256
      )" +
         loop.enter +
         R"(
    before:
      )" +
         loop.before +
         R"(
      %first = add i32 )" +
         loop.first + R"(, 0
      %end = add i32 )" +
         loop.end + R"(, 0
      br label %head
    head:
      %i = phi i32 [ %first, %before ], [ %next, %body ]
      %sum = phi float [ 0.0, %before ], [ %more, %body ]
      %on = icmp )" +
         loop.test + R"(
      br i1 %on, label %body, label %out
    body:
      %index = sext i32 )" +
         loop.index + R"( to i64
      %place = getelementptr float, ptr %p, i64 %index
      %a = load float, ptr %place
      )" +
         loop.turn +
         R"(
      %more = fadd float %sum, %a
      %next = add i32 %i, )" +
         loop.step + R"(
      br label %head
    out:
      store float %sum, ptr %q
      )" +
         loop.behind + "\n br label %meet\nmeet:\n" + loop.meet + "\nret void\n}";
}
size_t taken(const Loop& loop, size_t loads = 1) {
  return taken_together(kernel(loop), loads);
}

TEST(GridTurns, FourAreTakenTogetherWhereAllBlocksMeet) {
  EXPECT_EQ(taken({}), 4u);
  EXPECT_EQ(taken({.test = "sge i32 %end, %i"}), 4u);
  EXPECT_EQ(taken({.test = "ult i32 %i, %end"}), 4u);
  EXPECT_EQ(taken({.behind = "store i32 %i, ptr %q"}), 4u) << "the loop itself ends as it did";
}

/// How many places the hot code for blocks of 256 asks for ahead, on such a processor.
int fetches_on(const std::string& processor, std::string text) {
  const std::string function = "define void";
  text.replace(text.find(function), function.size(), "define ptx_kernel void");
  llvm::LLVMContext context;
  const auto built = build(parse(context, text), {.target = "cpu:test", .later = true});
  auto unit = read_unit(context, built.value().kernels[0].unit);
  const image::BlocksOfCode blocks{image::BlockClass::Rows, Dim3{256}, /*hot=*/true};
  const auto rung =
      vectorise(unit->kernel, blocks, unit->constant_bytes, kir::CallReach(*unit->module), *machine_of(processor));
  EXPECT_TRUE(rung.value().warps[image::BlockClass::Rows].meets_in_grid_turns);
  int fetches = 0;
  for (const llvm::Instruction& each : llvm::instructions(*rung->warps[image::BlockClass::Rows].code)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
    fetches += call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  }
  return fetches;
}

// See stream_habits.h: Intel's fetch by themselves what is taken in such turns.
TEST(GridTurns, NextOnesAreAskedForOnSomeProcessors) {
  if (!machine_of("")->getTargetTriple().isX86()) GTEST_SKIP() << "names of x86";
  EXPECT_GT(fetches_on("znver4", kernel({})), 0);
  EXPECT_EQ(fetches_on("sapphirerapids", kernel({})), 0);
}

TEST(GridTurns, OfSeveralRowsFewer) {
  const std::string two = "%other = getelementptr float, ptr %q, i64 %index\n %b = load float, ptr %other\n";
  EXPECT_EQ(taken({.turn = two}, 2), 2u);
  EXPECT_EQ(taken_together(kernel({.turn = two}), 2, {256}, 12), 4u);
  EXPECT_EQ(taken_together(kernel({}), 1, {256}, 12), 8u);
  EXPECT_EQ(taken_together(kernel({.turn = two}), 2, {256}, 3), 0u) << "one is no more than the loop takes";
  const std::string near = "%other = getelementptr i8, ptr %place, i64 4\n %b = load float, ptr %other\n";
  EXPECT_EQ(taken({.turn = near}, 2), 4u) << "the same lines";
  std::string long_turn = "%v0 = fadd float %a, 1.0\n";
  for (int i = 0; i < 48; ++i)
    long_turn += "%v" + std::to_string(i + 1) + " = fmul float %v" + std::to_string(i) + ", 3.0\n";
  EXPECT_EQ(taken({.turn = long_turn}), 2u) << "long turns";
}

TEST(GridTurns, TheyMayBeginElsewhere) {
  EXPECT_EQ(taken({.first = "%f", .before = "%base = mul i32 %y, 1000\n %f = add i32 %mine, %base\n"}), 4u);
  EXPECT_EQ(taken({.first = "%f", .step = "%twice", .before = "%f = mul i32 %mine, 2\n %twice = mul i32 %all, 2\n"}),
            4u);
}

TEST(GridTurns, CountersMayBeOf64Bits) {
  const auto loop = [](const std::string& first) {
    std::string text = kernel({.first = first,
                               .test = "ult i32 %i, %end",
                               .index = "%narrow",
                               .before = "%m = zext i32 %mine to i64\n %s = zext i32 %all to i64\n"
                                         "%later = add i64 %m, 1000\n %wide.n = zext i32 %n to i64\n"});
    for (const auto& [from, to] : {std::pair("%first = add i32", "%first = add i64"),
                                   {"%end = add i32 %n", "%end = add i64 %wide.n"},
                                   {"%i = phi i32", "%i = phi i64"},
                                   {"icmp ult i32", "icmp ult i64"},
                                   {"%index = sext i32 %narrow to i64", "%index = add i64 %i, 0"},
                                   {"%next = add i32 %i, %all", "%next = add i64 %i, %s"}})
      text.replace(text.find(from), strlen(from), to);
    return text;
  };
  EXPECT_EQ(taken_together(loop("%m")), 4u);
  EXPECT_EQ(taken_together(loop("%later")), 4u);
}

TEST(GridTurns, CountersMayBeginAnywhereOf64Bits) {
  const auto loop = [](const std::string& begin) {
    std::string text = kernel({.first = "%f",
                               .test = "ult i32 %i, %end",
                               .index = "%narrow",
                               .before = "%m = zext i32 %block to i64\n %o = mul i64 %m, 256\n"
                                         "%tt = zext i32 %t to i64\n %mm = add i64 %o, %tt\n"
                                         "%f = add i64 %mm, " +
                                         begin +
                                         "\n %g = zext i32 %blocks to i64\n"
                                         "%s = mul i64 %g, 256\n %wide.n = zext i32 %n to i64\n"});
    for (const auto& [from, to] : {std::pair("%first = add i32", "%first = add i64"),
                                   {"%end = add i32 %n", "%end = add i64 %wide.n"},
                                   {"%i = phi i32", "%i = phi i64"},
                                   {"icmp ult i32", "icmp ult i64"},
                                   {"%index = sext i32 %narrow to i64", "%index = add i64 %i, 0"},
                                   {"%next = add i32 %i, %all", "%next = add i64 %i, %s"},
                                   {"declare i32 @cupola.tid.x", "declare range(i32 0, 1024) i32 @cupola.tid.x"},
                                   {"declare i32 @cupola.ctaid.x", "declare range(i32 0, 9999) i32 @cupola.ctaid.x"}})
      text.replace(text.find(from), strlen(from), to);
    return text;
  };
  for (const char* begin : {"-3", "1000000000000", "9223372036854770000"})
    EXPECT_EQ(taken_together(loop(begin)), 4u) << begin;
}

TEST(GridTurns, AllLoopsThatGoFarOrNone) {
  const std::string one = kernel({});
  const size_t out = one.find("    out:");
  const auto with_second = [&](const std::string& step) {
    std::string text = one;
    text.insert(out, R"(
    out:
      br label %again
    again:
      %j = phi i32 [ %mine, %out ], [ %k, %more.body ]
      %total = phi float [ 0.0, %out ], [ %grown, %more.body ]
      %also = icmp slt i32 %j, %n
      br i1 %also, label %more.body, label %last
    more.body:
      %j64 = sext i32 %j to i64
      %from = getelementptr float, ptr %p, i64 %j64
      %c = load float, ptr %from
      %grown = fadd float %total, %c
      %k = add i32 %j, )" +
                         step + "\n br label %again\n");
    const size_t last = text.rfind("    out:");
    text.replace(last, strlen("    out:"), "    last:\n store float %total, ptr %q\n");
    return text;
  };
  llvm::LLVMContext context;
  const auto barriers_made = [&](const std::string& text) {
    const auto module = parse(context, text);
    llvm::Function& function = *module->getFunction("k");
    const bool changed = meet_in_grid_turns(function, kir::CallReach(*module), {256}, 6);
    EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
    const size_t barriers =
        static_cast<size_t>(llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& each) {
          return kir::intrinsic_of(each) == kir::Intrinsic::Barrier;
        }));
    return std::pair(changed, barriers);
  };
  EXPECT_EQ(barriers_made(with_second("%all")), std::pair(true, size_t{3}));
  EXPECT_EQ(barriers_made(with_second("%n")), std::pair(false, size_t{1}));
}

TEST(GridTurns, ThreadsThatCountInTheirOwnWayTakeTheirTurns) {
  EXPECT_EQ(taken({.step = "%n"}), 0u) << "not the grid's width";
  EXPECT_EQ(taken({.step = "%half", .before = "%half = mul i32 %blocks, 128\n"}), 0u) << "rows overlap";
  EXPECT_EQ(taken({.first = "%f",
                   .step = "%half",
                   .before = "%o = mul i32 %block, 128\n %f = add i32 %o, %t\n %half = mul i32 %blocks, 128\n"}),
            0u)
      << "rows of blocks overlap";
  EXPECT_EQ(taken({.first = "%t"}), 0u) << "all blocks go through the same";
  EXPECT_EQ(taken({.end = "%l", .before = "%l = load i32, ptr %q\n"}), 0u) << "an end that differs, maybe";
  EXPECT_EQ(taken({.end = "%e", .before = "%e = add i32 %n, %t\n"}), 0u) << "an end that differs";
  EXPECT_EQ(taken({.end = "%e", .before = "%e = add i32 %n, %block\n"}), 0u) << "from block to block";
  EXPECT_EQ(taken({.first = "%f", .before = "%l = load i32, ptr %q\n %f = add i32 %mine, %l\n"}), 0u);
  EXPECT_EQ(taken({.test = "ne i32 %i, %end"}), 0u);
  EXPECT_EQ(taken({.index = "%c", .before = "%c = mul i32 %n, 3\n"}), 0u) << "no row";
}

TEST(GridTurns, FewerAreTakenTogetherWhereLanesUpdateSharedMemory) {
  const auto with = [](const char* turn) {
    return taken_together(kernel({.turn = turn}) + "\n!0 = !{}", 1, {256}, 12);
  };
  EXPECT_EQ(with(""), 8u);
  EXPECT_EQ(with("atomicrmw add ptr %q, i32 1 monotonic, !cupola.shared_atomic !0\n"), 4u)
      << "each is text for 32 lanes";
  EXPECT_EQ(with("atomicrmw add ptr %q, i32 1 monotonic\n"), 0u) << "of all blocks";
}

TEST(GridTurns, TheyDoNotWhereABlockDoesNotMeetBehindOrMeetsForItself) {
  EXPECT_EQ(taken({.meet = ""}), 0u);
  EXPECT_EQ(taken({.before = "call void @cupola.barrier(i32 0, i32 0)\n", .meet = ""}), 0u);
  EXPECT_EQ(taken({.meet = "%w = icmp ult i32 %block, 7\n br i1 %w, label %wait, label %over\n wait:\n"
                           "call void @cupola.barrier(i32 0, i32 0)\n br label %over\n over:\n"}),
            0u)
      << "some blocks";
  EXPECT_EQ(taken({.enter = "%w = icmp ult i32 %block, 7\n br i1 %w, label %wait, label %before\n wait:\n"
                            "call void @cupola.barrier(i32 0, i32 0)\n br label %before\n"}),
            0u)
      << "some blocks meet once more before";
  EXPECT_EQ(taken({.enter = "%w = icmp ult i32 %t, 7\n br i1 %w, label %meet, label %before\n"}), 0u) << "some threads";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
