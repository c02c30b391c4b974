#include "backend/cpu/build/whole_rows.h"

#include <gmock/gmock.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSwitch = R"(
  switch i4 %bits, label %some [
    i4 0, label %none
    i4 -1, label %all
  ]
)";

/// @k(first, bound) says which way it takes, 0 for none, 1 for some and 2 for all of four numbers from `first` on;
/// `mask` sets %mask of %row and %bounds.
std::string kernel(const std::string& mask, const std::string& ask = kSwitch) {
  return R"(
    define i32 @k(i32 %first, i32 %bound) {
      %one = insertelement <4 x i32> poison, i32 %first, i64 0
      %firsts = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
      %row = add <4 x i32> %firsts, <i32 0, i32 1, i32 2, i32 3>
      %limit = insertelement <4 x i32> poison, i32 %bound, i64 0
      %bounds = shufflevector <4 x i32> %limit, <4 x i32> poison, <4 x i32> zeroinitializer
      )" +
         mask + R"(
      %bits = bitcast <4 x i1> %mask to i4
      )" +
         ask + R"(
    none:
      br label %over
    some:
      %number = zext i4 %bits to i32
      %other = icmp ne i32 %number, 0
      %which = zext i1 %other to i32
      br label %over
    all:
      br label %over
    over:
      %way = phi i32 [ 0, %none ], [ %which, %some ], [ 2, %all ]
      ret i32 %way
    })";
}

/// The kernel with the question, as the code asks it.
class Asked {
 public:
  explicit Asked(const std::string& text) : module_(text) {
    ask_for_whole_rows(function());
    EXPECT_FALSE(llvm::verifyFunction(function(), &llvm::errs()));
  }

  /// What it does before it looks at each number; empty: it looks at once.
  std::string first_block() {
    const llvm::BasicBlock& block = function().getEntryBlock();
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    std::string text;
    llvm::raw_string_ostream out(text);
    if (branch && branch->isConditional() && branch->getSuccessor(0)->getName() == "all" &&
        branch->getSuccessor(1)->getName().starts_with(".split"))
      out << block;
    return text;
  }

  kir::TestModule& module() { return module_; }

 private:
  llvm::Function& function() { return *module_->getFunction("k"); }

  kir::TestModule module_;
};

/// What is said before that; empty: nothing.
std::string asked(const std::string& text) {
  return Asked(text).first_block();
}

constexpr const char *kSigned = "%mask = icmp slt <4 x i32> %row, %bounds\n",
                     *kUnsigned = "%mask = icmp ult <4 x i32> %row, %bounds\n";

TEST(WholeRows, AreAskedForFirst) {
  const std::string text = asked(kernel(kSigned));
  EXPECT_THAT(text, AllOf(HasSubstr("ssub.sat.i32(i32 %bound, i32 3)"), HasSubstr("icmp slt i32 %first")));
  EXPECT_THAT(text, Not(HasSubstr("<4 x i1>"))) << "only the others need the mask";
  EXPECT_THAT(asked(kernel(kUnsigned)),
              AllOf(HasSubstr("usub.sat.i32(i32 %bound, i32 3)"), HasSubstr("icmp ult i32 %first")));
  EXPECT_THAT(asked(kernel("%below = icmp sgt <4 x i32> %bounds, %row\n%mask = freeze <4 x i1> %below\n")),
              HasSubstr("icmp slt i32 %first"));
  EXPECT_THAT(asked(kernel(kSigned,
                           "%yes = icmp eq i4 %bits, -1\n br i1 %yes, label %all, label %rest\nrest:\n"
                           "%no = icmp eq i4 %bits, 0\n br i1 %no, label %none, label %some\n")),
              HasSubstr("icmp slt i32 %first"));
}

/// A row as it is where a freeze was drawn into the sum, which forgets then that its bits are apart.
constexpr const char* kFrozen = R"(
      %times = shl i32 %first, 2
      %many = insertelement <4 x i32> poison, i32 %times, i64 0
      %each = shufflevector <4 x i32> %many, <4 x i32> poison, <4 x i32> zeroinitializer
      %frozen = freeze <4 x i32> %each
      %bits.of.row = or <4 x i32> %frozen, <i32 0, i32 1, i32 2, i32 3>
      %mask = icmp slt <4 x i32> %bits.of.row, %bounds
      )";

TEST(WholeRows, AreAskedForWhereTheyAreFrozen) {
  EXPECT_THAT(asked(kernel(kFrozen)), HasSubstr("icmp slt i32 %times"));
  std::string odd = kFrozen;
  odd.replace(odd.find("first, 2"), 8, "first, 1");
  EXPECT_EQ(asked(kernel(odd)), "") << "an or of bits that are there already is no sum";
}

TEST(WholeRows, AreNotAskedForOtherwise) {
  for (const char* mask :
       {"%mask = icmp sle <4 x i32> %row, %bounds\n", "%mask = icmp slt <4 x i32> %bounds, %row\n",
        "%mask = icmp eq <4 x i32> %row, %bounds\n", "%mask = icmp slt <4 x i32> %row, <i32 1, i32 2, i32 3, i32 4>\n",
        "%back = sub <4 x i32> %firsts, <i32 0, i32 1, i32 2, i32 3>\n%mask = icmp slt <4 x i32> %back, %bounds\n",
        "%far = add <4 x i32> %firsts, <i32 0, i32 8, i32 16, i32 24>\n%mask = icmp slt <4 x i32> %far, %bounds\n"})
    EXPECT_EQ(asked(kernel(mask)), "") << mask;
}

// At all limits of numbers, as the code without the question says.
TEST(WholeRows, AreThoseThatTheMaskSaysAreWhole) {
  constexpr uint32_t kLow = 0x80000000u, kHigh = 0x7fffffffu;
  const uint32_t edges[] = {0,         1,         2,         3,       4,    5,        100,
                            kHigh - 4, kHigh - 3, kHigh - 2, kHigh,   kLow, kLow + 1, kLow + 3,
                            kLow + 4,  ~0u - 4,   ~0u - 3,   ~0u - 2, ~0u};
  for (const char* mask : {kSigned, kUnsigned, kFrozen}) {
    kir::TestModule plain(kernel(mask));
    Asked asked(kernel(mask));
    auto *expected = plain.function<uint32_t(uint32_t, uint32_t)>("k"),
         *found = asked.module().function<uint32_t(uint32_t, uint32_t)>("k");
    for (const uint32_t first : edges)
      for (const uint32_t bound : edges)
        EXPECT_EQ(found(first, bound), expected(first, bound)) << first << ' ' << bound;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
