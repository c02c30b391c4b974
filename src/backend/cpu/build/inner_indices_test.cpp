#include "backend/cpu/build/inner_indices.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"

// Which indices are computed in 64 bits. That blocks in which one wraps are no inner ones VectorDifferential shows.

namespace cupola::cpu::build::testing {
namespace {

/// Whether %i of `index`, of a thread (%x, %y, %z) in blocks of 32 x 4 x 2, is.
bool is_widened(const std::string& index) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.tid.z()
    declare i32 @cupola.ctaid.y()
    define void @k(ptr %p, i32 %n, i32 %m, ptr %q) {
      %x = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %z = call i32 @cupola.tid.z()
      %b = call i32 @cupola.ctaid.y()
      )" + index + R"(
      %wide = sext i32 %i to i64
      %place = getelementptr float, ptr %p, i64 %wide
      store float 0.0, ptr %place
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  InnerIndices indices(function, Dim3{32, 4, 2});
  indices.widen();
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  const auto is_store = [](const llvm::Instruction& instruction) { return llvm::isa<llvm::StoreInst>(instruction); };
  const auto& store = *llvm::find_if(llvm::instructions(function), is_store);
  const auto& place = *llvm::cast<llvm::GetElementPtrInst>(llvm::getLoadStorePointerOperand(&store));
  const auto* extension = llvm::dyn_cast<llvm::SExtInst>(place.getOperand(1));
  return !extension || extension->getOperand(0)->getName() != "i";
}

TEST(InnerIndices, AreSumsAndProductsOfPlaces) {
  EXPECT_TRUE(is_widened("%i = add i32 %x, %n"));
  EXPECT_TRUE(is_widened("%i = sub i32 %n, %x"));
  EXPECT_TRUE(is_widened("%r = mul i32 %y, %n\n %i = add i32 %r, %x"));
  EXPECT_TRUE(
      is_widened("%f = shl i32 %b, 2\n %row = or disjoint i32 %f, %y\n %r = mul i32 %n, %row\n"
                 "%s = add i32 %r, %x\n %i = sub i32 %s, %n"));
  EXPECT_TRUE(
      is_widened("%l = mul i32 %z, %m\n %row = add i32 %l, %y\n %r = mul i32 %row, %n\n"
                 "%i = add i32 %r, %x"))
      << "a place in a volume";
  EXPECT_TRUE(is_widened("%l = mul i32 %z, %m\n %r = mul i32 %y, %n\n %s = add i32 %l, %r\n %i = add i32 %s, %x"));
  EXPECT_TRUE(is_widened("%t = mul i32 %x, 3\n %i = add i32 %t, -40"));
}

TEST(InnerIndices, AreNothingElse) {
  EXPECT_FALSE(is_widened("%i = add i32 %b, %n")) << "the same for all threads";
  EXPECT_FALSE(is_widened("%r = mul i32 %y, %x\n %i = add i32 %r, %n")) << "both factors move";
  EXPECT_FALSE(is_widened("%far = load i32, ptr %q\n %i = add i32 %far, %x")) << "not known before";
  EXPECT_FALSE(is_widened("%t = lshr i32 %x, 1\n %i = add i32 %t, %n"));
  EXPECT_FALSE(is_widened("%i = add i32 %x, 50000000")) << "far";
  EXPECT_FALSE(is_widened("%t = mul i32 %x, 100000\n %i = add i32 %t, %n")) << "far";
  EXPECT_FALSE(
      is_widened("%a = mul i32 %x, %n\n %c = mul i32 %y, %m\n %d = mul i32 %z, %n\n %e = add i32 %a, %c\n"
                 "%i = add i32 %e, %d"))
      << "many products";
  EXPECT_FALSE(is_widened("%a = mul i32 %x, %n\n %c = mul i32 %a, %m\n %d = mul i32 %y, %n\n %i = add i32 %c, %d"))
      << "a product of a product beside another";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
