#include "backend/cpu/build/inner_indices.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"

// Which indices are computed in 64 bits. That blocks in which one wraps are no inner ones VectorDifferential shows.

namespace cupola::cpu::build::testing {
namespace {

/// Whether %i of `index`, of a thread (%x, %y, %z) in blocks of 32 x 4 x 2, is; `place`: what is made of it as %wide.
bool is_widened(const std::string& index,
                const std::string& place = "%place = getelementptr float, ptr %p, i64 %wide") {
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
      )" + place + R"(
      store float 0.0, ptr %place
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  InnerIndices indices(function, Dim3{32, 4, 2});
  indices.widen();
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return llvm::none_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::SExtInst>(instruction) && instruction.getName() == "wide";
  });
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
  EXPECT_TRUE(is_widened("%s = add i32 %x, %n\n %t = mul i32 %s, 3\n %u = shl i32 %t, 2\n %i = add i32 %u, -40"));
}

TEST(InnerIndices, AreNothingElse) {
  EXPECT_FALSE(is_widened("%i = add i32 %b, %n")) << "the same for all threads";
  EXPECT_FALSE(is_widened("%r = mul i32 %y, %x\n %i = add i32 %r, %n")) << "both factors move";
  EXPECT_FALSE(is_widened("%far = load i32, ptr %q\n %i = add i32 %far, %x")) << "not known before";
  EXPECT_FALSE(is_widened("%t = lshr i32 %x, 1\n %i = add i32 %t, %n"));
  EXPECT_FALSE(is_widened("%i = add i32 %x, 50000000")) << "far";
  EXPECT_FALSE(is_widened("%t = mul i32 %x, 600000\n %i = add i32 %t, %n")) << "far";
  EXPECT_FALSE(is_widened("%t = mul i32 %x, 60000\n %i = mul i32 %t, %n")) << "far, in products";
  EXPECT_FALSE(
      is_widened("%a = mul i32 %x, %n\n %c = mul i32 %y, %m\n %d = mul i32 %z, %n\n %e = add i32 %a, %c\n"
                 "%i = add i32 %e, %d"))
      << "many products";
  EXPECT_FALSE(is_widened("%a = mul i32 %x, %n\n %c = mul i32 %a, %m\n %d = mul i32 %y, %n\n %i = add i32 %c, %d"))
      << "a product of a product beside another";
  EXPECT_FALSE(is_widened("%a = mul i32 %x, %n\n %i = mul i32 %a, 3")) << "a product many times";
}

TEST(InnerIndices, AreMadeOfAFewParts) {
  const auto doubled = [](int times) {  // as many addends as 2^times
    std::string sum = "%s0 = add i32 %x, 1\n";
    for (int i = 0; i < times; ++i) sum += formatted("%s{} = add i32 %s{}, %s{}\n", i + 1, i, i);
    return sum + formatted("%i = add i32 %s{}, %n", times);
  };
  EXPECT_TRUE(is_widened(doubled(1)));
  EXPECT_FALSE(is_widened(doubled(40)));
}

// Numbers that are extended for something else, as those of random series, leave blocks inner ones.
TEST(InnerIndices, AreWhatAddressesAreMadeOf) {
  EXPECT_TRUE(is_widened("%i = add i32 %x, %n", "%place = getelementptr float, ptr %p, i64 %wide"));
  EXPECT_TRUE(is_widened("%i = add i32 %x, %n",
                         "%more = shl i64 %wide, 2\n%sum = add i64 %more, 8\n"
                         "%place = inttoptr i64 %sum to ptr"));
  EXPECT_FALSE(
      is_widened("%i = mul i32 %x, %n", "%some = and i64 %wide, 15\n%place = getelementptr float, ptr %p, i64 %some"));
}

// A volume's neighbours along x share one, as do those along y.
TEST(InnerIndices, AreAskedForTogether) {
  const auto asked = [](int rows) {
    llvm::LLVMContext context;
    std::string text = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    define void @k(ptr %p, i32 %n, ptr %q) {
      %x = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      )";
    for (int i = 0; i < rows; ++i)
      text += formatted(
          "%f{0} = add i32 %n, {0}\n%r{0} = mul i32 %y, %f{0}\n%i{0} = add i32 %r{0}, %x\n"
          "%j{0} = add i32 %i{0}, 7\n%w{0} = sext i32 %i{0} to i64\n%v{0} = sext i32 %j{0} to i64\n"
          "%a{0} = getelementptr float, ptr %p, i64 %w{0}\nstore float 0.0, ptr %a{0}\n"
          "%b{0} = getelementptr float, ptr %p, i64 %v{0}\nstore float 0.0, ptr %b{0}\n",
          i);
    const auto module = parse(context, text + "ret void\n}");
    InnerIndices indices(*module->getFunction("k"), Dim3{32, 4});
    indices.widen();
    size_t narrow = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(*module->getFunction("k")))
      if (const auto* extension = llvm::dyn_cast<llvm::SExtInst>(&instruction))
        narrow += extension->getName().starts_with("w") || extension->getName().starts_with("v");
    return narrow;
  };
  EXPECT_EQ(asked(8), 0u);
  EXPECT_EQ(asked(10), 4u) << "more are asked for where they are read";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
