#include <llvm/ADT/ArrayRef.h>

#include <string>

#include "backend/cpu/build/rung_comparison_fixture.h"

// Inner blocks and others do what their threads do one at a time.

namespace cupola::cpu::build::testing {
namespace {

constexpr const char* kDeclarations = R"(
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare i32 @cupola.ctaid.z()
    declare i32 @cupola.nctaid.x()
    declare i32 @cupola.nctaid.y()
    declare i32 @cupola.ntid.z()
  )";

/// Where a thread is in the grid, %px and %py, and where that ends, %ends and %ends.y.
constexpr const char* kPlaces = R"(
      %bx = call i32 @cupola.ctaid.x()
      %by = call i32 @cupola.ctaid.y()
      %gx = call i32 @cupola.nctaid.x()
      %gy = call i32 @cupola.nctaid.y()
      %ox = mul i32 %bx, %width
      %px = add i32 %ox, %x
      %oy = mul i32 %by, %lines
      %py = add i32 %oy, %y
      %ends = mul i32 %gx, %width
      %ends.y = mul i32 %gy, %lines
      )";

/// A thread's word %r says what each of `answers` (i1) is, of questions for kPlaces.
std::string kernel_that_asks(const std::string& questions, llvm::ArrayRef<std::string> answers,
                             const std::string& between = "") {
  return kDeclarations +
         kernel_with(kPlaces + std::string(R"(
      %bz = call i32 @cupola.ctaid.z()
      %depth = call i32 @cupola.ntid.z()
      %area = mul i32 %width, %lines
      %count = mul i32 %area, %depth
      %planes = mul i32 %gy, %bz
      %of.plane = add i32 %planes, %by
      %of.row = mul i32 %of.plane, %gx
      %number = add i32 %of.row, %bx
      %ahead = mul i32 %number, %count
      %mine = add i32 %ahead, %me
      )") + questions +
                     R"(
      %r0 = add i32 %mine, 100000
      )" +
                     [&] {
                       std::string sum;
                       for (size_t i = 0; i < answers.size(); ++i)
                         sum += formatted("%b{0} = select i1 {1}, i32 {2}, i32 0\n%r{3} = add i32 %r{0}, %b{0}\n", i,
                                          answers[i], 1000000 << i, i + 1);
                       return sum;
                     }() +
                     between +
                     formatted(R"(
      %at = zext i32 %mine to i64
      %to = getelementptr i32, ptr %o32, i64 %at
      %r = add i32 %r{}, 0
      store i32 %r, ptr %to
      %once = atomicrmw add ptr %sums, i32 1 monotonic
      br label %out)",
                               answers.size()) +
                     R"(
    unused:
      br label %write)");
}

// Places of 32 bits at both ends of what they hold, below and above bounds, alone and as wider numbers.
TEST(VectorDifferential, BlocksAskedForTheirPlacesAnswerAsTheirThreads) {
  struct Numbers {
    const char *as, *begin;  ///< as: a wider number, by its sign or not
    bool down = false;       ///< from the first thread of the grid on
  };
  int count = 0;
  for (const char* asked : {"slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "eq", "ne"})
    for (const auto& [as, begin, down] : {Numbers{"", "0"},
                                          {"", "-40"},
                                          {"", "2147483550"},
                                          {"", "100", true},
                                          {"", "-2147483600", true},
                                          {"sext", "-40"},
                                          {"sext", "2147483550"},
                                          {"zext", "-40"},
                                          {"zext", "100", true}}) {
      ++count;
      const std::string bounds[] = {std::to_string(count % 7 * 16) + ", 0", formatted("%ends, {}", -(count % 70)),
                                    formatted("%ends, {}", begin)};
      std::string text = formatted("%p = {}\n%bound = add i32 {}\n",
                                   down ? formatted("sub i32 {}, %px", begin) : formatted("add i32 %px, {}", begin),
                                   bounds[count % 3]);
      // Both extended alike would be compared as they are.
      if (*as)
        text += formatted("%wide = {} i32 %p to i64\n%far = {} i32 %bound to i64\n", as, *as == 's' ? "zext" : "sext");
      text += formatted("%is = icmp {} {}\n", asked, *as ? "i64 %wide, %far" : "i32 %p, %bound");
      // Beside a question whose answer is known: alone it would be asked of each thread.
      text += "%within = icmp ult i32 %px, %ends\n";
      EXPECT_EQ(
          RungComparison({5}).compare_for_shape(kernel_that_asks(text, {"%is", "%within"}), Dim3{40}, /*hot=*/true), "")
          << text;
    }
}

// Behind a condition that threads of the block give different answers to, sums of bits that are apart for those who go
// on.
TEST(VectorDifferential, BlocksAskedForSumsOfBitsAnswerAsThoseWhoAskThem) {
  for (const int begin : {-1, 0, 1, 2, 3})
    for (const int end : {-34, -33, -32, -31, -30, -2, -1, 0, 1})
      EXPECT_EQ(RungComparison({5}).compare_for_shape(kernel_that_asks(formatted(R"(
      %p = add i32 %px, {}
      %end = add i32 %ends, {}
      %within = icmp slt i32 %p, %end
      br i1 %within, label %inside, label %out
    inside:
      %low = and i32 %p, 1
      %even = icmp eq i32 %low, 0
      br i1 %even, label %ask, label %out
    ask:
      %next = or disjoint i32 %p, 1
      %is = icmp slt i32 %next, %end
      )",
                                                                                 begin, end),
                                                                       {"%is"}),
                                                      Dim3{32}, /*hot=*/true),
                "")
          << begin << " " << end;
}

/// A kernel of rows alone, whose threads write where they are and whether they lie at a border, a place or two wide, of
/// the grid. `inside`: makes %v, of those that do not.
std::string kernel_with_borders(const std::string& inside) {
  return kDeclarations + kernel_with(kPlaces + std::string(R"(
      %last.x = add i32 %ends, -2
      %last.y = add i32 %ends.y, -1
      %left = icmp slt i32 %px, 1
      %right = icmp sgt i32 %px, %last.x
      %top = icmp eq i32 %py, 0
      %bottom = icmp eq i32 %py, %last.y
      %a = or i1 %left, %right
      %b = or i1 %top, %bottom
      %border = or i1 %a, %b
      %row = mul i32 %py, %ends
      %index = add i32 %row, %px
      %at = zext i32 %index to i64
      %to = getelementptr i32, ptr %o32, i64 %at
      %r0 = mul i32 %index, 3
      br i1 %border, label %mark, label %inside
    mark:
      %r1 = sub i32 -5, %r0
      br label %meet
    inside:
      )") + inside + R"(
      %r2 = add i32 %r0, %v
      br label %meet
    meet:
      %r3 = phi i32 [ %r1, %mark ], [ %r2, %inside ]
      store i32 %r3, ptr %to
      br label %out
    unused:
      %r = add i32 %r3, 0
      br label %write)");
}

// Of blocks beside each other some by code for inner ones, in each row of threads: none, one, all but those at the
// ends of the grid, in more blocks than a call runs. Those that read what others read go every second one first.
TEST(VectorDifferential, InnerBlocksTakeTurnsWithOthers) {
  const char* const above = R"(
      %up = sub i32 %index, %ends
      %up.at = zext i32 %up to i64
      %here = getelementptr i32, ptr %o64, i64 %at
      %there = getelementptr i32, ptr %o64, i64 %up.at
      %v0 = load i32, ptr %here
      %v1 = load i32, ptr %there
      %v2 = add i32 %v0, 4097
      %v = sub i32 %v2, %v1)";
  for (const char* inside : {"%v = xor i32 %index, 4097", above})
    for (const Dim3& grid : {Dim3{2, 3}, Dim3{3, 3}, Dim3{7, 2}, Dim3{9, 4}, Dim3{40, 3}, Dim3{70, 3}})
      for (const Dim3& block : {Dim3{32, 4}, Dim3{64, 2}, Dim3{32, 1}, Dim3{16, 4}, Dim3{8, 8}})
        EXPECT_EQ(RungComparison(grid).compare_for_shape(kernel_with_borders(inside), block, /*hot=*/true), "")
            << inside << " " << grid.x << " " << grid.y << ", " << block.x << " " << block.y;
}

/// A kernel whose threads say what an index of 32 bits is as one of 64, of which addresses are made: by bits of a
/// product that all its bits are in. %i, %j of `indices`; beside one that does not wrap, and questions that have the
/// same answer for all. What it takes of the grid of 3 x 7 blocks: %gx is 3, %gy 7.
std::string kernel_with_indices(const std::string& indices) {
  const auto of = [](const std::string& index) {
    return formatted(R"(
      %{0}.exact = sext i32 %{0} to i64
      %{0}.place = getelementptr i8, ptr %o64, i64 %{0}.exact
      %{0}.nowhere = icmp eq ptr %{0}.place, null
      %{0}.spread = mul i64 %{0}.exact, -7046029254386353131
      %{0}.high = lshr i64 %{0}.spread, 61
      %{0}.higher = lshr i64 %{0}.spread, 62
      %{0}.one = trunc i64 %{0}.high to i1
      %{0}.other = trunc i64 %{0}.higher to i1
      %{0}.third = icmp slt i64 %{0}.spread, 0
      )",
                     index);
  };
  const bool are_two = indices.find("%j = ") != std::string::npos;
  return kernel_that_asks("%near.rows = mul i32 %py, %gx\n%near = add i32 %near.rows, %px\n" + of("near") + indices +
                              (are_two ? of("j") : "%j.third = icmp eq i32 %gx, 0\n%j.nowhere = icmp eq i32 %gy, 0\n") +
                              of("i") + R"(
      %within = icmp slt i32 %px, %ends
      %within.y = icmp slt i32 %py, %ends.y
      )",
                          {"%i.one", "%i.other", "%i.third", "%i.nowhere", "%near.one", "%near.nowhere", "%j.third",
                           "%j.nowhere", "%within", "%within.y"});
}

std::string compare_indices(const std::string& indices, const Dim3& block) {
  return RungComparison({3, 7}).compare_for_shape(kernel_with_indices(indices), block, /*hot=*/true);
}

// Indices of 32 bits that wrap in some blocks, or within some.
TEST(VectorDifferential, BlocksWhoseIndicesWrapAreNoInnerOnes) {
  const std::string far_away =
      "%a = mul i32 %py, %k\n%j = add i32 %a, %px\n%far = xor i32 %k, 1431655765\n"
      "%i = add i32 %j, %far\n";
  for (const char* index :
       {"%rows = mul i32 %py, %k\n%i = add i32 %rows, %px\n", "%rows = mul i32 %k, %py\n%i = sub i32 %px, %rows\n",
        "%rows = mul i32 %py, %k\n%ij = add i32 %rows, %px\n%i = sub i32 %ij, %k\n",
        "%below = sub i32 1000, %px\n%rows = mul i32 %below, %k\n%i = add i32 %rows, -7\n",
        "%a = mul i32 %py, %k\n%b = mul i32 %px, %k\n%ab = add i32 %a, %b\n%i = sub i32 %ab, %y\n",
        "%a = mul i32 %z, %gx\n%b = add i32 %a, %py\n%c = mul i32 %b, %k\n%i = add i32 %c, %px\n",
        "%a = mul i32 %py, %k\n%b = add i32 %a, %px\n%c = mul i32 %b, %gx\n%i = add i32 %c, 3\n", far_away.c_str()})
    for (const int factor : {5, 100000, 20000000, 90000000, -110000000, 400000000})
      for (const Dim3& block : {Dim3{32, 2}, Dim3{16, 4}, Dim3{8, 4, 2}, Dim3{40, 3}}) {
        const std::string indices = formatted("%k = mul i32 %gx, {}\n{}", factor, index);
        EXPECT_EQ(compare_indices(indices, block), "")
            << block.x << " x " << block.y << " x " << block.z << ": " << indices;
      }
}

// Those of the first thread or of the last one alone, in sums of what the block shares.
TEST(VectorDifferential, BlocksWhoseIndicesWrapAtTheirEndsAreNoInnerOnes) {
  const std::string of_both_ends =
      "%m = mul i32 %gy, 33\n%k = xor i32 %gy, 1000\n%sum = add i32 %begin, %m\n"
      "%t = add i32 %sum, %px\n%i = sub i32 %t, %k\n";
  for (const char* begin : {"2147483500", "2147483570", "2147483640", "-2147483570", "-2147483640"})
    for (const char* index :
         {"%i = add i32 %px, %begin\n", "%i = sub i32 %begin, %px\n",
          "%thrice = mul i32 %px, 3\n%ij = sub i32 %begin, %thrice\n%i = add i32 %ij, 20\n",
          "%rows = mul i32 %py, %gx\n%i = sub i32 %px, %rows\n%j = add i32 %i, %begin\n",
          "%rows = mul i32 %py, %gx\n%i = add i32 %px, %rows\n%j = add i32 %i, %begin\n",
          "%rows = mul i32 %py, %gx\n%j = add i32 %begin, %rows\n%i = sub i32 %begin, %rows\n",
          "%rows = mul i32 %py, %gx\n%j = sub i32 %begin, %rows\n%i = add i32 %begin, %rows\n",
          "%rows = mul i32 %py, %gx\n%i = sub i32 %begin, %rows\n",
          "%rows = mul i32 %py, %gx\n%ij = sub i32 %begin, %rows\n%i = add i32 %ij, %y\n", of_both_ends.c_str(),
          "%sum = sub i32 0, %begin\n%t = add i32 %sum, %x\n%i = add i32 %t, -400\n"}) {
      const std::string indices = formatted("%begin = xor i32 %gx, {}\n{}", begin, index);
      EXPECT_EQ(compare_indices(indices, Dim3{32, 2}), "") << indices;
      EXPECT_EQ(compare_indices(indices, Dim3{16, 4}), "") << indices;
    }
}

// What is multiplied has wrapped already.
TEST(VectorDifferential, BlocksWhoseIndicesAreProductsOfWhatWrapsAreNoInnerOnes) {
  for (const char* part : {"1431655765", "1073741824", "-1073741830", "100000000"})
    for (const char* index : {"%i = mul i32 %s, 3\n", "%i = shl i32 %s, 2\n", "%i = mul i32 %s, -64\n",
                              "%t = shl i32 %s, 2\n%i = or disjoint i32 %t, 1\n"}) {
      const std::string indices = formatted("%part = xor i32 %gx, {}\n%s = add i32 %px, %part\n{}", part, index);
      EXPECT_EQ(compare_indices(indices, Dim3{32, 2}), "") << indices;
      EXPECT_EQ(compare_indices(indices, Dim3{16, 4}), "") << indices;
    }
}

// Between corners of a block that lie apart by what 64 bits hold: 4 rows, each 2^62 from the one before.
TEST(VectorDifferential, BlocksWhoseRowsWrapIn64BitsAreNoInnerOnes) {
  const std::string rows = R"(
      %k = xor i32 %gx, 2147483651
      %rows = mul i32 %py, %k
      %of.both = add i32 %rows, %z
      %i = mul i32 %of.both, %k
      )";
  EXPECT_EQ(compare_indices(rows, Dim3{8, 5, 2}), "");
}

// Rows of the grid have blocks of both kinds, more or less of them beside each other, and ranges begin anywhere.
TEST(VectorDifferential, InnerBlocksAndOthersAreAllRun) {
  const std::string borders = R"(
      %is.left = icmp sgt i32 %px, 0
      %last = sub i32 %ends, 1
      %is.right = icmp slt i32 %px, %last
      %is.top = icmp ne i32 %py, 0
      %last.y = sub i32 %ends.y, 1
      %is.bottom = icmp ne i32 %py, %last.y
      )";
  const std::string meet = "call void @cupola.barrier(i32 0, i32 0)\n";
  for (const std::string& between : {std::string(), meet})
    for (const Dim3& grid : {Dim3{1}, Dim3{5}, Dim3{45}, Dim3{3, 4, 2}, Dim3{22, 3}})
      for (const Dim3& block : {Dim3{32}, Dim3{16, 4}, Dim3{8, 8, 2}, Dim3{40, 2}})
        EXPECT_EQ(RungComparison(grid).compare_for_shape(
                      kernel_that_asks(borders, {"%is.left", "%is.right", "%is.top", "%is.bottom"}, between), block,
                      /*hot=*/true),
                  "")
            << grid.x << " x " << grid.y << " x " << grid.z << " blocks of " << block.x << " x " << block.y << between;
}

}  // namespace
}  // namespace cupola::cpu::build::testing
