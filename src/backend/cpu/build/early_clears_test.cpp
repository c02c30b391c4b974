#include "backend/cpu/build/early_clears.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/whole_block.h"

namespace cupola::cpu::build::testing {
namespace {

/// Of what is done to memory, in order: the names of what is read, and of the places that are written.
std::string order(const llvm::Function& function) {
  std::string all;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::Value* name = nullptr;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      name = store->getPointerOperand();
    else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      name = call->getIntrinsicID() == llvm::Intrinsic::masked_scatter ? call->getArgOperand(1) : call;
    else if (instruction.mayReadOrWriteMemory())
      name = &instruction;
    if (name && name->getName() != "window") all += (all.empty() ? "" : " ") + name->getName().str();
  }
  return all;
}

/// The order of code for the window of its block, %window, with places there (%row0 and %row1, 2 KiB each, one behind
/// the other, and %both), numbers below 512 (%n), any numbers (%far) and memory elsewhere (%out, %p).
std::string after(const std::string& code, bool runs_whole_blocks = true) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare void @llvm.masked.scatter.v16i32.v16p0(<16 x i32>, <16 x ptr>, <16 x i1>)
    declare <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr>, <16 x i1>, <16 x i32>)
    declare void @other()
    define void @k(ptr %context, ptr %p, <16 x i32> %far, <16 x i32> %v, <16 x i1> %m, <16 x ptr> %out) {
      %field = getelementptr inbounds nuw i8, ptr %context, i64 16
      %window = load ptr, ptr %field
      %row0 = getelementptr i8, ptr %window, i64 1024
      %row1 = getelementptr i8, ptr %window, i64 3072
      %both = getelementptr i8, ptr %window, i64 2048
      %n = and <16 x i32> %far, splat (i32 511)
      %at0 = getelementptr i32, ptr %row0, <16 x i32> %n
      %at1 = getelementptr i32, ptr %row1, <16 x i32> %n
      %anywhere = getelementptr i32, ptr %window, <16 x i32> %far
)" + code + "ret void }");
  llvm::Function& function = *module->getFunction("k");
  if (runs_whole_blocks) mark_whole_blocks(function);
  clear_early(function);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  return order(function);
}

std::string read(const std::string& name, const std::string& places) {
  return "%" + name + " = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr> %" + places +
         ", <16 x i1> %m, <16 x i32> %v)\n";
}
std::string scatter(const std::string& places) {
  return "call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> %v, <16 x ptr> %" + places + ", <16 x i1> %m)\n";
}
std::string clear(const std::string& place, const std::string& value = "zeroinitializer") {
  return "store <512 x i32> " + value + ", ptr %" + place + "\n";
}

const std::string kReads = read("read0", "at0") + scatter("out") + read("read1", "at1") + scatter("out"),
                  kClears = clear("row0") + clear("row1");

TEST(EarlyClears, StandBehindTheLastUse) {
  EXPECT_EQ(after(kReads + kClears), "read0 row0 out read1 row1 out");
  EXPECT_EQ(after(scatter("at0") + scatter("out") + read("read1", "at1") + scatter("out") + kClears),
            "at0 row0 out read1 row1 out");
  EXPECT_EQ(after(kReads + clear("row0", "splat (i32 7)") + clear("row1")), "read0 row0 out read1 row1 out");
  EXPECT_EQ(after(read("all", "anywhere") + scatter("out") + kClears), "all row0 row1 out") << "in their order";
}

// Whoever calls a function may give it a pointer to shared memory.
TEST(EarlyClears, StayInFunctionsThatOthersCall) {
  EXPECT_EQ(after(kReads + kClears, /*runs_whole_blocks=*/false), "read0 out read1 out row0 row1");
}

TEST(EarlyClears, StayWhereTheyAreFew) {
  EXPECT_EQ(after(kReads + clear("row0")), "read0 out read1 out row0");
  EXPECT_EQ(after(kReads + clear("row0") + read("more", "at0") + clear("row1")), "read0 out read1 out row0 more row1");
}

TEST(EarlyClears, StayBehindWhatMayTouchTheSame) {
  EXPECT_EQ(after(kReads + read("all", "anywhere") + scatter("out") + kClears),
            "read0 out read1 out all row0 row1 out");
  EXPECT_EQ(after(kReads + read("again", "at0") + scatter("out") + kClears), "read0 out read1 row1 out again row0 out");
  const std::string last = "%end = getelementptr i8, ptr %row1, i64 2047\n%byte = load i8, ptr %end\n";
  EXPECT_EQ(after(kReads + last + scatter("out") + kClears), "read0 row0 out read1 out byte row1 out");
  EXPECT_EQ(after(scatter("out") + kClears), "out row0 row1") << "what was before is not known";
}

TEST(EarlyClears, KeepTheirOrder) {
  EXPECT_EQ(after(kReads + clear("row0") + clear("both", "splat (i32 1)")), "read0 out read1 out row0 both");
  EXPECT_EQ(after(read("read0", "at0") + scatter("out") + read("read1", "at1") + kClears + read("more", "at1") +
                  clear("both") + clear("both")),
            "read0 row0 out read1 row1 more both both");
  // Between where %row0 was and where it is now something is read that %both is to stay behind.
  const std::string apart = "%apart = getelementptr i8, ptr %window, i64 16384\n";
  EXPECT_EQ(after(apart + kReads + clear("row0") + clear("apart") + "%first = load i32, ptr %window\n" + clear("both") +
                  clear("apart")),
            "read0 row0 out read1 out apart apart first both");
}

TEST(EarlyClears, StayWhereOthersMaySeeTheOrder) {
  for (const char* order : {"fence seq_cst\n", "%old = atomicrmw add ptr %p, i32 1 seq_cst\n"})
    EXPECT_TRUE(llvm::StringRef(after(kReads + order + kClears)).ends_with("row0 row1")) << order;
  EXPECT_TRUE(llvm::StringRef(after(kReads + "call void @other()\n" + kClears)).ends_with("row0 row1"));
}

TEST(EarlyClears, AreStoresOfKnownNumbersToKnownPlaces) {
  EXPECT_EQ(after(kReads + "%w = shufflevector <16 x i32> %v, <16 x i32> %v, <512 x i32> zeroinitializer\n" +
                  clear("row0", "%w") + clear("row1", "%w")),
            "read0 out read1 out row0 row1");
  const std::string outside =
      "%end = getelementptr i8, ptr %window, i64 262144\n"
      "%beyond = getelementptr i8, ptr %window, i64 264192\n";
  EXPECT_EQ(after(outside + read("all", "anywhere") + scatter("out") + clear("end") + clear("beyond")),
            "all out end beyond");
  const std::string late = "%late = getelementptr i8, ptr %row0, i64 0\n";
  EXPECT_EQ(after(kReads + late + clear("late") + clear("row1")), "read0 out read1 row1 out late")
      << "its address comes later";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
