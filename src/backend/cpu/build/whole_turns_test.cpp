#include "backend/cpu/build/whole_turns.h"

#include <gmock/gmock.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include <optional>

#include "base/format.h"
#include "kir/test_module.h"

// Oracle: lanes that go one by one; else the same code without the pass.

namespace cupola::cpu::build::testing {
namespace {

/// Four lanes that each go from `first` plus their number on to `bound`, by `step`: @k(first, bound, step, counts,
/// whole) says how often each goes round, and in how many turns all do. What the text says may be replaced.
class Loop {
 public:
  Loop& with(const std::string& from, const std::string& to) {
    const size_t place = text_.find(from);
    EXPECT_NE(place, text_.npos) << from;
    text_.replace(place, from.size(), to);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = R"(
    define void @k(i32 %first, i32 %bound, i32 %step, ptr %counts, ptr %wholes) {
    before:
      %limit = insertelement <4 x i32> poison, i32 %bound, i64 0
      %bounds = shufflevector <4 x i32> %limit, <4 x i32> poison, <4 x i32> zeroinitializer
      br label %turn
    turn:
      %mask = phi <4 x i1> [ splat (i1 true), %before ], [ %again, %on ]
      %n = phi i32 [ %first, %before ], [ %n.on, %on ]
      %count = phi <4 x i32> [ zeroinitializer, %before ], [ %count.on, %on ]
      %all.turns = phi i32 [ 0, %before ], [ %all.turns.on, %on ]
      %one = insertelement <4 x i32> poison, i32 %n, i64 0
      %firsts = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
      %row = add <4 x i32> %firsts, <i32 0, i32 1, i32 2, i32 3>
      %next = add i32 %n, %step
      %below = icmp slt <4 x i32> %row, %bounds
      %now = and <4 x i1> %mask, %below
      %bits = bitcast <4 x i1> %now to i4
      switch i4 %bits, label %some [
        i4 0, label %on
        i4 -1, label %all
      ]
    all:
      %count.all = add <4 x i32> %count, splat (i32 1)
      %all.turns.all = add i32 %all.turns, 1
      br label %on
    some:
      %added = zext <4 x i1> %now to <4 x i32>
      %count.some = add <4 x i32> %count, %added
      br label %on
    on:
      %again = phi <4 x i1> [ zeroinitializer, %turn ], [ splat (i1 true), %all ], [ %now, %some ]
      %n.on = phi i32 [ %n, %turn ], [ %next, %all ], [ %next, %some ]
      %count.on = phi <4 x i32> [ %count, %turn ], [ %count.all, %all ], [ %count.some, %some ]
      %all.turns.on = phi i32 [ %all.turns, %turn ], [ %all.turns.all, %all ], [ %all.turns, %some ]
      %again.bits = bitcast <4 x i1> %again to i4
      %over.now = icmp eq i4 %again.bits, 0
      br i1 %over.now, label %over, label %turn
    over:
      store <4 x i32> %count.on, ptr %counts, align 4
      store i32 %all.turns.on, ptr %wholes, align 4
      ret void
    })";
};

/// Whether whole turns are asked for by the last lane alone.
bool is_split(const Loop& loop) {
  kir::TestModule module(loop.text());
  llvm::Function& function = *module->getFunction("k");
  ask_for_whole_turns(function);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  for (const llvm::BasicBlock& block : function)
    if (block.getName() == "whole")
      return llvm::none_of(block, [](const llvm::Instruction& each) {
        return each.getType()->isVectorTy() && !llvm::isa<llvm::PHINode>(each);
      });
  return false;
}

struct Turns {
  uint32_t counts[4] = {}, whole = 0;
  bool operator==(const Turns&) const = default;
};

/// As lanes one by one go; nothing: they do not come to an end soon.
template <typename Number>
std::optional<Turns> turns(uint32_t first, uint32_t bound, uint32_t step) {
  constexpr uint32_t kMost = 100;
  Turns made;
  for (uint32_t n = first, mask = 0xf, turn = 0; mask != 0; n += step, ++turn) {
    if (turn == kMost) return std::nullopt;
    for (uint32_t lane = 0; lane < 4; ++lane) {
      const bool is_below = static_cast<Number>(n + lane) < static_cast<Number>(bound);
      if (!is_below) mask &= ~(1u << lane);
      made.counts[lane] += mask >> lane & 1;
    }
    made.whole += mask == 0xf;
  }
  return made;
}

/// At the limits of numbers.
template <typename Number>
void expect_right(const Loop& loop) {
  constexpr uint32_t kLow = 0x80000000u, kHigh = 0x7fffffffu;
  kir::TestModule module(loop.text());
  ask_for_whole_turns(*module->getFunction("k"));
  auto* found = module.function<void(uint32_t, uint32_t, uint32_t, uint32_t*, uint32_t*)>("k");
  const uint32_t firsts[] = {0, 1, 3, 7, 100, kHigh - 5, kHigh - 3, kHigh - 2, kHigh, kLow, kLow + 1, ~0u - 2, ~0u},
                 steps[] = {1, 2, 4, 0x30000000u};
  int tried = 0;
  for (const uint32_t first : firsts)
    for (const uint32_t step : steps)
      for (const uint32_t more : {0u, 1u, 3u, 4u, 5u, 9u, 40u, ~0u, ~0u - 5}) {
        const auto expected = turns<Number>(first, first + more, step);
        if (!expected) continue;
        Turns made;
        found(first, first + more, step, made.counts, &made.whole);
        EXPECT_EQ(made, *expected) << first << " and " << more << " by " << step;
        ++tried;
      }
  EXPECT_GT(tried, 200);
}

TEST(WholeTurns, AreAskedForByTheLastLane) {
  EXPECT_TRUE(is_split(Loop()));
  EXPECT_TRUE(is_split(Loop().with("icmp slt", "icmp ult")));
  EXPECT_TRUE(is_split(Loop().with("and <4 x i1> %mask, %below", "and <4 x i1> %below, %mask")));
}

// What follows is large, as where loops over warps are written out.
TEST(WholeTurns, AreAskedForBeforeMuchElse) {
  std::string behind = "over:\n %odd = trunc i32 %first to i1\n br i1 %odd, label %b0, label %c0\n";
  constexpr int kBlocks = 40;
  for (int i = 0; i < kBlocks; ++i)
    behind += formatted("b{0}:\n br i1 %odd, label %b{1}, label %c{1}\nc{0}:\n br label %c{1}\n", i, i + 1);
  behind += formatted("b{0}:\n br label %c{0}\nc{0}:\n", kBlocks);
  EXPECT_TRUE(is_split(Loop().with("over:\n", behind)));
}

TEST(WholeTurns, AreThoseInWhichAllLanesAre) {
  const Loop leaves_mask = Loop().with("[ zeroinitializer, %turn ], [ splat", "[ %now, %turn ], [ splat");
  EXPECT_TRUE(is_split(leaves_mask)) << "where none is left";
  expect_right<int32_t>(leaves_mask);
  expect_right<int32_t>(Loop());
  expect_right<uint32_t>(Loop().with("icmp slt", "icmp ult"));
}

// What the turn makes of its numbers is used behind it, where it was whole and where not.
TEST(WholeTurns, GiveOnWhatTheyMake) {
  Loop loop;
  loop.with("%all.turns = phi i32 [ 0, %before ]", "%all.turns = phi i32 [ %first, %before ]")
      .with("[ %all.turns.all, %all ], [ %all.turns, %some", "[ %next, %all ], [ %next, %some");
  kir::TestModule plain(loop.text()), split(loop.text());
  ask_for_whole_turns(*split->getFunction("k"));
  for (const uint32_t bound : {0u, 2u, 8u, 9u, 31u}) {
    Turns expected, found;
    plain.function<void(uint32_t, uint32_t, uint32_t, uint32_t*, uint32_t*)>("k")(0, bound, 4, expected.counts,
                                                                                  &expected.whole);
    split.function<void(uint32_t, uint32_t, uint32_t, uint32_t*, uint32_t*)>("k")(0, bound, 4, found.counts,
                                                                                  &found.whole);
    EXPECT_EQ(found, expected) << bound;
    EXPECT_EQ(found.whole, (bound + 3) / 4 * 4);
  }
}

TEST(WholeTurns, AreNotAskedForWhereLanesMayBeMissing) {
  EXPECT_FALSE(
      is_split(Loop().with("[ splat (i1 true), %before ]", "[ <i1 true, i1 false, i1 true, i1 true>, %before ]")));
  EXPECT_FALSE(is_split(Loop().with("%now, %some ]", "%below, %some ]"))) << "lanes come back";
}

TEST(WholeTurns, AreNotAskedForOtherwise) {
  EXPECT_FALSE(is_split(Loop().with("icmp slt", "icmp sle")));
  EXPECT_FALSE(is_split(Loop().with("i32 2, i32 3>", "i32 2, i32 4>"))) << "not beside each other";
  EXPECT_FALSE(is_split(Loop().with("%again.bits = bitcast", "store i32 1, ptr %counts\n%again.bits = bitcast")))
      << "the end does something";
}

// Its ways in and out may be others.
TEST(WholeTurns, AreNotAskedForWhereTheEndOfATurnLeadsElsewhere) {
  EXPECT_FALSE(is_split(Loop().with("label %over, label %turn", "label %turn, label %over"))) << "none go on";
  EXPECT_FALSE(is_split(Loop().with("%all.turns.all = add i32 %all.turns, 1\n      br label %on",
                                    "%all.turns.all = add i32 %all.turns, 1\n"
                                    "      %odd = trunc i32 %n to i1\n      br i1 %odd, label %on, label %some")))
      << "a turn that was whole goes on as one that was not";
}

TEST(WholeTurns, AreNotAskedForWhatTheTurnReads) {
  EXPECT_FALSE(
      is_split(Loop()
                   .with("insertelement <4 x i32> poison, i32 %n,", "insertelement <4 x i32> poison, i32 %read,")
                   .with("%one = insertelement", "%read = load i32, ptr %wholes\n%one = insertelement")));
  EXPECT_FALSE(is_split(
      Loop()
          .with("before:\n", "before:\n br label %turn\nturn:\n")
          .with("      br label %turn\n    turn:\n      %mask", "      %mask")
          .with("      %limit", "")
          .with(" = insertelement <4 x i32> poison, i32 %bound, i64 0\n", "")
          .with("      %bounds = shufflevector <4 x i32> %limit, <4 x i32> poison, <4 x i32> zeroinitializer\n", "")
          .with("%below = icmp",
                "%read = load i32, ptr %wholes\n%limit = insertelement <4 x i32> poison, i32 %read, i64 0\n"
                "%bounds = shufflevector <4 x i32> %limit, <4 x i32> poison, <4 x i32> zeroinitializer\n"
                "%below = icmp")))
      << "its bound";
}

// What it does, it does once in each turn.
TEST(WholeTurns, DoWhatTheTurnDoesOnce) {
  Loop loop;
  loop.with("%next = add",
            "%done = load i32, ptr %wholes\n%more = add i32 %done, 1\nstore i32 %more, ptr %wholes\n%next = add")
      .with("store i32 %all.turns.on, ptr %wholes, align 4", "");
  ASSERT_TRUE(is_split(loop));
  kir::TestModule module(loop.text());
  ask_for_whole_turns(*module->getFunction("k"));
  Turns found;
  module.function<void(uint32_t, uint32_t, uint32_t, uint32_t*, uint32_t*)>("k")(0, 18, 4, found.counts, &found.whole);
  EXPECT_EQ(found.whole, 6u) << "four whole turns, one of some lanes, one of none";
}

TEST(WholeTurns, AreAskedForByABranchToo) {
  Loop loop;
  loop.with("switch i4 %bits, label %some [\n        i4 0, label %on\n        i4 -1, label %all\n      ]",
            "%yes = icmp eq i4 %bits, -1\n br i1 %yes, label %all, label %others\n    others:\n"
            "      %no = icmp eq i4 %bits, 0\n br i1 %no, label %on, label %some")
      .with("[ zeroinitializer, %turn ]", "[ zeroinitializer, %others ]")
      .with("[ %n, %turn ]", "[ %n, %others ]")
      .with("[ %count, %turn ]", "[ %count, %others ]")
      .with("[ %all.turns, %turn ]", "[ %all.turns, %others ]");
  EXPECT_TRUE(is_split(loop));
  expect_right<int32_t>(loop);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
