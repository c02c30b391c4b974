#include "backend/cpu/build/vote_bytes.h"

#include <gmock/gmock.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <random>
#include <regex>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Votes on the bits of each lane of a row that are behind %p, one number after the other behind %q.
std::string votes_on(const std::vector<unsigned>& bits) {
  std::string text = "define void @f(ptr %p, ptr %q) {\n%x = load <32 x i32>, ptr %p, align 4\n";
  for (const unsigned bit : bits)
    text += formatted(R"(
      %alone{0} = and <32 x i32> %x, splat (i32 {1})
      %set{0} = icmp ne <32 x i32> %alone{0}, zeroinitializer
      %vote{0} = bitcast <32 x i1> %set{0} to i32
      %place{0} = getelementptr i32, ptr %q, i64 {0}
      store i32 %vote{0}, ptr %place{0}
)",
                      bit, 1u << bit);
  return text + "ret void\n}\n";
}

std::string by_bytes(const std::string& text, const char* level) {
  kir::TestModule module(text);
  vote_by_bytes(*module->getFunction("f"), **machine_for(level));
  return module.text();
}

TEST(VoteBytes, HaveTheAnswersOfAllLanesAtOnce) {
  const std::string wide = by_bytes(votes_on({8, 15}), "cpu:x86_64:x86-64-v4"),
                    narrow = by_bytes(votes_on({8, 15}), "cpu:x86_64:x86-64-v3");
  for (const std::string& text : {wide, narrow}) {
    EXPECT_THAT(text, HasSubstr("trunc <32 x i32>"));
    EXPECT_THAT(text, Not(HasSubstr("icmp ne <32 x i32>")));
  }
  EXPECT_THAT(wide, HasSubstr("icmp ne <32 x i8>"));
  EXPECT_THAT(narrow, HasSubstr("icmp slt <32 x i8>"));
}

// A mask of 32 that a row is made of would be joined with itself to one of 64 first.
TEST(VoteBytes, AreNumbersWhereRowsAreMadeOfThem) {
  const std::string text =
      std::regex_replace(votes_on({8, 15}), std::regex("store i32 (%vote(\\d)), ptr %place\\d"),
                         "%one$2 = insertelement <16 x i32> poison, i32 $1, i64 0\n"
                         "%row$2 = shufflevector <16 x i32> %one$2, <16 x i32> poison, <16 x i32> zeroinitializer\n"
                         "store <16 x i32> %row$2, ptr %place$2");
  const auto machine = machine_for("cpu:x86_64:x86-64-v4");
  ASSERT_TRUE(machine);
  kir::TestModule module(text);
  ASSERT_TRUE(retarget(*module, **machine));
  vote_by_bytes(*module->getFunction("f"), **machine);
  const std::string code = emit_assembly(*module, **machine);
  EXPECT_THAT(code, HasSubstr("vpbroadcastd"));
  EXPECT_THAT(code, Not(HasSubstr("kunpckdq")));
}

TEST(VoteBytes, AreNotMadeForOneVote) {
  EXPECT_THAT(by_bytes(votes_on({7}), "cpu:x86_64:x86-64-v4"), Not(HasSubstr("i8>")));
  EXPECT_THAT(by_bytes(votes_on({7, 8}), "cpu:x86_64:x86-64-v4"), Not(HasSubstr("i8>"))) << "of two bytes";
  EXPECT_THAT(by_bytes(votes_on({0, 1}), "cpu:x86_64:x86-64-v2"), Not(HasSubstr("i8>")));
}

TEST(VoteBytes, LeaveMasksThatAreAskedForMore) {
  std::string text = votes_on({0, 1});
  const std::string more =
      "%more = select <32 x i1> %set1, <32 x i32> %x, <32 x i32> zeroinitializer\n"
      "store <32 x i32> %more, ptr %p\nret void";
  text.replace(text.rfind("ret void"), 8, more);
  EXPECT_THAT(by_bytes(text, "cpu:x86_64:x86-64-v4"), Not(HasSubstr("i8>")));
}

TEST(VoteBytes, SayWhatWordsSaid) {
  std::vector<unsigned> bits(32);
  std::mt19937 random(3);
  std::array<uint32_t, 32> row;
  for (uint32_t& number : row) number = static_cast<uint32_t>(random());
  for (unsigned bit = 0; bit < 32; ++bit) bits[bit] = bit;
  for (const char* level : {"cpu:x86_64:x86-64-v3", "cpu:x86_64:x86-64-v4"}) {
    kir::TestModule module(votes_on(bits));
    vote_by_bytes(*module->getFunction("f"), **machine_for(level));
    EXPECT_THAT(module.text(), Not(HasSubstr("icmp ne <32 x i32>")));
    std::array<uint32_t, 32> found;
    module.function<void(const uint32_t*, uint32_t*)>("f")(row.data(), found.data());
    for (unsigned bit = 0; bit < 32; ++bit) {
      uint32_t expected = 0;
      for (unsigned lane = 0; lane < 32; ++lane) expected |= (row[lane] >> bit & 1) << lane;
      EXPECT_EQ(found[bit], expected) << bit;
    }
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
