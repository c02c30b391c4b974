#include "backend/cpu/build/kernel_unit.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "backend/cpu/build/test_program.h"

// What a module's image leaves for later, and what is made of it. That such code computes the same is for the tests in
// src/compile and tests/kernels, which run it.

namespace cupola::cpu::build::testing {
namespace {

using image::BlockClass;

const std::string kModule = R"(
  declare i32 @cupola.tid.x()
  declare i32 @cupola.tid.y()
  @table = addrspace(4) externally_initialized global [4 x i32] zeroinitializer
  @total = addrspace(1) externally_initialized global i32 7
  define internal void @helper(ptr %p, i32 %v) noinline { store i32 %v, ptr %p
    ret void }
  define internal void @pointed(ptr %p) { store i32 1, ptr %p
    ret void }
  @hook = addrspace(1) global ptr @pointed
  define ptx_kernel void @plain(ptr %p) {
    %t = call i32 @cupola.tid.x()
    call void @helper(ptr %p, i32 %t)
    ret void
  }
  define ptx_kernel void @rows(ptr %p) {
    %t = call i32 @cupola.tid.y()
    store i32 %t, ptr %p
    ret void
  }
  define ptx_kernel void @calls(ptr %p, ptr %f) {
    call void %f(ptr %p)
    ret void
  }
  declare void @cupola.barrier(i32, i32)
  define ptx_kernel void @meets(ptr %p, ptr %q) {
    %t = call i32 @cupola.tid.x()
    %far = zext i32 %t to i64
    %in = getelementptr i32, ptr %p, i64 %far
    store i32 %t, ptr %in
    call void @cupola.barrier(i32 0, i32 0)
    %out = getelementptr i32, ptr %q, i64 %far
    store i32 %t, ptr %out
    ret void
  }
  declare i32 @cupola.ntid.x()
  define internal i32 @turns() noinline {
    %width = call i32 @cupola.ntid.x()
    %turns = lshr i32 %width, 4
    ret i32 %turns
  }
  @counts = internal addrspace(3) global [64 x i32] poison
  define ptx_kernel void @counts_in_shared_memory(ptr %p) {
    %t = call i32 @cupola.tid.x()
    %far = zext i32 %t to i64
    %in = getelementptr i32, ptr %p, i64 %far
    %key = load i32, ptr %in
    %digit = and i32 %key, 63
    %place = getelementptr i32, ptr addrspace(3) @counts, i32 %digit
    %before = atomicrmw add ptr addrspace(3) %place, i32 1 syncscope("block") monotonic
    call void @cupola.barrier(i32 0, i32 0)
    store i32 %before, ptr %in
    ret void
  }
  define ptx_kernel void @goes_far(ptr %p, i64 %n, i64 %pitch) {
  start:
    %t = call i32 @cupola.tid.x()
    %far = zext i32 %t to i64
    br label %turn
  turn:
    %i = phi i64 [ %far, %start ], [ %next, %turn ]
    %cell = getelementptr i32, ptr %p, i64 %i
    store i32 1, ptr %cell
    %next = add i64 %i, %pitch
    %more = icmp slt i64 %next, %n
    br i1 %more, label %turn, label %over
  over:
    ret void
  }
  define ptx_kernel void @meets_often(ptr %p) {
  start:
    %turns = call i32 @turns()
    br label %turn
  turn:
    %i = phi i32 [ 0, %start ], [ %next, %turn ]
    %far = zext i32 %i to i64
    %cell = getelementptr i32, ptr %p, i64 %far
    store volatile i32 1, ptr %cell
    call void @cupola.barrier(i32 0, i32 0)
    %next = add i32 %i, 1
    %more = icmp ult i32 %next, %turns
    br i1 %more, label %turn, label %over
  over:
    ret void
  })";

class Later : public ::testing::Test {
 protected:
  void SetUp() override {
    llvm::LLVMContext context;
    auto built = build(parse(context, kModule), {.target = "cpu:test", .later = true});
    ASSERT_TRUE(built) << built.error().message;
    image_ = std::move(*built);
    ASSERT_EQ(image_.kernels.size(), 7u);
  }

  image::Kernel code(size_t kernel, const image::BlocksOfCode& blocks) const {
    llvm::LLVMContext context;
    auto unit = read_unit(context, image_.kernels[kernel].unit);
    EXPECT_TRUE(unit) << unit.error().message;
    auto built = build_unit(std::move(*unit), blocks, {.target = "cpu:test"});
    EXPECT_TRUE(built) << built.error().message;
    EXPECT_EQ(built->kernels.size(), 1u);
    EXPECT_TRUE(image::deserialize(image::serialize(*built)));
    return built->kernels[0];
  }

  /// How many loops the code of a kernel has.
  size_t loops(size_t kernel, const image::BlocksOfCode& blocks) const {
    return counted(kernel, blocks, [](llvm::Function& function) {
      llvm::DominatorTree dominators(function);
      return llvm::LoopInfo(dominators).getLoopsInPreorder().size();
    });
  }

  /// The sum of what `of` says of the functions of its code.
  template <typename Of>
  size_t counted(size_t kernel, const image::BlocksOfCode& blocks, Of of) const {
    const std::string path = ::testing::TempDir() + "unit-" + std::to_string(getpid());
    llvm::LLVMContext context;
    auto unit = read_unit(context, image_.kernels[kernel].unit);
    EXPECT_TRUE(build_unit(std::move(*unit), blocks, {.target = "cpu:test", .keep = path}));
    const std::string text = take_kept_code(path);
    llvm::SMDiagnostic error;
    const auto module = llvm::parseAssemblyString(text, error, context);
    size_t found = 0;
    for (llvm::Function& function : *module)
      if (!function.isDeclaration() && !function.hasLocalLinkage()) found += of(function);
    return found;
  }

  image::KernelImage image_;
};

TEST_F(Later, TheModuleHasDataAndNoCodeOfKernels) {
  for (const image::Kernel& kernel : image_.kernels) {
    EXPECT_FALSE(kernel.unit.empty());
    for (const BlockClass blocks : {BlockClass::Rows, BlockClass::Any, BlockClass::One})
      EXPECT_FALSE(kernel.runs(blocks));
  }
  EXPECT_EQ(image_.kernels[2].info.parameter_bytes, 16u);
  EXPECT_EQ(image_.symbols.size(), 3u);
  ASSERT_EQ(image_.relocations.size(), 2u);  // of the hook to the descriptor, and of that to the code
  EXPECT_FALSE(image_.segment.empty());
}

TEST_F(Later, AUnitHoldsItsKernelAndWhatThatReaches) {
  const auto functions = [&](size_t kernel) {
    llvm::LLVMContext context;
    const auto unit = read_unit(context, image_.kernels[kernel].unit);
    EXPECT_TRUE(unit);
    EXPECT_EQ(unit->constant_bytes, 16u);
    EXPECT_EQ(unit->kernel.name, image_.kernels[kernel].info.name);
    int defined = 0;
    for (const llvm::Function& function : *unit->module) defined += !function.isDeclaration();
    return defined;
  };
  EXPECT_EQ(functions(0), 2);  // and the helper
  EXPECT_EQ(functions(1), 1);
  EXPECT_EQ(functions(2), 2);  // and what it may call through the pointer
}

TEST_F(Later, CodeIsForTheBlocksThatItIsAskedFor) {
  for (const BlockClass blocks : image::kBlockClasses) {
    const image::Kernel made = code(1, {blocks});
    EXPECT_TRUE(made.runs(blocks));
    for (const BlockClass other : image::kBlockClasses)
      EXPECT_EQ(made.wide_entries[other].place != image::kNoEntry, other == blocks);
    EXPECT_EQ(made.entry, image::kNoEntry);
  }
  const image::Kernel one = code(1, {BlockClass::One});
  EXPECT_TRUE(one.runs(BlockClass::One));
  EXPECT_NE(one.entry, image::kNoEntry);
}

TEST_F(Later, WithoutRowsTheCodeForAnyBlockDoes) {
  const image::Kernel made = code(0, {BlockClass::Rows16});
  EXPECT_EQ(made.wide_entries[BlockClass::Rows16].place, image::kNoEntry);
  EXPECT_NE(made.wide_entries[BlockClass::Any].place, image::kNoEntry);
  EXPECT_TRUE(made.runs(BlockClass::Rows16));
}

TEST_F(Later, WhatCannotRunInStepRunsAThreadAtATime) {
  const image::Kernel made = code(2, {BlockClass::Rows});
  for (const BlockClass blocks : image::kBlockClasses) EXPECT_EQ(made.wide_entries[blocks].place, image::kNoEntry);
  EXPECT_TRUE(made.runs(BlockClass::Rows));
}

// Loops over a block's few warps are written out.
TEST_F(Later, HotCodeOfAShapeKnowsIt) {
  EXPECT_EQ(loops(3, {BlockClass::Rows}), 3u);  // over blocks, and over their warps before the barrier and after it
  EXPECT_EQ(loops(3, {BlockClass::Rows, Dim3{64}}), 3u);
  EXPECT_EQ(loops(3, {BlockClass::Rows, Dim3{64}, true}), 1u);
}

// Addresses that are taken out of registers one by one are known late: see LaneLoop.
TEST_F(Later, PlacesOfUpdatesStayInMemoryWhereLoopsAreWrittenOut) {
  const auto taken_out = [](llvm::Function& function) {
    return llvm::count_if(llvm::instructions(function),
                          [](const auto& each) { return llvm::isa<llvm::ExtractElementInst>(each); });
  };
  const auto updates = [](llvm::Function& function) {
    return llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& each) {
      return each.getOpcode() == llvm::Instruction::Add && llvm::isa<llvm::LoadInst>(each.getOperand(0));
    });
  };
  const image::BlocksOfCode hot = {BlockClass::Rows, Dim3{64}, true};
  EXPECT_GE(counted(4, hot, updates), 32u) << "written out";
  EXPECT_LT(counted(4, hot, taken_out), 8u);
}

TEST_F(Later, FunctionsThatItCallsKnowItToo) {
  EXPECT_EQ(loops(6, {BlockClass::Rows, Dim3{64}, true}), 1u);
}

TEST_F(Later, HotCodeIsForWhatMeetsAndForShapes) {
  struct Case {
    size_t kernel;
    image::BlocksOfCode blocks;
    bool improvable;
  };
  const Case cases[] = {{1, {BlockClass::Rows}, true},
                        {1, {BlockClass::Rows, Dim3{64}}, false},
                        {3, {BlockClass::Rows, Dim3{64}}, true},
                        {3, {BlockClass::Rows, Dim3{64}, true}, false},
                        {5, {BlockClass::Rows, Dim3{64}}, true},  // warp after warp, which hot code has take turns
                        {5, {BlockClass::Rows, Dim3{64}, true}, false},
                        {2, {BlockClass::Rows}, false}};  // a thread at a time
  for (const Case& each : cases)
    EXPECT_EQ(code(each.kernel, each.blocks).improvable, each.improvable)
        << each.kernel << " " << request_name(each.blocks);
}

TEST_F(Later, CodeSaysHowManyInstructionsItHasAtMost) {
  EXPECT_GT(code(1, {BlockClass::Rows}).most_instructions, 0u);
  EXPECT_EQ(code(3, {BlockClass::Rows}).most_instructions, 0u) << "it waits";
}

/// A kernel that reads and writes much of memory, and does something more; @look tells what another thread wrote.
bool begins_by_thread(const std::string& more, int accesses = 40) {
  std::string text = R"(
    declare void @cupola.barrier(i32, i32)
    declare i32 @cupola.vote(i32, i32, i32)
    define i32 @look(ptr %p) {
      %seen = load atomic i32, ptr %p monotonic, align 4
      ret i32 %seen
    }
    define i32 @ask(ptr %p) {
      %seen = call i32 @look(ptr %p)
      ret i32 %seen
    }
    define ptx_kernel void @k(ptr %p) {
)" + more;
  for (int i = 0; i < accesses; ++i)
    text += formatted("%a{0} = getelementptr i32, ptr %p, i32 {0}\nstore i32 {0}, ptr %a{0}\n", i);
  llvm::LLVMContext context;
  const auto built = build(parse(context, text + "ret void }"), {.target = "cpu:test", .later = true});
  EXPECT_TRUE(built) << built.error().message;
  EXPECT_EQ(image::deserialize(image::serialize(*built))->kernels[0].begins_by_thread,
            built->kernels[0].begins_by_thread);
  return built->kernels[0].begins_by_thread;
}

TEST(LaterCost, LongKernelsMayBeginByThread) {
  EXPECT_TRUE(begins_by_thread(""));
  EXPECT_TRUE(begins_by_thread("call void @cupola.barrier(i32 0, i32 0)"));
  EXPECT_FALSE(begins_by_thread("", 20)) << "code for warps is there soon";
}

TEST(LaterCost, NotWhereWarpsDoThingsTogetherOrThreadsWait) {
  EXPECT_FALSE(begins_by_thread("%v = call i32 @cupola.vote(i32 -1, i32 0, i32 1)\nstore i32 %v, ptr %p"));
  EXPECT_FALSE(begins_by_thread("%r = load volatile i32, ptr %p\nstore i32 %r, ptr %p"));
  EXPECT_FALSE(begins_by_thread(R"(br label %wait
    wait:
      %seen = load atomic i32, ptr %p monotonic, align 4
      %go = icmp ne i32 %seen, 0
      br i1 %go, label %on, label %wait
    on:
)"));
}

TEST(LaterCost, NotWhereThreadsWaitForWhatAFunctionReads) {
  for (const char* function : {"@look", "@ask"})
    EXPECT_FALSE(begins_by_thread(formatted(R"(br label %wait
    wait:
      %seen = call i32 {}(ptr %p)
      %go = icmp ne i32 %seen, 0
      br i1 %go, label %on, label %wait
    on:
)",
                                            function)));
  EXPECT_TRUE(begins_by_thread("%seen = call i32 @ask(ptr %p)\nstore i32 %seen, ptr %p")) << "in no loop";
}

/// What is kept of the only kernel of the text, to be compiled when it is launched.
KernelUnit unit_of(llvm::LLVMContext& context, const std::string& text) {
  const auto image = build(parse(context, text), {.target = "cpu:test", .later = true});
  EXPECT_TRUE(image) << image.error().message;
  return std::move(*read_unit(context, image->kernels[0].unit));
}

/// Whether hot code would be other code than the first for blocks of 256 threads, of a kernel with the thread's place
/// %i, also as %wide.
bool is_improvable(const std::string& body) {
  const std::string text = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %begin = shl i32 %block, 8
      %i = add i32 %begin, %t
      %wide = sext i32 %i to i64
      %a = getelementptr i32, ptr %p, i64 %wide
      %b = getelementptr i32, ptr %q, i64 %wide
      br label %body
    body:
)" + body + R"(
      br label %over
    over:
      ret void
    })";
  llvm::LLVMContext context;
  const auto code =
      build_unit(unit_of(context, text), {BlockClass::Rows, Dim3{256}}, {.target = "cpu:x86_64:x86-64-v4"});
  EXPECT_TRUE(code) << code.error().message;
  return code->kernels[0].improvable;
}

/// The functions of hot code for blocks of 256 threads, as they are given to LLVM's code generation.
std::string hot_code(const std::string& text) {
  llvm::LLVMContext context;
  const std::string path = ::testing::TempDir() + "hot-" + std::to_string(getpid());
  EXPECT_TRUE(
      build_unit(unit_of(context, text), {BlockClass::Rows, Dim3{256}, true}, {.target = "cpu:test", .keep = path}));
  const std::string code = take_kept_code(path);
  return code;
}

// A block's words are kept until there is a line of them.
TEST(HotCode, KeepsColumnsOfTables) {
  const std::string code = hot_code(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.nctaid.x()
    define ptx_kernel void @column(ptr %p, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %blocks = call i32 @cupola.nctaid.x()
      %row = mul i32 %t, %blocks
      %number = add i32 %row, %block
      %wide = zext i32 %number to i64
      %place = getelementptr i32, ptr %p, i64 %wide
      store i32 %block, ptr %place
      ret void
    })");
  EXPECT_NE(code.find("store <32 x i32>"), std::string::npos) << code;
  EXPECT_EQ(code.find("masked.scatter"), std::string::npos) << code;
}

// The first of the lanes of each digit is to store, and all do.
TEST(HotCode, LetsAllPeersStore) {
  std::string votes, peers = "-1";
  for (int bit = 0; bit < 3; ++bit) {
    votes += formatted(
        "%s{0} = lshr i32 %digit, {0}\n%d{0} = and i32 %s{0}, 1\n"
        "%b{0} = call i32 @cupola.vote(i32 -1, i32 3, i32 %d{0})\n"
        "%m{0} = add i32 %d{0}, -1\n%a{0} = xor i32 %b{0}, %m{0}\n%p{0} = and i32 {1}, %a{0}\n",
        bit, peers);
    peers = formatted("%p{}", bit);
  }
  const std::string code = hot_code(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.laneid()
    declare i32 @cupola.vote(i32, i32, i32) convergent
    declare i32 @llvm.ctpop.i32(i32)
    declare void @cupola.barrier(i32, i32) convergent
    @counts = internal addrspace(3) global [256 x i32] poison
    define ptx_kernel void @ranks(ptr %p, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %wide = zext i32 %t to i64
      %in = getelementptr i32, ptr %p, i64 %wide
      %v = load i32, ptr %in
      %digit = and i32 %v, 7
      )" + votes + R"(
      %lane = call i32 @cupola.laneid()
      %above = shl i32 -1, %lane
      %below = xor i32 %above, -1
      %mine = and i32 %p2, %below
      %is.first = icmp eq i32 %mine, 0
      br i1 %is.first, label %act, label %on
    act:
      %count = call i32 @llvm.ctpop.i32(i32 %p2)
      %warp = lshr i32 %t, 5
      %warp64 = zext i32 %warp to i64
      %row = getelementptr [32 x i32], ptr addrspacecast (ptr addrspace(3) @counts to ptr), i64 %warp64
      %digit64 = zext i32 %digit to i64
      %cell = getelementptr i32, ptr %row, i64 %digit64
      store i32 %count, ptr %cell
      br label %on
    on:
      call void @cupola.barrier(i32 0, i32 0)
      %own = getelementptr [256 x i32], ptr addrspace(3) @counts, i32 0, i32 %t
      %r = load i32, ptr addrspace(3) %own
      %out = getelementptr i32, ptr %q, i64 %wide
      store i32 %r, ptr %out
      ret void
    })");
  EXPECT_NE(code.find("<32 x i32>"), std::string::npos) << code;
  for (size_t at = 0; (at = code.find("call void @llvm.masked.scatter", at)) != std::string::npos; ++at)
    EXPECT_NE(code.substr(at, code.find('\n', at) - at).find("splat (i1 true)"), std::string::npos) << code;
}

// A warp's row of counters is cleared before the next warp reads of its own.
TEST(HotCode, ClearsSharedMemoryBehindItsLastUse) {
  std::string clears;
  for (int row = 0; row < 8; ++row)
    clears += formatted(
        "%cell{0} = getelementptr [256 x i32], ptr addrspace(3) @counts, i32 {0}, i32 %t\n"
        "store i32 0, ptr addrspace(3) %cell{0}\n",
        row);
  const std::string code = hot_code(R"(
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    @counts = internal addrspace(3) global [8 x [256 x i32]] poison
    define ptx_kernel void @ranks(ptr %p, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %warp = lshr i32 %t, 5
      %wide = zext i32 %t to i64
      %in = getelementptr i32, ptr %p, i64 %wide
      %v = load i32, ptr %in
      %digit = and i32 %v, 255
      %count = getelementptr [256 x i32], ptr addrspace(3) @counts, i32 %warp, i32 %digit
      %rank = load i32, ptr addrspace(3) %count
      store i32 %rank, ptr %in
      call void @cupola.barrier(i32 0, i32 0)
      )" + clears + R"(
      ret void
    })");
  const size_t first_clear = code.find("store <32 x i32> zeroinitializer"), last_row = code.rfind("load <32 x i32>");
  ASSERT_NE(first_clear, std::string::npos) << code;
  ASSERT_NE(last_row, std::string::npos) << code;
  EXPECT_LT(first_clear, last_row);
}

// What a tree of sums leaves in shared memory for the next step is in registers.
TEST(HotCode, WritesNoSharedMemoryThatNothingReads) {
  const std::string code = hot_code(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    @sums = internal addrspace(3) global [256 x i32] poison
    define ptx_kernel void @tree(ptr %p, ptr %q) {
    start:
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %begin = shl i32 %block, 8
      %i = add i32 %begin, %t
      %wide = zext i32 %i to i64
      %in = getelementptr i32, ptr %p, i64 %wide
      %v = load i32, ptr %in
      %mine = getelementptr i32, ptr addrspace(3) @sums, i32 %t
      store i32 %v, ptr addrspace(3) %mine
      call void @cupola.barrier(i32 0, i32 0)
      br label %step
    step:
      %width = phi i32 [ 128, %start ], [ %half, %met ]
      %acts = icmp ult i32 %t, %width
      br i1 %acts, label %add, label %met
    add:
      %partner = add i32 %t, %width
      %other = getelementptr i32, ptr addrspace(3) @sums, i32 %partner
      %a = load i32, ptr addrspace(3) %mine
      %b = load i32, ptr addrspace(3) %other
      %c = add i32 %a, %b
      store i32 %c, ptr addrspace(3) %mine
      br label %met
    met:
      call void @cupola.barrier(i32 0, i32 0)
      %half = lshr i32 %width, 1
      %more = icmp ne i32 %half, 0
      br i1 %more, label %step, label %sum
    sum:
      %first = icmp eq i32 %t, 0
      br i1 %first, label %tell, label %over
    tell:
      %total = load i32, ptr addrspace(3) @sums
      %far = zext i32 %block to i64
      %out = getelementptr i32, ptr %q, i64 %far
      store i32 %total, ptr %out
      br label %over
    over:
      ret void
    })");
  EXPECT_TRUE(code.contains("load <32 x i32>"));
  EXPECT_FALSE(code.contains("store <"));
}

TEST(HotCode, IsForStreamsOfSeveralArraysAndForWhoAsksOften) {
  const std::string copy = "%v = load i32, ptr %a\nstore i32 %v, ptr %b\n";
  EXPECT_FALSE(is_improvable(copy));
  EXPECT_TRUE(
      is_improvable("%v = load i32, ptr %a\n%w = load i32, ptr %b\n%x = add i32 %v, %w\n"
                    "store i32 %x, ptr %b\n"));
  EXPECT_TRUE(
      is_improvable("%last = sub i32 %n, 1\n%low = icmp sgt i32 %i, 0\n%high = icmp slt i32 %i, %last\n"
                    "%in = and i1 %low, %high\nbr i1 %in, label %some, label %over\nsome:\n" +
                    copy));
}

/// Each thread sums the numbers between two places of its own; `add`: of %sum and %number.
std::string ragged_sum(const std::string& type, const std::string& zero, const std::string& add) {
  return "%first = load i32, ptr %a\n%end = load i32, ptr %b\nbr label %test\ntest:\n%at = phi i32 [ %first, %body ], "
         "[ %next, %turn ]\n%sum = phi " +
         type + " [ " + zero +
         ", %body ], [ %more, %turn ]\n%goes = icmp slt i32 %at, %end\nbr i1 %goes, label %turn, label %all\nturn:\n"
         "%far = sext i32 %at to i64\n%place = getelementptr i32, ptr %p, i64 %far\n%number = load " +
         type + ", ptr %place\n%more = " + add +
         " %sum, %number\n%next = add i32 %at, 1\nbr label %test\nall:\nstore " + type + " %sum, ptr %b\n";
}

TEST(HotCode, IsForThreadsThatTakeSeveralTurnsAtOnce) {
  EXPECT_TRUE(is_improvable(ragged_sum("i32", "0", "add i32")));
  EXPECT_FALSE(is_improvable(ragged_sum("float", "0.0", "fadd float"))) << "in their order";
}

TEST_F(Later, EqualCodeHasEqualUnits) {
  llvm::LLVMContext context;
  const auto again = build(parse(context, kModule), {.target = "cpu:test", .later = true});
  ASSERT_TRUE(again);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(again->kernels[i].unit, image_.kernels[i].unit);
}

TEST(KernelUnit, OtherBytesAreRefused) {
  llvm::LLVMContext context;
  for (const char* text : {"", "BC\xC0\xDE", "define void @f() { ret void }"}) {
    const auto read = read_unit(context, std::as_bytes(std::span(text, std::strlen(text))));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::InvalidImage);
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
