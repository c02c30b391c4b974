#include "backend/cpu/build/unread_shared_memory.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/whole_block.h"

namespace cupola::cpu::build::testing {
namespace {

/// How many stores (and masked ones) are left in code with the window of its blocks, %w, and memory elsewhere, %p.
size_t left(const std::string& code, bool runs_whole_blocks = true) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)
    declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
    declare void @llvm.masked.store.v4p0.p0(<4 x ptr>, ptr, <4 x i1>)
    declare void @llvm.masked.scatter.v4i32.v4p0(<4 x i32>, <4 x ptr>, <4 x i1>)
    declare <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr>, <4 x i1>, <4 x i32>)
    declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
    declare void @other()
    define void @k(ptr %context, ptr %p, i64 %i, <4 x i64> %far, <4 x i32> %v, <4 x i1> %m) {
      %field = getelementptr inbounds nuw i8, ptr %context, i64 16
      %w = load ptr, ptr %field
      %at4 = getelementptr i8, ptr %w, i64 4
      %at16 = getelementptr i8, ptr %w, i64 16
      %at.i = getelementptr i32, ptr %w, i64 %i
      %all = getelementptr i32, ptr %w, <4 x i64> %far
)" + code + "ret void }");
  llvm::Function& function = *module->getFunction("k");
  if (runs_whole_blocks) mark_whole_blocks(function);
  drop_unread_shared_stores(function);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  return static_cast<size_t>(llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return llvm::isa<llvm::StoreInst>(instruction) ||
           (call && (call->getCalledFunction()->getName().contains("store") ||
                     call->getCalledFunction()->getName().contains("scatter")));
  }));
}

const std::string kThree = "store i32 1, ptr %w\nstore i32 2, ptr %at4\nstore <4 x i32> %v, ptr %at16\n";

TEST(UnreadSharedMemory, IsNotWritten) {
  EXPECT_EQ(left(kThree), 0u);
  EXPECT_EQ(left("call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr %w, <4 x i1> %m)\n"), 0u);
  EXPECT_EQ(left(kThree + "call void @llvm.prefetch.p0(ptr %w, i32 0, i32 3, i32 1)\n"), 0u);
  EXPECT_EQ(left(kThree + "store i32 1, ptr %p\n%r = load i32, ptr %p\n"), 1u) << "memory elsewhere";
}

TEST(UnreadSharedMemory, IsWrittenWhereItIsRead) {
  EXPECT_EQ(left(kThree + "%r = load i32, ptr %w\n"), 1u);
  EXPECT_EQ(left(kThree + "%r = load i64, ptr %w\n"), 2u) << "two of the places";
  EXPECT_EQ(left(kThree + "%end = getelementptr i8, ptr %w, i64 31\n%r = load i8, ptr %end\n"), 1u);
  EXPECT_EQ(left(kThree + "%r = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %at4, <4 x i1> %m, <4 x i32> %v)\n"), 2u);
  EXPECT_EQ(left("store i32 1, ptr %at.i\n%r = load i32, ptr %w\n"), 1u) << "anywhere";
  for (const char* read :
       {"%r = load i32, ptr %at.i\n",
        "%r = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> %all, <4 x i1> %m, <4 x i32> %v)\n"})
    EXPECT_EQ(left(kThree + read), 3u) << read;
}

/// By what is known of numbers.
TEST(UnreadSharedMemory, IsWrittenWhereANumberMaySay) {
  const auto with = [](const std::string& number, const std::string& sum) {
    return left(kThree + number + "%there = getelementptr " + sum +
                "\n%r = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> %there, <4 x i1> %m, <4 x i32> %v)\n");
  };
  const std::string small = "%n = and <4 x i64> %far, <i64 3, i64 1, i64 0, i64 2>\n";
  EXPECT_EQ(with(small, "i32, ptr %w, <4 x i64> %n"), 2u) << "the first 16 bytes";
  EXPECT_EQ(with(small, "i8, ptr %w, <4 x i64> %n"), 2u) << "7 bytes";
  EXPECT_EQ(with(small, "i32, ptr %at16, <4 x i64> %n"), 1u);
  EXPECT_EQ(with("%some = and <4 x i64> %far, splat (i64 3)\n%n = or <4 x i64> %some, splat (i64 4)\n",
                 "i32, ptr %w, <4 x i64> %n"),
            1u)
      << "from 16 on";
  EXPECT_EQ(with("%n = and <4 x i64> %far, splat (i64 -4)\n", "i32, ptr %w, <4 x i64> %n"), 3u) << "maybe below it";
  EXPECT_EQ(with("%s = trunc <4 x i64> %far to <4 x i8>\n%n = sext <4 x i8> %s to <4 x i64>\n",
                 "i32, ptr %at16, <4 x i64> %n"),
            3u);
  EXPECT_EQ(with("%s = trunc <4 x i64> %far to <4 x i2>\n%n = zext <4 x i2> %s to <4 x i32>\n",
                 "i32, ptr %at16, <4 x i32> %n"),
            1u);
}

TEST(UnreadSharedMemory, IsWrittenWhereItMayBeRead) {
  for (const char* what : {"call void @other()\n",  // which has the context
                           "%r = atomicrmw add ptr %at4, i32 1 monotonic\n",
                           "%n = ptrtoint ptr %at4 to i64\n%back = inttoptr i64 %n to ptr\n%r = load i32, ptr %back\n",
                           "%chosen = select i1 true, ptr %w, ptr %p\n%r = load i32, ptr %chosen\n"})
    EXPECT_EQ(left(kThree + what), 3u) << what;
  EXPECT_EQ(left(kThree + "store ptr %at4, ptr %p\n"), 4u) << "its address is given away";
  EXPECT_EQ(left(kThree + "call void @llvm.masked.store.v4p0.p0(<4 x ptr> %all, ptr %p, <4 x i1> %m)\n"), 4u);
  EXPECT_EQ(left(kThree + "store volatile i32 1, ptr %w\n"), 4u);
  EXPECT_EQ(left(kThree, /*runs_whole_blocks=*/false), 3u) << "a function that others call";
}

/// Whoever writes outside of the window is told so, in code that runs for long as before.
TEST(UnreadSharedMemory, IsWrittenWhereThatMayFail) {
  EXPECT_EQ(left("store i32 1, ptr %at.i\n"), 1u);
  EXPECT_EQ(left("%further = getelementptr i8, ptr %at.i, i64 4\nstore i32 1, ptr %further\n"), 1u);
  EXPECT_EQ(left("call void @llvm.masked.scatter.v4i32.v4p0(<4 x i32> %v, <4 x ptr> %all, <4 x i1> %m)\n"), 1u);
  const auto at = [](const std::string& place) {
    return left(formatted("%there = getelementptr i8, ptr %w, i64 {}\nstore i32 1, ptr %there\n", place));
  };
  EXPECT_EQ(at("-4"), 1u);
  EXPECT_EQ(at("262140"), 0u);
  EXPECT_EQ(at("262141"), 1u);
}

TEST(UnreadSharedMemory, IsKnownByItsAddressInTheContextOnly) {
  EXPECT_EQ(left(kThree + "%next = getelementptr i8, ptr %context, i64 24\n%id = load i32, ptr %next\n"
                          "store i32 0, ptr %next\n"),
            1u);
  for (const char* what : {"%number = load i64, ptr %field\n", "%more = load <4 x ptr>, ptr %context\n",
                           "%other = select i1 true, ptr %field, ptr %p\n%q = load ptr, ptr %other\n",
                           "%far.field = getelementptr i8, ptr %context, i64 %i\n%q = load ptr, ptr %far.field\n",
                           "%kept = ptrtoint ptr %context to i64\n"})
    EXPECT_EQ(left(kThree + what), 3u) << what;
  EXPECT_EQ(left(kThree + "store ptr %p, ptr %field\n"), 4u);
  EXPECT_EQ(left("%module.field = getelementptr i8, ptr %context, i64 8\n%data = load ptr, ptr %module.field\n"
                 "store i32 1, ptr %data\n"),
            1u)
      << "another field";
}

TEST(UnreadSharedMemory, MayBeAskedForItsPlace) {
  EXPECT_EQ(left(kThree + "%n = ptrtoint ptr %w to i64\n%x = xor i64 %n, %i\n%c = icmp ult i64 %x, 65536\n"), 0u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
