#include "backend/cpu/build/streaming_stores.h"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/output_turns.h"
#include "backend/cpu/build/test_program.h"

// Which stores go past the caches. That they write what the others do is in tests/kernels/memory_in_step.cu.

namespace cupola::cpu::build::testing {
namespace {

/// Stores past the caches in code that takes %in and %out, both arrays, and ends in a fence exactly if there are any.
int streamed(const std::string& body) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @other()
    declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, <32 x i1>, <32 x float>)
    declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, <32 x i1>)
    define void @code(ptr %context, ptr %in, ptr %out, <32 x float> %v, <32 x i1> %m) {
    )" + body + "\nret void }");
  if (!module) return -1;
  module->setTargetTriple(llvm::Triple("x86_64-unknown-linux-gnu"));
  llvm::Function& code = *module->getFunction("code");
  stream_large_outputs(code, {});
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  int stores = 0, fences = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(code)) {
    stores += instruction.hasMetadata(llvm::LLVMContext::MD_nontemporal);
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    fences += call && call->getIntrinsicID() == llvm::Intrinsic::x86_sse_sfence;
  }
  EXPECT_EQ(fences, stores ? 1 : 0);
  return stores;
}

constexpr const char* kStore = "store <32 x float> %v, ptr %out, align 4\n";

TEST(StreamingStores, AreThoseOfOutputs) {
  EXPECT_EQ(streamed(kStore), 1);
  EXPECT_EQ(streamed(std::string("%x = load <32 x float>, ptr %in\n") + kStore), 1);
  EXPECT_EQ(streamed("%p = getelementptr i8, ptr %out, i64 1024\nstore <32 x float> %v, ptr %p, align 4\n"), 1);
}

/// Of how many threads on code with so many stores past each other goes past the caches, where a warp does so many of
/// them; 0: all.
uint64_t threads_of(unsigned stores, unsigned of_warp) {
  llvm::LLVMContext context;
  const auto code_of = [](const char* name, unsigned count) {
    std::string body;
    for (unsigned i = 0; i < count; ++i)
      body += formatted("%p{0} = getelementptr i8, ptr %out, i64 {1}\nstore <32 x float> %v, ptr %p{0}, align 4\n", i,
                        128 * i);
    return formatted("define void @{}(ptr %context, ptr %out, <32 x float> %v) {{\n{}ret void }}\n", name, body);
  };
  const auto module = parse(context, code_of("code", stores) + code_of("warp", of_warp));
  llvm::Function& code = *module->getFunction("code");
  stream_large_outputs(code, {}, of_warp > 0 ? module->getFunction("warp") : nullptr);
  uint64_t most = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(code))
    if (const auto* test = llvm::dyn_cast<llvm::ICmpInst>(&instruction))
      if (const auto* least = llvm::dyn_cast<llvm::ConstantInt>(test->getOperand(1)))
        most = std::max(most, least->getZExtValue());
  return most;
}

/// A warp writes as much as all its stores: 32 MiB are 65,536 warps of 512 bytes, two million threads.
TEST(StreamingStores, CountAllThatAWarpWrites) {
  EXPECT_EQ(threads_of(1, 0), 8u << 20);
  EXPECT_EQ(threads_of(4, 0), 2u << 20);
}

TEST(StreamingStores, CountOneOfTwoWays) {
  EXPECT_EQ(threads_of(2, 1), 8u << 20);
}

TEST(StreamingStores, AreThoseOfAllLanesOnly) {
  const std::string masked = "call void @llvm.masked.store.v32f32.p0(<32 x float> %v, ptr %out, <32 x i1> %m)\n";
  EXPECT_EQ(streamed(masked), 1);
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, <32 x i1>)
    define void @code(ptr %context, ptr %out, <32 x float> %v, <32 x i1> %m) {
    )" + masked + "ret void }");
  llvm::Function& code = *module->getFunction("code");
  stream_large_outputs(code, {});
  for (const llvm::Instruction& instruction : llvm::instructions(code)) {
    if (!instruction.hasMetadata(llvm::LLVMContext::MD_nontemporal)) continue;
    const llvm::Value* when =
        llvm::cast<llvm::BranchInst>(instruction.getParent()->getSinglePredecessor()->getTerminator())->getCondition();
    std::string text;
    llvm::raw_string_ostream(text) << *llvm::cast<llvm::Instruction>(when)->getOperand(1);
    EXPECT_THAT(text, ::testing::HasSubstr("icmp eq i32 %")) << "all bits of the mask";
    EXPECT_THAT(text, ::testing::EndsWith(", -1"));
  }
}

/// 65,536 threads that write in 256 turns each: 64 MiB, though one turn's 256 KiB would stay in caches.
TEST(StreamingStores, CountTheTurnsOfThreads) {
  llvm::LLVMContext context;
  const auto module = parse(context, std::string(R"(
    define internal i64 @turns(ptr %context, ptr %out) { ret i64 256 }
    define void @code(ptr %context, ptr %out, <32 x float> %v) {
    )") + kStore + "ret void }");
  llvm::Function& code = *module->getFunction("code");
  stream_large_outputs(code, OutputTurns{1, module->getFunction("turns")});
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  EXPECT_TRUE(llvm::any_of(llvm::instructions(code), [](const llvm::Instruction& instruction) {
    const auto* factor = instruction.getOpcode() == llvm::Instruction::Mul
                             ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1))
                             : nullptr;
    return factor && factor->getZExtValue() == 256;
  }));
}

TEST(StreamingStores, AreNoneOfWhatIsRead) {
  EXPECT_EQ(streamed(std::string("%x = load <32 x float>, ptr %out\n") + kStore), 0);
  EXPECT_EQ(streamed(std::string("%p = getelementptr i8, ptr %out, i64 64\n%x = load float, ptr %p\n") + kStore), 0);
  EXPECT_EQ(streamed(std::string("%x = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %out, <32 x i1> %m, "
                                 "<32 x float> %v)\n") +
                     kStore),
            0);
}

TEST(StreamingStores, AreOfWhatIsFetchedAheadElsewhere) {
  llvm::LLVMContext context;
  const auto module = parse(context, std::string(R"(
    declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
    define void @code(ptr %context, ptr %in, ptr %out, <32 x float> %v) {
      call void @llvm.prefetch.p0(ptr %in, i32 0, i32 2, i32 1)
      call void @llvm.prefetch.p0(ptr %out, i32 0, i32 2, i32 1)
      )") + kStore + "ret void }");
  llvm::Function& code = *module->getFunction("code");
  stream_large_outputs(code, {});
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  int fetches = 0, streamed = 0;
  for (llvm::Instruction& instruction : llvm::instructions(code)) {
    streamed += instruction.hasMetadata(llvm::LLVMContext::MD_nontemporal);
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::prefetch) continue;
    ++fetches;
    const bool always = call->getParent() == &code.getEntryBlock();
    EXPECT_EQ(always, call->getArgOperand(0) == code.getArg(1))
        << "the output is fetched only where it is not streamed";
  }
  EXPECT_EQ(fetches, 2);
  EXPECT_EQ(streamed, 1);
}

TEST(StreamingStores, AreNoneOfPartsOfLines) {
  EXPECT_EQ(streamed("store float 1.0, ptr %out"), 0);
  EXPECT_EQ(streamed("store <8 x float> splat (float 1.0), ptr %out"), 0);
}

/// Two halves of a line, of which the second one is `behind` bytes behind %out, and what is between.
int streamed_halves(int behind, const std::string& between = "") {
  const std::string half = "store <8 x float> splat (float 1.0), ptr ";
  return streamed(formatted("{0}%out, align 4\n{1}%p = getelementptr i8, ptr %out, i64 {2}\n{0}%p, align 4\n", half,
                            between, behind));
}

TEST(StreamingStores, AreThoseThatFillALineTogether) {
  EXPECT_EQ(streamed_halves(32), 2);
  EXPECT_EQ(streamed_halves(32, "%s = ptrtoint ptr %out to i64\n"), 2);
  EXPECT_EQ(streamed_halves(64), 0) << "a gap";
  EXPECT_EQ(streamed_halves(0), 0) << "the same place";
  EXPECT_EQ(streamed_halves(32, "%x = load float, ptr %in\n"), 0) << "may be a fault between them";
  EXPECT_EQ(streamed_halves(32, "store float 1.0, ptr %in\n"), 0);
  EXPECT_EQ(streamed_halves(32, "br label %next\nnext:\n"), 0);
}

TEST(StreamingStores, AreNoneWhereTheMemoryIsNotAnArguments) {
  EXPECT_EQ(streamed("%p = load ptr, ptr %context\nstore <32 x float> %v, ptr %p, align 4\n"), 0);
  EXPECT_EQ(streamed("%p = alloca <32 x float>\nstore <32 x float> %v, ptr %p, align 4\n"), 0);
}

TEST(StreamingStores, AreNoneWhereOthersMayHearOfThem) {
  for (const char* more : {"fence seq_cst\n", "fence syncscope(\"singlethread\") seq_cst\n", "call void @other()\n",
                           "%x = load volatile i32, ptr %in\n", "store atomic i32 1, ptr %in release, align 4\n",
                           "%x = atomicrmw add ptr %in, i32 1 monotonic\n"})
    EXPECT_EQ(streamed(std::string(more) + kStore), 0) << more;
}

}  // namespace
}  // namespace cupola::cpu::build::testing
