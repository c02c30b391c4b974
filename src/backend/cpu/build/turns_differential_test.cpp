#include <string>

#include "backend/cpu/build/rung_comparison_fixture.h"

// Turns of loops that a block, or blocks beside each other, take together: what they do is what their threads do one at
// a time.

namespace cupola::cpu::build::testing {
namespace {

// Rows of the block's width, in turns that the block takes together; counters in small steps, and in large ones that
// wrap for some threads before they come to the end.
TEST(VectorDifferential, TurnsOfRowsAreThoseOfTheirThreads) {
  const auto turns = [](const std::string& scale, const std::string& test, const std::string& end) {
    return kernel_with("%first = mul i32 %x, " + scale + "\n%step = mul i32 %width, " + scale + R"(
      br label %head
    head:
      %i = phi i32 [ %first, %0 ], [ %next, %latch ]
      %column = phi i32 [ %x, %0 ], [ %beside, %latch ]
      %sum = phi i32 [ 1, %0 ], [ %more, %latch ]
      %on = icmp )" + test +
                       " i32 %i, " + end + R"(
      br i1 %on, label %body, label %meet
    body:
      %inside = icmp ult i32 %column, 1024
      br i1 %inside, label %read, label %latch
    read:
      %column64 = zext i32 %column to i64
      %from = getelementptr i32, ptr %in, i64 %column64
      %value = load i32, ptr %from
      br label %latch
    latch:
      %a = phi i32 [ 3, %body ], [ %value, %read ]
      %thrice = mul i32 %sum, 3
      %more = add i32 %thrice, %a
      %next = add i32 %i, %step
      %beside = add i32 %column, %width
      br label %head
    meet:
      call void @cupola.barrier(i32 0, i32 0)
      %r = add i32 %sum, %x
      br label %write)");
  };
  for (const Dim3& block : {Dim3{100}, Dim3{33}})
    for (const char* test : {"slt", "sle", "ult", "ule"}) {
      for (const char* end : {"1", "500", "%n"})
        EXPECT_EQ(RungComparison().compare_for_shape(turns("1", test, end), block), "") << test << " " << end;
      const bool is_signed = test[0] == 's';
      if (block.x == 33)
        EXPECT_EQ(
            RungComparison().compare_for_shape(turns("8388609", test, is_signed ? "2080374784" : "-134217728"), block),
            "")
            << test << ", wrapping";
    }
}

// Counts of bytes in shared memory, in turns of the block that all threads have, and those that some have behind them;
// from where the block's part begins, and beside the greatest and the smallest number.
TEST(VectorDifferential, TurnsThatUpdateSharedMemoryAreThoseOfTheirThreads) {
  const auto turns = [](const std::string& type, const std::string& part, const std::string& begin,
                        const std::string& test, const std::string& end) {
    const std::string extend = type == "i32" ? "add i32 0, " : "zext i32 ", to = type == "i32" ? "" : " to i64";
    std::string body = R"(
      %block = call i32 @cupola.ctaid.x()
      %part = mul i32 %block, )" +
                       part + R"(
      %part.wide = )" + extend +
                       "%part" + to + "\n%x.wide = " + extend + "%x" + to + "\n%step = " + extend + "%width" + to + R"(
      %count = getelementptr [40 x i32], ptr addrspacecast (ptr addrspace(3) @counts to ptr), i32 0, i32 %x
      store i32 0, ptr %count
      call void @cupola.barrier(i32 0, i32 0)
      %from.part = add TYPE %part.wide, )" +
                       begin + R"(
      %to.part = add TYPE %part.wide, )" +
                       end + R"(
      %first = add TYPE %from.part, %x.wide
      br label %head
    head:
      %i = phi TYPE [ %first, %0 ], [ %next, %body ]
      %on = icmp )" + test +
                       R"( TYPE %i, %to.part
      br i1 %on, label %body, label %meet
    body:
      %far = sub TYPE %i, %from.part
      %from = getelementptr i8, ptr %in, TYPE %far
      %value = load i8, ptr %from
      %digit = urem i8 %value, 33
      %digit64 = zext i8 %digit to i64
      %mine = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @counts to ptr), i64 %digit64
      %old = atomicrmw add ptr %mine, i32 1 monotonic
      %next = add TYPE %i, %step
      br label %head
    meet:
      call void @cupola.barrier(i32 0, i32 0)
      %sum = load i32, ptr %count
      %all = mul i32 %block, 33
      %me.of.all = add i32 %all, %x
      %me.of.all64 = zext i32 %me.of.all to i64
      %out64 = getelementptr i32, ptr %o64, i64 %me.of.all64
      store i32 %sum, ptr %out64
      %r = add i32 %sum, %x
      br label %write)";
    for (size_t at; (at = body.find("TYPE")) != std::string::npos;) body.replace(at, 4, type);
    return "@counts = internal addrspace(3) global [40 x i32] poison\n" + kernel_with(body) +
           "\ndeclare i32 @cupola.ctaid.x()";
  };
  for (const char* type : {"i32", "i64"})
    for (const char* test : {"slt", "sle", "ult", "ule"}) {
      const bool is_signed = test[0] == 's', is_wide = type == std::string("i64");
      const auto same = [&](const std::string& begin, const std::string& end, const std::string& part = "300") {
        EXPECT_EQ(RungComparison().compare_for_shape(turns(type, part, begin, test, end), {33}, /*hot=*/true), "")
            << type << " " << test << " from " << begin << " to " << end;
      };
      for (const auto& [begin, end] : {std::pair("0", "1"), {"0", "33"}, {"0", "32"}, {"0", "100"}, {"7", "106"}})
        same(begin, end);
      if (is_signed) {
        same("-50", "49");
        same("900", "5");
        same(is_wide ? "9223372036854775400" : "2147483300", is_wide ? "9223372036854775770" : "2147483610", "0");
        same(is_wide ? "-9223372036854775808" : "-2147483648", is_wide ? "-9223372036854775700" : "-2147483500");
      } else {
        same("-500", "-350");
      }
    }
}

/// A loop over a grid's turns, from %first by %step, numbers of that type: %sum is made of bytes of %in from %mine on,
/// %all apart. Then the threads meet.
std::string sum_of_turns(const std::string& type, const std::string& test, const std::string& end) {
  return R"(
      br label %head
    head:
      %i = phi )" +
         type + R"( [ %first, %0 ], [ %next, %body ]
      %column = phi i32 [ %mine, %0 ], [ %beside, %body ]
      %sum = phi i32 [ 1, %0 ], [ %more, %body ]
      %on = icmp )" +
         test + " " + type + " %i, " + end + R"(
      br i1 %on, label %body, label %meet
    body:
      %column64 = zext i32 %column to i64
      %from = getelementptr i8, ptr %in, i64 %column64
      %value = load i8, ptr %from
      %a = zext i8 %value to i32
      %thrice = mul i32 %sum, 3
      %more = add i32 %thrice, %a
      %next = add )" +
         type + R"( %i, %step
      %beside = add i32 %column, %all
      br label %head
    meet:
      call void @cupola.barrier(i32 0, i32 0))";
}

// All blocks' rows, in turns of which blocks beside each other take several together, as long as all threads have them.
TEST(VectorDifferential, TurnsOfTheGridAreThoseOfTheirThreads) {
  const auto turns = [](const std::string& type, const std::string& scale, const std::string& begin,
                        const std::string& test, const std::string& end) {
    const std::string extend = type == "i32" ? "add i32 0, " : "zext i32 ", to = type == "i32" ? "" : " to i64";
    std::string body = R"(
      %block = call i32 @cupola.ctaid.x()
      %blocks = call i32 @cupola.nctaid.x()
      %of.block = mul i32 %block, %width
      %mine = add i32 %of.block, %x
      %all = mul i32 %blocks, %width
      %n64 = sext i32 %n to i64
      %low = sub i64 -9223372036854775000, %n64
      %mine.wide = )" + extend +
                       "%mine" + to + "\n%all.wide = " + extend + "%all" + to + R"(
      %scaled = mul TYPE %mine.wide, )" +
                       scale + "\n%first = add TYPE %scaled, " + begin + "\n%step = mul TYPE %all.wide, " + scale +
                       sum_of_turns("TYPE", test, end) + R"(
      %last = trunc TYPE %i to i16
      %seen = zext i16 %last to i32
      %both = add i32 %sum, %seen
      %mine64 = zext i32 %mine to i64
      %to = getelementptr i32, ptr %o64, i64 %mine64
      store i32 %both, ptr %to
      %r = add i32 %x, 0
      br label %write)";
    for (size_t at; (at = body.find("TYPE")) != std::string::npos;) body.replace(at, 4, type);
    return kernel_with(body) + "\ndeclare i32 @cupola.ctaid.x()\ndeclare i32 @cupola.nctaid.x()";
  };
  for (const char* type : {"i32", "i64"})
    for (const char* test : {"slt", "sle", "ult", "ule"}) {
      for (const auto& [begin, end] : {std::pair("0", "1"), {"0", "529"}, {"0", "528"}, {"0", "527"}, {"3", "1500"}})
        EXPECT_EQ(RungComparison().compare_for_shape(turns(type, "1", begin, test, end), {33}, /*hot=*/true), "")
            << type << " " << test << " from " << begin << " to " << end;
      const bool is_signed = test[0] == 's';
      const std::string large = type == std::string("i64") ? is_signed ? "9223372036854770000" : "-5000"
                                : is_signed                ? "2147480000"
                                                           : "-4000",
                        begin = type == std::string("i64") ? is_signed ? "9223372036854768000" : "-7000"
                                : is_signed                ? "2147478000"
                                                           : "-6000";
      EXPECT_EQ(RungComparison().compare_for_shape(turns(type, "1", begin, test, large), {33}, /*hot=*/true), "")
          << type << " " << test << ", beside the greatest number";
      if (is_signed)
        EXPECT_EQ(RungComparison().compare_for_shape(turns(type, "1", "-700", test, "900"), {33}, /*hot=*/true), "")
            << type << " " << test << ", from below 0";
      for (const auto& [from, to] : {std::pair("700", "5"), {"5", "-2147483640"}, {"3000", "%low"}})
        if (is_signed && (type == std::string("i64") || to[0] != '%'))
          EXPECT_EQ(RungComparison().compare_for_shape(turns(type, "1", from, test, to), {33}, /*hot=*/true), "")
              << type << " " << test << " from " << from << " to " << to << ", which is before it";
    }
  for (const char* test : {"slt", "ult"})
    EXPECT_EQ(RungComparison().compare_for_shape(turns("i32", "1048577", "0", test, "1090519040"), {33}, /*hot=*/true),
              "")
        << test << ", in large steps";
}

// Counters of 64 bits that begin or end where numbers of 64 bits do, some of them where no thread has a turn.
TEST(VectorDifferential, TurnsOfTheGridBeginAndEndAnywhere) {
  const auto turns = [](const std::string& first, const std::string& step, const std::string& test,
                        const std::string& end) {
    return R"(
      declare range(i32 0, 1024) i32 @cupola.tid.x() nounwind speculatable willreturn memory(none)
      declare i32 @cupola.ntid.x() nounwind speculatable willreturn memory(none)
      declare range(i32 0, 2147483647) i32 @cupola.ctaid.x() nounwind speculatable willreturn memory(none)
      declare i32 @cupola.nctaid.x() nounwind speculatable willreturn memory(none)
      declare void @cupola.barrier(i32, i32) convergent
      define ptx_kernel void @k(ptr %o8, ptr %o16, ptr %o32, ptr %o64, ptr %in, ptr %sums, i32 %n, i32 %total) {
        %x = call i32 @cupola.tid.x()
        %block = call i32 @cupola.ctaid.x()
        %blocks = call i32 @cupola.nctaid.x()
        %width = call i32 @cupola.ntid.x()
        %of.block = mul i32 %block, %width
        %mine = add i32 %of.block, %x
        %all = mul i32 %blocks, %width
        %x64 = zext i32 %x to i64
        %block64 = zext i32 %block to i64
        %blocks64 = zext i32 %blocks to i64
        %width64 = zext i32 %width to i64
        %of.block64 = mul i64 %block64, %width64
        %mine64 = add i64 %of.block64, %x64
        )" +
           first + "\n" + step + sum_of_turns("i64", test, end) + R"(
        %to = getelementptr i32, ptr %o64, i64 %mine64
        store i32 %sum, ptr %to
        ret void
      })";
  };
  const auto same = [](const std::string& text, uint32_t grid = 2) {
    return RungComparison({grid}).compare_for_shape(text, Dim3{33}, /*hot=*/true);
  };
  const std::string step = "%step = mul i64 %blocks64, %width64";
  for (const auto& [begin, test, end] : {std::tuple("5", "ult", "1200"),
                                         {"5", "slt", "1200"},
                                         {"-3", "ult", "1200"},
                                         {"-700", "ule", "1200"},
                                         {"-700", "slt", "500"},
                                         {"-1500", "ult", "-200"},
                                         {"9223372036854770000", "slt", "9223372036854771000"},
                                         {"9223372036854770000", "slt", "-2000000000000000000"},
                                         {"9223372036854775000", "ult", "-9223372036854775000"},
                                         {"-9223372036854775800", "sle", "-9223372036854774600"}})
    EXPECT_EQ(same(turns("%first = add i64 %mine64, " + std::string(begin), step, test, end)), "")
        << test << " from " << begin << " to " << end;
  EXPECT_EQ(same(turns("%scaled = mul i32 %mine, 16777216\n %first = sext i32 %scaled to i64",
                       "%step = mul i64 %blocks64, 553648128", "slt", "100"),
                 5),
            "")
      << "the first counters wrap";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
