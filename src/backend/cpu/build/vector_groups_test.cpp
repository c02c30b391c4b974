#include "backend/cpu/build/vector_groups.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: what a thread reads and writes in the order of its program, which doing accesses together must not change.

namespace cupola::cpu::build::testing {
namespace {

/// A kernel in which lane i has the places %x, %y, %z and %w of a structure of four floats, and %other elsewhere.
std::string kernel(const std::string& body, const std::string& parameters = "ptr %p, ptr %q") {
  return R"(
    declare void @someone() memory(readwrite)
    define ptx_kernel void @k()" +
         parameters + R"() {
      %l = call i32 @cupola.laneid()
      %i = zext i32 %l to i64
      %x = getelementptr [4 x float], ptr %p, i64 %i
      %y = getelementptr i8, ptr %x, i64 4
      %z = getelementptr i8, ptr %x, i64 8
      %w = getelementptr i8, ptr %x, i64 12
      %other = getelementptr float, ptr %q, i64 %i
      )" +
         body + R"(
      ret void
    })";
}

/// The groups' sizes, and after a dash their fields that are used, as bits.
std::multiset<std::string> groups_of(const std::string& text) {
  std::multiset<std::string> result;
  for (const auto& one : AnalysedKernel(text).groups().all())
    result.insert((one->is_store() ? "stores " : "loads ") + std::to_string(one->members.size()) + "-" +
                  std::to_string(one->used()));
  return result;
}

using Found = std::multiset<std::string>;

TEST(VectorGroups, FieldsOfAStructureAreReadWhereTheFirstIs) {
  const AnalysedKernel read(kernel(R"(
      %b = load float, ptr %z
      %a = load i32, ptr %x
      %c = load float, ptr %w)"));
  const Groups groups = read.groups();
  const Group* group = groups.of(read.value("a"));
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->place, read.value("b"));
  EXPECT_EQ(group->members.size(), 3u);
  EXPECT_EQ(group->fields, 4u);
  EXPECT_EQ(group->used(), 0b1101u);
  EXPECT_EQ(groups.of(read.value("c")), group);
}

TEST(VectorGroups, FieldsAreWrittenWhereTheLastIs) {
  const AnalysedKernel written(kernel("store float 1.0, ptr %x\n store float 2.0, ptr %y\n store float 3.0, ptr %z"));
  const Groups groups = written.groups();
  ASSERT_EQ(groups.all().size(), 1u);
  EXPECT_EQ(llvm::getLoadStorePointerOperand(groups.all()[0]->place), written.value("z"));
  EXPECT_EQ(groups.all()[0]->used(), 0b111u);
}

TEST(VectorGroups, AStoreThatMayChangeAFieldStandsBetweenLoads) {
  EXPECT_EQ(groups_of(kernel(R"(
      %a = load float, ptr %x
      store float %a, ptr %other
      %b = load float, ptr %y)")),
            (Found{"loads 1-1", "loads 1-1"}));
  // Where it cannot, of another field or of memory that nobody else's pointer leads to, it does not.
  EXPECT_EQ(groups_of(kernel(R"(
      %a = load float, ptr %x
      store float %a, ptr %other
      %b = load float, ptr %y)",
                             "ptr %p, ptr noalias %q")),
            (Found{"loads 2-3"}));
  EXPECT_EQ(groups_of(kernel(R"(
      %a = load float, ptr %x
      store float %a, ptr %x
      %b = load float, ptr %y
      store float %b, ptr %y)")),
            (Found{"loads 2-3", "stores 2-3"}));
}

TEST(VectorGroups, ALoadThatMayReadAFieldStandsBetweenStores) {
  EXPECT_EQ(groups_of(kernel(R"(
      store float 1.0, ptr %x
      %a = load float, ptr %other
      store float %a, ptr %y)")),
            (Found{"stores 1-1", "stores 1-1"}));
}

TEST(VectorGroups, AFieldThatIsWrittenTwiceIsNotOneStore) {
  EXPECT_EQ(groups_of(kernel(R"(
      store float 1.0, ptr %x
      store float 2.0, ptr %x
      store float 3.0, ptr %y)")),
            (Found{"stores 1-1", "stores 2-3"}));
}

// The first store waits for the third, which is behind the load of what it writes.
TEST(VectorGroups, ALoadDoesNotPassAStoreThatWaits) {
  EXPECT_EQ(groups_of(kernel(R"(
      store float 1.0, ptr %x
      %a = load float, ptr %w
      store float 2.0, ptr %y
      %b = load float, ptr %x)")),
            (Found{"loads 1-1", "loads 1-1", "stores 2-3"}));
}

TEST(VectorGroups, OtherThreadsStandBetween) {
  for (const std::string between :
       {"call void @cupola.barrier(i32 0, i32 0)", "call void @someone()", "fence seq_cst",
        "%v = load volatile float, ptr %other", "store atomic i32 1, ptr %other monotonic, align 4"})
    EXPECT_EQ(groups_of(kernel("%a = load float, ptr %x\n" + between + "\n %b = load float, ptr %y")),
              (Found{"loads 1-1", "loads 1-1"}))
        << between;
}

TEST(VectorGroups, VolatileAndAtomicAccessesAreInNone) {
  EXPECT_EQ(groups_of(kernel("%a = load volatile float, ptr %x\n %b = load atomic i32, ptr %y monotonic, align 4")),
            Found{});
}

TEST(VectorGroups, OnlyFieldsOfOneStructureAndOneSizeAreOne) {
  EXPECT_EQ(groups_of(kernel(R"(
      %further = getelementptr i8, ptr %x, i64 16
      %a = load float, ptr %y
      %b = load float, ptr %further
      %c = load float, ptr %other
      %d = load i16, ptr %z)")),
            (Found{"loads 2-9"}));  // y, z, w, and the next structure's x; 16 bits are one field of eight
}

}  // namespace
}  // namespace cupola::cpu::build::testing
