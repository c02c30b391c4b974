#include "backend/cpu/build/vector_neighbours.h"

#include "backend/cpu/build/analysed_kernel.h"

namespace cupola::cpu::build::testing {
namespace {

/// Of a kernel that reads the number at %i.
bool goes_on(const std::string& index, BlockClass blocks = BlockClass::Rows) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.ctaid.x()
    define void @k(ptr %context, ptr %p, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %w = call i32 @cupola.ntid.x()
      %b = call i32 @cupola.ctaid.x()
      )" + index + R"(
      %far = sext i32 %i to i64
      %place = getelementptr i32, ptr %p, i64 %far
      %v = load i32, ptr %place
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  llvm::DominatorTree dominators(function);
  const llvm::PostDominatorTree post_dominators(function);
  llvm::LoopInfo loops(dominators);
  return rows_go_on_beside(function, blocks, Shapes(function, blocks, loops, post_dominators), loops, dominators);
}

std::string at(const std::string& width, const std::string& pitch) {
  return "%first = mul i32 %b, " + width + "\n %column = add i32 %first, %t\n %down = mul i32 %y, " + pitch +
         "\n %i = add i32 %down, %column\n";
}

TEST(VectorNeighbours, RowsGoOnWhereBlocksLieBesideEachOtherInMemory) {
  EXPECT_TRUE(goes_on(at("%w", "%n")));
  EXPECT_TRUE(goes_on(at("256", "%n")));
  EXPECT_TRUE(goes_on(at("16", "%n"), BlockClass::Rows16));
  EXPECT_TRUE(goes_on(at("8", "%n"), BlockClass::Rows8));
}

TEST(VectorNeighbours, RowsDoNotGoOnWhereBlocksHavePiecesOfTheirOwn) {
  EXPECT_FALSE(goes_on(at("256", "16"), BlockClass::Rows16));  // a matrix of 16 x 16 for each block
  EXPECT_FALSE(goes_on(at("%n", "16")));
  EXPECT_FALSE(goes_on(at("4096", "%n")));
  EXPECT_FALSE(goes_on(at("0", "%n")));  // all read the same
  EXPECT_FALSE(goes_on("%first = mul i32 %b, %w\n %column = add i32 %first, %t\n %i = mul i32 %column, 3\n"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
