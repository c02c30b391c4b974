// Oracle: the PTX ISA's "shfl.sync", "vote.sync", "match.sync", "redux.sync" and "barrier"; stand-ins for the rows of
// intrinsics.def answer numbers that tell what they were given.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

/// "i32 %a, i1 %b" of "i32, i1".
std::string named(const std::string& types) {
  std::string result;
  char name = 'a';
  for (size_t at = 0; at < types.size();) {
    const size_t end = std::min(types.find(", ", at), types.size());
    result += (result.empty() ? "" : ", ") + types.substr(at, end - at) + " %" + name++;
    at = end + 2;
  }
  return result;
}

/// @f around a call of the intrinsic; `rows` define what intrinsics.def declares.
std::string module_text(const std::string& result, const std::string& name, const std::string& types,
                        const std::string& rows) {
  const std::string callee = result + " @llvm.nvvm." + name + "(";
  return "declare " + callee + types + ")\ndefine " + result + " @f(" + named(types) + ") {\n %r = call " + callee +
         named(types) + ")\n ret " + result + " %r\n}\n" + rows;
}

template <typename Function, typename... Args>
auto run(const std::string& text, Args... args) {
  TestModule module(text);
  const Result<> expanded = expand_nvvm(*module);
  EXPECT_TRUE(expanded) << expanded.error().message;
  return module.function<Function>("f")(args...);
}

/// Answers `digits`, a number that its operands are the digits of, base 16, the first the highest; above bit 32 a 1.
std::string row(const std::string& result, const std::string& name, const std::vector<std::string>& types) {
  std::string parameters, body = " %s0 = add i64 0, 1\n";
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    parameters += (i ? ", " : "") + types[i] + " %p" + n;
    body += " %w" + n + " = " + (types[i] == "i64" ? "add i64 %p" + n + ", 0" : "zext i32 %p" + n + " to i64") + "\n";
    body += " %m" + n + " = mul i64 %s" + n + ", 16\n %s" + next + " = add i64 %m" + n + ", %w" + n + "\n";
  }
  const std::string last = "%s" + std::to_string(types.size());
  body += " %low = and i64 " + last + ", " + std::to_string((1ull << 4 * types.size()) - 1) + "\n";
  body += result == "i32" ? " %q = trunc i64 %low to i32\n" : " %q = or i64 %low, 4294967296\n";
  return "define " + result + " @cupola." + name + "(" + parameters + ") {\n" + body + " ret " + result + " %q\n}\n";
}

const std::string kShuffle = row("i64", "shuffle", {"i32", "i32", "i32", "i32", "i32"});

TEST(ExpandWarp, ShufflesPassTheirKindAndOperands) {
  const auto f = [](const std::string& kind) {
    return run<uint32_t(uint32_t, uint32_t, uint32_t, uint32_t)>(
        module_text("i32", "shfl.sync." + kind + ".i32", "i32, i32, i32, i32", kShuffle), 15u, 7u, 5u, 3u);
  };
  EXPECT_EQ(f("up"), 0xf0753u);
  EXPECT_EQ(f("down"), 0xf1753u);
  EXPECT_EQ(f("bfly"), 0xf2753u);
  EXPECT_EQ(f("idx"), 0xf3753u);
}

TEST(ExpandWarp, ShufflesOfFloatsMoveBits) {
  const std::string text = module_text("float", "shfl.sync.down.f32", "i32, float, i32, i32",
                                       "define i64 @cupola.shuffle(i32 %m, i32 %k, i32 %v, i32 %b, i32 %c) {\n"
                                       " %w = zext i32 %v to i64\n ret i64 %w }");
  EXPECT_EQ((run<float(uint32_t, float, uint32_t, uint32_t)>(text, ~0u, -1.5f, 1u, 31u)), -1.5f);
}

TEST(ExpandWarp, ThePredicateIsBit32) {
  for (const bool inside : {false, true}) {
    const std::string answer = std::to_string((inside ? 1ull << 32 : 0) + 42);
    const std::string text =
        "declare { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)\n"
        "define i32 @f() { %r = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 -1, i32 1, i32 2, i32 3)\n"
        " %v = extractvalue { i32, i1 } %r, 0\n %p = extractvalue { i32, i1 } %r, 1\n"
        " %s = select i1 %p, i32 1000, i32 0\n %t = add i32 %v, %s\n ret i32 %t }\n"
        "define i64 @cupola.shuffle(i32 %m, i32 %k, i32 %v, i32 %b, i32 %c) { ret i64 " +
        answer + " }";
    EXPECT_EQ(run<uint32_t()>(text), inside ? 1042u : 42u);
  }
}

TEST(ExpandWarp, VotesPassTheirOperation) {
  const std::string vote = row("i32", "vote", {"i32", "i32", "i32"});
  EXPECT_EQ((run<uint32_t(uint32_t, bool)>(module_text("i32", "vote.ballot.sync", "i32, i1", vote), 15u, true)),
            0xf31u);
  // The others answer whether the row's number is not 0: all, any and uni are 0, 1 and 2.
  const std::string is_one =
      "define i32 @cupola.vote(i32 %m, i32 %op, i32 %p) { %c = icmp eq i32 %op, 1\n %r = zext i1 %c to i32\n ret i32 "
      "%r }";
  const auto f = [&](const std::string& op) {
    return (run<uint32_t(uint32_t, bool)>(module_text("i1", "vote." + op + ".sync", "i32, i1", is_one), 15u, true) &
            1) != 0;
  };
  EXPECT_FALSE(f("all"));
  EXPECT_TRUE(f("any"));
  EXPECT_FALSE(f("uni"));
}

TEST(ExpandWarp, MatchesOfEitherWidth) {
  const std::string match = row("i64", "match", {"i32", "i32", "i64"});
  EXPECT_EQ((run<uint32_t(uint32_t, uint32_t)>(module_text("i32", "match.any.sync.i32", "i32, i32", match), 3u, 9u)),
            0x309u);
  EXPECT_EQ(
      (run<uint32_t(uint32_t, uint64_t)>(module_text("i32", "match.any.sync.i64", "i32, i64", match), 3u, uint64_t{9})),
      0x309u);
}

TEST(ExpandWarp, ReductionsPassTheirOperation) {
  const std::string redux = row("i32", "redux", {"i32", "i32", "i32"});
  const char* ops[] = {"add", "min", "max", "umin", "umax", "and", "or", "xor"};
  for (uint32_t i = 0; i < std::size(ops); ++i)
    EXPECT_EQ((run<uint32_t(uint32_t, uint32_t)>(
                  module_text("i32", std::string("redux.sync.") + ops[i], "i32, i32", redux), 9u, 3u)),
              0x309u + (i << 4))
        << ops[i];  // (value, mask) becomes (mask, op, value)
}

TEST(ExpandWarp, ReducingBarriersOfAllAndOfACount) {
  const std::string barrier = row("i32", "barrier_reduce", {"i32", "i32", "i32", "i32"});
  EXPECT_EQ((run<uint32_t(uint32_t, bool)>(module_text("i32", "barrier.cta.red.popc.aligned.all", "i32, i1", barrier),
                                           5u, true)),
            0x5001u);
  EXPECT_EQ((run<uint32_t(uint32_t, uint32_t, bool)>(
                module_text("i32", "barrier.cta.red.popc.count", "i32, i32, i1", barrier), 5u, 8u, true)),
            0x5801u);
  const std::string is_or =
      "define i32 @cupola.barrier_reduce(i32 %i, i32 %n, i32 %op, i32 %p) { %c = icmp eq i32 %op, 2\n %r = zext i1 %c "
      "to i32\n ret i32 %r }";
  EXPECT_EQ(
      (run<uint32_t(uint32_t, bool)>(module_text("i1", "barrier.cta.red.or.all", "i32, i1", is_or), 5u, true) & 1), 1u);
  EXPECT_EQ(
      (run<uint32_t(uint32_t, bool)>(module_text("i1", "barrier.cta.red.and.all", "i32, i1", is_or), 5u, true) & 1),
      0u);
}

TEST(ExpandWarp, FormsWithoutMembersAreRefused) {
  TestModule module(module_text("i32", "shfl.down.i32", "i32, i32, i32", ""));
  EXPECT_FALSE(expand_nvvm(*module));
}

}  // namespace
}  // namespace cupola::kir
