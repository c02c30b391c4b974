#include "backend/cpu/build/vector_prefetch.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/analysed_kernel.h"

// How code for a warp asks for memory ahead.

namespace cupola::cpu::build::testing {
namespace {

/// How often the widened code asks for memory.
unsigned fetches(const std::string& address, BlockClass blocks = BlockClass::Rows) {
  AnalysedKernel kernel(R"(
    declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
    define void @k(ptr %context, ptr %p, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %x = zext i32 %t to i64
      %row = zext i32 %y to i64
      )" + address + R"(
      call void @llvm.prefetch.p0(ptr %place, i32 0, i32 2, i32 1)
      ret void
    })",
                        blocks);
  return static_cast<unsigned>(llvm::count_if(llvm::instructions(kernel.widened()), [](const llvm::Instruction& one) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
    return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  }));
}

TEST(VectorPrefetch, AsksForALineOnce) {
  EXPECT_EQ(fetches("%place = getelementptr i8, ptr %p, i64 8"), 1u);
  EXPECT_EQ(fetches("%place = getelementptr i8, ptr %p, i64 %x"), 1u);
  EXPECT_EQ(fetches("%place = getelementptr i32, ptr %p, i64 %x"), 2u);
  EXPECT_EQ(fetches("%place = getelementptr [4 x i32], ptr %p, i64 %x"), 8u);
  // Two rows of 16, or a place for each of two rows.
  EXPECT_EQ(
      fetches("%down = getelementptr [999 x i32], ptr %p, i64 %row\n%place = getelementptr i32, ptr %down, i64 %x",
              BlockClass::Rows16),
      2u);
  EXPECT_EQ(fetches("%place = getelementptr [999 x i32], ptr %p, i64 %row", BlockClass::Rows16), 2u);
}

TEST(VectorPrefetch, IsAskedForOncePerPlace) {
  llvm::LLVMContext context;
  const auto module = parse(context, "define void @k(ptr %p, ptr %q) {\n ret void\n}");
  llvm::Function& function = *module->getFunction("k");
  llvm::IRBuilder<> builder(function.getEntryBlock().getTerminator());
  const auto further = [&](unsigned argument, uint64_t bytes) {
    llvm::Value* place = builder.CreateConstGEP1_64(builder.getInt8Ty(), function.getArg(argument), bytes);
    return fetch_line(builder, place, Level::Second);
  };
  Fetches all{further(0, 4096)};
  llvm::CallInst* other = further(1, 1024);
  add_fetches(all, {further(0, 1024), other});
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1], other);
  EXPECT_EQ(llvm::count_if(function.getEntryBlock(), llvm::IsaPred<llvm::CallInst>), 2) << "the third is removed";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
