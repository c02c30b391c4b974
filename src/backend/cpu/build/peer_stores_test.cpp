#include "backend/cpu/build/peer_stores.h"

#include "backend/cpu/build/analysed_kernel.h"

// Which stores of the first of some lanes become all of theirs. What they leave is in tests/kernels/in_step.cu.

namespace cupola::cpu::build::testing {
namespace {

/// The lanes' numbers, who has the same, whether a lane is the first of them, and what that one does. Of %x, a number
/// of the lane's own, %lane, %below (the lanes below it), %base and %n.
struct Leaders {
  std::string digit = "%digit = and i32 %x, 7";
  std::string peers;
  std::string first = "%mine = and i32 %peers, %below\n%c = icmp eq i32 %mine, 0\nbr i1 %c, label %way, label %behind";
  std::string way = R"(
    %count = call i32 @llvm.ctpop.i32(i32 %peers)
    %wide = zext i32 %digit to i64
    %place = getelementptr i32, ptr %base, i64 %wide
    store i32 %count, ptr %place)";
  std::string outer = "br label %ask";  ///< leads to %ask or to %behind
  BlockClass blocks = BlockClass::Rows;
};

std::string ballot(int bit, const std::string& number, const std::string& members = "-1") {
  return formatted("%b{0} = call i32 @cupola.vote(i32 {1}, i32 3, i32 {2})\n", bit, members, number);
}

/// Who has bit `bit` of %digit as the lane has it, by the forms that LLVM makes of `peers &= digit >> bit & 1 ? b :
/// ~b`.
std::string by_sums(int bit) {
  return formatted("%o{0} = and i32 %digit, {1}\n%d{0} = lshr i32 %o{0}, {0}\n", bit, 1 << bit) +
         ballot(bit, formatted("%d{}", bit)) +
         formatted("%m{0} = add i32 %d{0}, -1\n%a{0} = xor i32 %b{0}, %m{0}\n", bit);
}
std::string by_comparisons(int bit) {
  return formatted("%o{0} = and i32 %digit, {1}\n%is{0} = icmp ne i32 %o{0}, 0\n%d{0} = zext i1 %is{0} to i32\n", bit,
                   1 << bit) +
         ballot(bit, formatted("%d{}", bit)) +
         formatted("%no{0} = icmp eq i32 %o{0}, 0\n%m{0} = sext i1 %no{0} to i32\n%a{0} = xor i32 %m{0}, %b{0}\n", bit);
}
std::string by_choices(int bit) {
  return formatted("%s{0} = lshr i32 %digit, {0}\n%d{0} = and i32 %s{0}, 1\n%is{0} = trunc i32 %s{0} to i1\n", bit) +
         ballot(bit, formatted("%d{}", bit)) +
         formatted("%n{0} = xor i32 %b{0}, -1\n%a{0} = select i1 %is{0}, i32 %b{0}, i32 %n{0}\n", bit);
}
/// Of the highest bit.
std::string by_bounds(int bit) {
  return formatted("%d{0} = lshr i32 %digit, {0}\n", bit) + ballot(bit, formatted("%d{}", bit)) +
         formatted("%no{0} = icmp ult i32 %digit, {1}\n%m{0} = sext i1 %no{0} to i32\n%a{0} = xor i32 %b{0}, %m{0}\n",
                   bit, 1 << bit);
}

/// Who has all of three bits as the lane has them.
std::string alike(const std::string& bits, int first = 0) {
  return bits + formatted("%two = and i32 %a{}, %a{}\n%peers = and i32 %two, %a{}\n", first, first + 1, first + 2);
}
const std::string kPeers = alike(by_sums(0) + by_sums(1) + by_sums(2));

bool all_store(const Leaders& leaders) {
  AnalysedKernel kernel(R"(
    declare i32 @llvm.ctpop.i32(i32)
    declare i32 @llvm.cttz.i32(i32, i1)
    define ptx_kernel void @k(ptr %in, ptr %base, i32 %n) {
    start:
      %i = call i32 @cupola.tid.x()
      %lane = and i32 %i, 31
      %above = shl i32 -1, %lane
      %below = xor i32 %above, -1
      %far = zext i32 %i to i64
      %from = getelementptr i32, ptr %in, i64 %far
      %x = load i32, ptr %from
      )" + leaders.outer + R"(
    ask:
      )" + leaders.digit + "\n" +
                            leaders.peers + "\n" + leaders.first + R"(
    way:
      )" + leaders.way + R"(
      br label %behind
    behind:
      ret void
    })",
                        leaders.blocks);
  return kernel.store_with_peers();
}

TEST(PeerStores, AllStoreWhatTheFirstOfTheirPeersDoes) {
  EXPECT_TRUE(all_store({.peers = kPeers}));
  EXPECT_TRUE(all_store({.peers = alike(by_comparisons(0) + by_comparisons(1) + by_bounds(2))}));
  EXPECT_TRUE(all_store({.peers = alike(by_choices(0) + by_choices(1) + by_choices(2))}));
  EXPECT_TRUE(all_store({.digit = "%digit = and i32 %x, 56", .peers = alike(by_sums(3) + by_sums(4) + by_sums(5), 3)}))
      << "bits that are known to be clear need no vote";
  EXPECT_TRUE(all_store(
      {.peers = kPeers,
       .first = "%f = call i32 @llvm.cttz.i32(i32 %peers, i1 true)\n%c = icmp eq i32 %f, %lane\nbr i1 %c, label %way, "
                "label %behind"}));
  EXPECT_TRUE(all_store({.peers = kPeers,
                         .first = "%mine = and i32 %below, %peers\n%c = icmp ne i32 %mine, 0\nbr i1 %c, label "
                                  "%behind, label %way"}));
  EXPECT_TRUE(all_store({.digit = "%digit = mul i32 %x, 3",
                         .peers = "%w = zext i32 %digit to i64\n%all = call i64 @cupola.match(i32 -1, i32 0, i64 %w)\n"
                                  "%peers = trunc i64 %all to i32"}));
}

TEST(PeerStores, APlaceMayBeAmongThoseOfTheWarp) {
  const auto at = [](const std::string& place, const std::string& store = "store i32 %n, ptr %place") {
    return Leaders{.peers = kPeers, .way = "%warp = lshr i32 %i, 5\n" + place + "\n" + store};
  };
  const std::string row = "%row = shl i32 %warp, 3\n", wide = "%wide = zext i32 %index to i64\n",
                    place = "%place = getelementptr i32, ptr %base, i64 %wide";
  EXPECT_TRUE(all_store(at(row + "%index = add i32 %row, %digit\n" + wide + place)));
  EXPECT_TRUE(all_store(at(row + "%index = or disjoint i32 %digit, %row\n" + wide + place)));
  EXPECT_FALSE(all_store(at(row + "%index = or i32 %digit, %row\n" + wide + place)));
  EXPECT_TRUE(all_store(at("%column = shl i32 %digit, 5\n%index = add i32 %column, %warp\n" + wide + place)));
  EXPECT_FALSE(all_store(at("%column = shl i32 %digit, 30\n%index = add i32 %column, %warp\n" + wide + place)))
      << "bits that are shifted out";
  EXPECT_FALSE(all_store(at("%index = add i32 %i, %digit\n" + wide + place))) << "the lane's own";
  const std::string bytes =
      "%wide = zext i32 %digit to i64\n%bytes = shl nuw nsw i64 %wide, 2\n%place = getelementptr i8, "
      "ptr %base, i64 %bytes";
  EXPECT_TRUE(all_store(at(bytes)));
  EXPECT_FALSE(all_store(at(bytes, "store i64 7, ptr %place"))) << "the next number's place as well";
}

TEST(PeerStores, NotIfSomePeersHaveOtherNumbers) {
  EXPECT_FALSE(all_store({.digit = "%digit = and i32 %x, 15", .peers = kPeers})) << "a bit that none voted on";
  EXPECT_FALSE(all_store({.digit = "%digit = mul i32 %x, 3", .peers = kPeers}));
  EXPECT_FALSE(all_store({.digit = "%digit = and i32 %x, 3",
                          .peers = alike(by_sums(0) + by_sums(1) + "%o2 = and i32 %x, 4\n%d2 = lshr i32 %o2, 2\n" +
                                         ballot(2, "%d2") + "%m2 = add i32 %d2, -1\n%a2 = xor i32 %b2, %m2\n")}))
      << "a bit more than the place has: two sets' place is the same";
  EXPECT_FALSE(all_store({.peers = by_sums(0) + by_sums(1) + "%peers = and i32 %a0, %a1"}));
  EXPECT_FALSE(all_store({.peers = "%o2 = and i32 %i, 4\n%d2 = lshr i32 %o2, 2\n" + ballot(2, "%d2") +
                                   "%m2 = add i32 %d2, -1\n%a2 = xor i32 %b2, %m2\n" + by_sums(0) + by_sums(1) +
                                   "%two = and i32 %a2, %a0\n%peers = and i32 %two, %a1\n"}));
  EXPECT_FALSE(all_store({.peers = alike(by_sums(0) + by_sums(1) + "%o2 = and i32 %i, 4\n%d2 = lshr i32 %o2, 2\n" +
                                         ballot(2, "%d2") + "%m2 = add i32 %d2, -1\n%a2 = xor i32 %b2, %m2\n")}))
      << "bits of two numbers";
}

TEST(PeerStores, NotIfTheSetIsAnother) {
  const auto with_third = [](const std::string& third) {
    return Leaders{.peers =
                       alike(by_sums(0) + by_sums(1) + "%o2 = and i32 %digit, 4\n%d2 = lshr i32 %o2, 2\n" + third)};
  };
  const std::string unlike = "%m2 = add i32 %d2, -1\n%a2 = xor i32 %b2, %m2\n";
  ASSERT_TRUE(all_store(with_third(ballot(2, "%d2") + unlike)));
  EXPECT_FALSE(all_store(with_third(ballot(2, "%d2", "%n") + unlike))) << "of some lanes";
  EXPECT_FALSE(all_store(with_third("%b2 = call i32 @cupola.vote(i32 -1, i32 1, i32 %d2)\n" + unlike))) << "any";
  EXPECT_FALSE(all_store(with_third(ballot(2, "%d2") + "%m2 = sub i32 0, %d2\n%a2 = xor i32 %b2, %m2\n")))
      << "those that have the other bit";
  EXPECT_FALSE(all_store(with_third(ballot(2, "%d1") + unlike))) << "another bit than voted on";
  EXPECT_FALSE(all_store(with_third(ballot(2, "%d2") + "%m2 = add i32 %d2, -1\n%a2 = or i32 %b2, %m2\n")));
  const auto matched = [](const std::string& operands) {
    return Leaders{.digit = "%digit = mul i32 %x, 3",
                   .peers = "%w = zext i32 %digit to i64\n%all = call i64 @cupola.match(" + operands +
                            ", i64 %w)\n%peers = trunc i64 %all to i32"};
  };
  ASSERT_TRUE(all_store(matched("i32 -1, i32 0")));
  EXPECT_FALSE(all_store(matched("i32 -1, i32 1"))) << "all or nobody";
  EXPECT_FALSE(all_store(matched("i32 %n, i32 0"))) << "of some lanes";
}

TEST(PeerStores, NotIfAnotherThanTheFirstStores) {
  const auto where = [](const std::string& condition) {
    return Leaders{.peers = kPeers, .first = condition + "\nbr i1 %c, label %way, label %behind"};
  };
  EXPECT_FALSE(all_store(where("%mine = and i32 %peers, %below\n%c = icmp ne i32 %mine, 0")));
  EXPECT_FALSE(all_store(where("%mine = and i32 %peers, %above\n%c = icmp eq i32 %mine, 0")));
  EXPECT_FALSE(all_store(where("%mine = and i32 %peers, %below\n%c = icmp eq i32 %mine, 1")));
  EXPECT_FALSE(all_store(where("%mine = and i32 %peers, %n\n%c = icmp eq i32 %mine, 0")));
  EXPECT_FALSE(all_store(where("%f = call i32 @llvm.cttz.i32(i32 %peers, i1 true)\n%c = icmp eq i32 %f, %i")));
}

TEST(PeerStores, TheFirstIsKnownInSeveralForms) {
  const auto where = [](const std::string& condition) {
    return Leaders{.peers = kPeers, .first = condition + "\nbr i1 %c, label %way, label %behind"};
  };
  EXPECT_TRUE(
      all_store(where("%bit = shl i32 1, %lane\n%less = add i32 %bit, -1\n%mine = and i32 %peers, %less\n%c = icmp "
                      "eq i32 %mine, 0")));
  EXPECT_TRUE(
      all_store(where("%own = call i32 @cupola.laneid()\n%no = shl i32 -1, %own\n%less = xor i32 %no, -1\n%mine = "
                      "and i32 %peers, %less\n%c = icmp eq i32 %mine, 0")));
  const std::string first = "%f = call i32 @llvm.cttz.i32(i32 %peers, i1 true)\n";
  EXPECT_TRUE(all_store(where(first + "%c = icmp eq i32 %lane, %f")));
  const std::string some = first + "%is = icmp eq i32 %f, %lane\n%some = icmp ne i32 %peers, 0\n";
  EXPECT_TRUE(all_store(where(some + "%c = select i1 %some, i1 %is, i1 false"))) << "__ffs(peers) - 1";
  EXPECT_FALSE(all_store(where(some + "%other = icmp ne i32 %x, 0\n%c = select i1 %other, i1 %is, i1 false")));
}

TEST(PeerStores, NotIfTheyWouldStoreSomethingElseOrElsewhere) {
  const auto doing = [](const std::string& value, const std::string& place, const std::string& store) {
    return Leaders{.peers = kPeers, .way = value + "\n%wide = zext i32 %digit to i64\n" + place + "\n" + store};
  };
  const std::string place = "%place = getelementptr i32, ptr %base, i64 %wide", store = "store i32 %v, ptr %place";
  ASSERT_TRUE(all_store(doing("%v = mul i32 %digit, %n", place, store)));
  EXPECT_FALSE(all_store(doing("%v = mul i32 %lane, %n", place, store))) << "the lane's own";
  EXPECT_FALSE(all_store(doing("%v = load i32, ptr %base", place, store))) << "that others may have written";
  EXPECT_FALSE(all_store(doing("%v = and i32 %x, 15", place, store))) << "a bit that they do not have alike";
  Leaders array = doing("%a = ptrtoint ptr %own to i64\n%v = trunc i64 %a to i32", place, store);
  array.digit = "%own = alloca i32\n" + array.digit;
  EXPECT_FALSE(all_store(array)) << "where the lane's own array is";
  EXPECT_FALSE(all_store(doing("%v = add i32 %n, 1\n%seen = load volatile i32, ptr %in", place, store)))
      << "more than to store";
  EXPECT_FALSE(all_store(doing("%v = add i32 %n, 1", place, ""))) << "nothing";
  EXPECT_FALSE(
      all_store(doing("%v = add i32 %n, 1", "%place = getelementptr [8 x i32], ptr %base, i64 %far, i64 %wide", store)))
      << "in a row of the lane's own";
  EXPECT_FALSE(all_store(doing("%v = add i32 %n, 1", place, "store volatile i32 %v, ptr %place")));
  EXPECT_FALSE(all_store(doing("%v = add i32 %n, 1", place, "%old = atomicrmw add ptr %place, i32 %v monotonic")));
  EXPECT_FALSE(all_store(doing("%v = udiv i32 7, %digit", place, store))) << "by zero, of a lane that would not";
  EXPECT_FALSE(all_store(doing("%v = add i32 %n, 1", "%place = getelementptr i16, ptr %base, i64 %wide", store)))
      << "the next number's place as well";
  EXPECT_FALSE(all_store(doing("%v = add i32 %digit, 1",
                               "%half = lshr i64 %wide, 1\n%place = getelementptr i32, ptr %base, i64 %half", store)))
      << "two numbers' place: the last lane's is left there";
  EXPECT_FALSE(all_store(doing("%v = add i32 %n, 1",
                               "%own = getelementptr i32, ptr %base, i64 %far\n%place = getelementptr i32, ptr %own, "
                               "i64 %wide",
                               store)));
}

TEST(PeerStores, NotIfALaneMayNotBeThere) {
  EXPECT_FALSE(all_store({.peers = kPeers, .blocks = BlockClass::Line})) << "its last warp may be part of one";
  EXPECT_FALSE(all_store({.peers = kPeers, .blocks = BlockClass::Rows16})) << "threadIdx.x is not the lane";
  EXPECT_FALSE(all_store({.peers = kPeers, .outer = "%o = icmp slt i32 %x, %n\nbr i1 %o, label %ask, label %behind"}));
  EXPECT_TRUE(all_store({.peers = kPeers, .outer = "%o = icmp slt i32 %n, 9\nbr i1 %o, label %ask, label %behind"}))
      << "all go the same way";
  EXPECT_FALSE(all_store({.peers = kPeers, .outer = "%o = icmp slt i32 %i, %n\nbr i1 %o, label %ask, label %behind"}))
      << "some return early";
  EXPECT_FALSE(
      all_store({.peers = kPeers,
                 .first = "%near = icmp slt i32 %x, %n\nbr i1 %near, label %look, label %behind\nlook:\n%mine = "
                          "and i32 %peers, %below\n%c = icmp eq i32 %mine, 0\nbr i1 %c, label %way, label "
                          "%behind"}))
      << "all vote, and some store";
  EXPECT_FALSE(
      all_store({.peers = kPeers,
                 .first = "%seen = load volatile i32, ptr %from\n%again = icmp slt i32 %seen, %n\nbr i1 %again, label "
                          "%ask, label %after\nafter:\n%mine = and i32 %peers, %below\n%c = icmp eq i32 %mine, "
                          "0\nbr i1 %c, label %way, label %behind"}))
      << "in a loop that lanes leave at different turns";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
