#include "backend/cpu/build/bit_tests.h"

#include <gmock/gmock.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <random>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// `body`, of a row %x and giving a mask %m or numbers %n, with its bits tested in place for a processor.
std::string tested(const std::string& type, const std::string& body, const char* target = "cpu:x86_64:x86-64-v4") {
  const auto machine = machine_for(target);
  if (!machine) return machine.error().message;
  llvm::LLVMContext context;
  const auto module = parse(context, "define " + type + " @k(<32 x i32> %x) {\n" + body + "}");
  test_bits_in_place(*module->getFunction("k"), **machine);
  std::string text;
  llvm::raw_string_ostream out(text);
  out << *module->getFunction("k");
  return text;
}

constexpr const char* kThirdBit = R"(
  %moved = lshr <32 x i32> %x, splat (i32 3)
  %m = trunc <32 x i32> %moved to <32 x i1>
  ret <32 x i1> %m
)";

TEST(BitTests, LookAtTheBitWhereItStands) {
  const std::string text = tested("<32 x i1>", kThirdBit);
  EXPECT_THAT(text, HasSubstr("and <32 x i32> %x, splat (i32 8)"));
  EXPECT_THAT(text, HasSubstr("icmp ne"));
  EXPECT_THAT(text, Not(HasSubstr("lshr")));
  EXPECT_THAT(tested("<32 x i1>", "%m = trunc <32 x i32> %x to <32 x i1>\nret <32 x i1> %m\n"),
              HasSubstr("and <32 x i32> %x, splat (i32 1)"));
}

TEST(BitTests, MakeNumbersOfTheMask) {
  const std::string text = tested("<32 x i32>", R"(
  %moved = lshr <32 x i32> %x, splat (i32 3)
  %bit = and <32 x i32> %moved, splat (i32 1)
  %n = add <32 x i32> %bit, splat (i32 -1)
  ret <32 x i32> %n
)");
  EXPECT_THAT(text, HasSubstr("and <32 x i32> %x, splat (i32 8)"));
  EXPECT_THAT(text, HasSubstr("sext <32 x i1>"));
  EXPECT_THAT(text, HasSubstr("xor <32 x i32>"));
  EXPECT_THAT(text, Not(HasSubstr("lshr")));
}

/// Numbers as MakeNumbersOfTheMask's, of a bit that is there alone before it is moved.
std::string of_lone_bit(const char* alone, const char* moved) {
  return tested("<32 x i32>", formatted(R"(
  %bit = and <32 x i32> %x, splat (i32 {})
  %moved = lshr exact <32 x i32> %bit, splat (i32 {})
  %n = add <32 x i32> %moved, splat (i32 -1)
  ret <32 x i32> %n
)",
                                        alone, moved));
}

TEST(BitTests, MakeNumbersOfTheMaskOfABitThatVotesLookAtToo) {
  const std::string text = of_lone_bit("8", "3");
  EXPECT_THAT(text, HasSubstr("icmp ne"));
  EXPECT_THAT(text, HasSubstr("sext <32 x i1>"));
  EXPECT_THAT(text, Not(HasSubstr("lshr")));
  EXPECT_THAT(of_lone_bit("8", "2"), Not(HasSubstr("icmp"))) << "1 less than 2";
  EXPECT_THAT(of_lone_bit("24", "3"), Not(HasSubstr("icmp"))) << "two bits";
}

/// Which bit of %x, or of what %x becomes by `made`, is set in the lanes of `mask` (`set`) or clear.
std::optional<unsigned> bit_in(bool set, const std::string& mask,
                               const std::string& made = "and <32 x i32> %x, splat (i32 255)") {
  llvm::LLVMContext context;
  const auto module = parse(context, "define <32 x i1> @k(<32 x i32> %x, <32 x i32> %y) {\n%r = " + made +
                                         "\n%f = freeze <32 x i32> %r\n%m = " + mask + "\nret <32 x i1> %m\n}");
  llvm::Value* answer =
      llvm::cast<llvm::ReturnInst>(module->getFunction("k")->getEntryBlock().getTerminator())->getReturnValue();
  const auto bit = set ? bit_set_in(answer) : bit_clear_in(answer);
  return bit ? std::optional(bit->number) : std::nullopt;
}

TEST(BitTests, KnowTheHighestBitByItsSize) {
  for (const std::string row : {"%r", "%f"}) {
    EXPECT_EQ(bit_in(true, "icmp ugt <32 x i32> " + row + ", splat (i32 127)"), 7u);
    EXPECT_EQ(bit_in(false, "icmp ult <32 x i32> " + row + ", splat (i32 128)"), 7u);
    EXPECT_EQ(bit_in(true, "icmp ugt <32 x i32> " + row + ", splat (i32 63)"), std::nullopt) << "or the one above";
    EXPECT_EQ(bit_in(false, "icmp ult <32 x i32> " + row + ", splat (i32 64)"), std::nullopt);
    EXPECT_EQ(bit_in(true, "icmp ugt <32 x i32> " + row + ", splat (i32 255)"), std::nullopt) << "none";
    EXPECT_EQ(bit_in(true, "icmp ugt <32 x i32> " + row + ", splat (i32 126)"), std::nullopt);
    EXPECT_EQ(bit_in(false, "icmp ult <32 x i32> " + row + ", splat (i32 127)"), std::nullopt);
  }
  const std::string any = "add <32 x i32> %x, %y";
  EXPECT_EQ(bit_in(true, "icmp ugt <32 x i32> %r, splat (i32 127)", any), std::nullopt) << "higher ones";
  EXPECT_EQ(bit_in(false, "icmp ult <32 x i32> %f, splat (i32 128)", any), std::nullopt);
  EXPECT_EQ(bit_in(true, "icmp ugt <32 x i32> %r, splat (i32 2147483647)", any), 31u) << "there is none above";
}

TEST(BitTests, AreNotForOtherNumbers) {
  const char* two_bits = R"(
  %bit = and <32 x i32> %x, splat (i32 3)
  %n = add <32 x i32> %bit, splat (i32 -1)
  ret <32 x i32> %n
)";
  EXPECT_THAT(tested("<32 x i32>", two_bits), Not(HasSubstr("icmp")));
}

TEST(BitTests, AreLeftToProcessorsWithoutMasks) {
  EXPECT_THAT(tested("<32 x i1>", kThirdBit, "cpu:x86_64:x86-64-v3"), HasSubstr("lshr"));
}

TEST(BitTests, SayWhatTheySaidBefore) {
  using Row = std::array<uint32_t, 32>;
  std::mt19937 random(1);
  for (unsigned bit = 0; bit < 32; ++bit) {
    kir::TestModule module(formatted(R"(
      define void @f(ptr %p, ptr %q) {{
        %x = load <32 x i32>, ptr %p, align 4
        %moved = lshr <32 x i32> %x, splat (i32 {})
        %m = trunc <32 x i32> %moved to <32 x i1>
        %low = and <32 x i32> %moved, splat (i32 1)
        %less = add <32 x i32> %low, splat (i32 -1)
        %n = select <32 x i1> %m, <32 x i32> %x, <32 x i32> %less
        store <32 x i32> %n, ptr %q, align 4
        %clear = xor <32 x i32> %less, %x
        %behind = getelementptr i8, ptr %q, i64 128
        store <32 x i32> %clear, ptr %behind, align 4
        %alone = and <32 x i32> %x, splat (i32 {})
        %down = lshr exact <32 x i32> %alone, splat (i32 {})
        %lone = add nsw <32 x i32> %down, splat (i32 -1)
        %last = getelementptr i8, ptr %q, i64 256
        store <32 x i32> %lone, ptr %last, align 4
        ret void
      }})",
                                     bit, 1u << bit, bit));
    test_bits_in_place(*module->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v4"));
    EXPECT_THAT(module.text(), HasSubstr("icmp ne"));
    Row x;
    for (uint32_t& number : x) number = static_cast<uint32_t>(random());
    std::array<Row, 3> found;
    module.function<void(const uint32_t*, std::array<Row, 3>*)>("f")(x.data(), &found);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const bool set = x[lane] >> bit & 1;
      EXPECT_EQ(found[0][lane], set ? x[lane] : ~0u) << bit;
      EXPECT_EQ(found[1][lane], set ? x[lane] : ~x[lane]) << bit;
      EXPECT_EQ(found[2][lane], set ? 0 : ~0u) << bit;
    }
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
