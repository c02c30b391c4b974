#include "backend/cpu/build/gathered_strips.h"

#include <gmock/gmock.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <array>
#include <span>
#include <vector>

#include "backend/cpu/build/fenced_memory.h"
#include "backend/cpu/build/test_machine.h"
#include "base/format.h"
#include "kir/pass_analyses.h"
#include "kir/test_module.h"

// Oracle: what the loops do turn by turn, written as such here.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kLanes = 32;

/// A loop over `turns` turns in which each lane reads a number and adds it to three times what it has: %sum of the
/// header, at the end stored to %result. The parts of its text:
struct Loop {
  std::string type = "i32";
  std::string start = "%numbers = load <32 x i32>, ptr %firsts, align 4\n";
  std::string addresses =
      "%now = insertelement <32 x i32> poison, i32 %turn, i64 0\n"
      "%all = shufflevector <32 x i32> %now, <32 x i32> poison, <32 x i32> zeroinitializer\n"
      "%i = add <32 x i32> %all, %numbers\n"
      "%far = sext <32 x i32> %i to <32 x i64>\n"
      "%a = getelementptr i32, ptr %base, <32 x i64> %far\n";
  std::string mask = "splat (i1 true)";
  std::string write = "";  ///< what a turn does with %next
  std::string again = "icmp slt i32 %turn, %turns", before_asking = "";
};

std::string text(const Loop& loop) {
  const std::string name = loop.type == "double" ? "f64" : loop.type == "float" ? "f32" : loop.type;
  const bool is_integer = loop.type[0] == 'i';
  return formatted(R"(
    define void @f(ptr %base, ptr %firsts, ptr %result, i32 %turns, ptr %out, i32 %running) {{
      %mask = bitcast i32 %running to <32 x i1>
      {1}
      br label %header
    header:
      %turn = phi i32 [ 0, %0 ], [ %turn.next, %on ]
      %sum = phi <32 x {0}> [ zeroinitializer, %0 ], [ %next, %on ]
      {10}
      %again = {6}
      br i1 %again, label %body, label %end
    body:
      {2}
      %row = call <32 x {0}> @llvm.masked.gather.v32{7}.v32p0(<32 x ptr> align 4 %a, <32 x i1> {3}, <32 x {0}> zeroinitializer)
      br label %on
    on:
      %thrice = {4} <32 x {0}> %sum, splat ({0} {8})
      %next = {9} <32 x {0}> %thrice, %row
      {5}
      %turn.next = add i32 %turn, 1
      br label %header
    end:
      store <32 x {0}> %sum, ptr %result, align 4
      ret void
    }})",
                   loop.type, loop.start, loop.addresses, loop.mask, is_integer ? "mul" : "fmul", loop.write,
                   loop.again, name, is_integer ? "3" : "3.0", is_integer ? "add" : "fadd", loop.before_asking);
}

using Code = void(void* base, const void* firsts, void* result, int32_t turns, void* out, uint32_t running);

class Taken {
 public:
  explicit Taken(const std::string& code, const std::string& processor = "znver4", size_t most = 1) : module_(code) {
    const auto machine = machine_of(processor);
    kir::PassAnalyses analyses(machine.get());
    llvm::Function& function = *module_->getFunction("f");
    take_strips(function, analyses.functions, machine->getTargetTransformInfo(function), most);
    has_strips_ = llvm::any_of(function, [](const llvm::BasicBlock& block) { return block.getName() == "strip.fill"; });
  }
  bool has_strips() const { return has_strips_; }
  std::string text() const { return module_.text(); }
  Code* code() { return module_.function<Code>("f"); }

 private:
  kir::TestModule module_;
  bool has_strips_;
};

std::span<uint32_t> numbers_of(const Fenced& memory) {
  const std::span<std::byte> bytes = memory.bytes();
  return {reinterpret_cast<uint32_t*>(bytes.data()), bytes.size() / sizeof(uint32_t)};
}

/// The sums of `turns` turns, of a lane's numbers from there on.
template <typename Number>
Number sum_of(const Number* numbers, int turns) {
  Number sum = 0;
  for (int turn = 0; turn < turns; ++turn) sum = sum * 3 + numbers[turn];
  return sum;
}

constexpr int kTurns[] = {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 61};

template <typename Number>
void expect_sums(const Loop& loop, uint32_t running = ~0u, const std::string& processor = "znver4") {
  SCOPED_TRACE(processor);
  Taken taken(text(loop), processor);
  EXPECT_TRUE(taken.has_strips());
  std::vector<Number> memory(4096);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<Number>(i * i % 1009);
  std::array<int32_t, kLanes> firsts{};
  for (unsigned lane = 0; lane < kLanes; ++lane) firsts[lane] = static_cast<int32_t>(lane * lane * 3 % 1000) - 100;
  for (const int turns : kTurns) {
    std::array<Number, kLanes> sums{};
    taken.code()(memory.data() + 100, firsts.data(), sums.data(), turns, nullptr, running);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      EXPECT_EQ(sums[lane], (running >> lane & 1) != 0 ? sum_of(memory.data() + 100 + firsts[lane], turns) : Number{0})
          << turns << " turns, lane " << lane;
  }
}

TEST(GatheredStrips, HaveEachLanesNumbersInTheTurnsThatReadThem) {
  expect_sums<uint32_t>({});
}

TEST(GatheredStrips, HaveNumbersOf64Bits) {
  Loop loop{.type = "i64"};
  loop.addresses.replace(loop.addresses.find("getelementptr i32"), 17, "getelementptr i64");
  for (const char* processor : {"znver4", "x86-64-v3", "x86-64"}) expect_sums<uint64_t>(loop, ~0u, processor);
}

TEST(GatheredStrips, AreOfAllLanesAlone) {
  Loop loop{.mask = "%mask"};
  expect_sums<uint32_t>(loop);
  expect_sums<uint32_t>(loop, 0x7fffffffu);
  expect_sums<uint32_t>(loop, 0x10u);
}

const std::string kPointers =
    "%numbers = load <32 x i32>, ptr %firsts, align 4\n"
    "%wide = sext <32 x i32> %numbers to <32 x i64>\n"
    "%rows = getelementptr i32, ptr %base, <32 x i64> %wide\n";

TEST(GatheredStrips, BeginWherePointersAre) {
  expect_sums<uint32_t>({.start = kPointers,
                         .addresses = "%far = sext i32 %turn to i64\n"
                                      "%a = getelementptr i32, <32 x ptr> %rows, i64 %far\n"});
}

// Lanes read on at the other end of what 16 bits reach, without a question of which they would read beyond it.
TEST(GatheredStrips, DoNotGoOnWhereIndicesWrap) {
  for (const bool is_signed : {true, false}) {
    SCOPED_TRACE(is_signed);
    Taken taken(text(
        {.start = "%numbers = load <32 x i16>, ptr %firsts, align 2\n",
         .addresses = formatted("%narrow = trunc i32 %turn to i16\n"
                                "%now = insertelement <32 x i16> poison, i16 %narrow, i64 0\n"
                                "%all = shufflevector <32 x i16> %now, <32 x i16> poison, <32 x i32> zeroinitializer\n"
                                "%i = add <32 x i16> %all, %numbers\n"
                                "%far = {} <32 x i16> %i to <32 x i64>\n"
                                "%a = getelementptr i32, ptr %base, <32 x i64> %far\n",
                                is_signed ? "sext" : "zext")}));
    ASSERT_TRUE(taken.has_strips());
    const int begin = is_signed ? -0x8000 : 0, span = 0x10000;
    Fenced fenced(span * 4);
    const std::span<uint32_t> memory = numbers_of(fenced);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint32_t>(i * 7 % 1013);
    for (const int offset : {0, 1, 14, 15, 16, 17, 31, 40, 100}) {
      std::array<int16_t, kLanes> firsts{};
      for (unsigned lane = 0; lane < kLanes; ++lane)
        firsts[lane] = static_cast<int16_t>(begin + span - 1 - offset - static_cast<int>(lane % 3));
      for (const int turns : kTurns) {
        std::array<uint32_t, kLanes> sums{};
        taken.code()(memory.data() - begin, firsts.data(), sums.data(), turns, nullptr, ~0u);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          uint32_t sum = 0;
          for (int turn = 0; turn < turns; ++turn) {
            const auto index = static_cast<int16_t>(firsts[lane] + turn);
            sum = sum * 3 + memory[static_cast<size_t>((is_signed ? index : static_cast<uint16_t>(index)) - begin)];
          }
          EXPECT_EQ(sums[lane], sum) << "offset " << offset << ", " << turns << " turns, lane " << lane;
        }
      }
    }
  }
}

// A turn's output may be what a lane reads in a later one.
TEST(GatheredStrips, DoNotGoAheadOfWhatTheLoopWrites) {
  for (const bool is_masked : {false, true}) {
    Taken taken(text({.write = is_masked ? "call void @llvm.masked.store.v32i32.p0(<32 x i32> %next, ptr align 4 %out, "
                                           "<32 x i1> %mask)\n"
                                         : "store <32 x i32> %next, ptr %out, align 4\n"}));
    ASSERT_TRUE(taken.has_strips());
    constexpr int kPitch = 50;
    std::array<int32_t, kLanes> firsts{};
    for (unsigned lane = 0; lane < kLanes; ++lane) firsts[lane] = static_cast<int32_t>(lane) * kPitch + 64;
    for (const int turns : kTurns)
      for (const int out :
           {0, 31, 32, 33, 40, 64, 79, 80, 81, 96, 112, 140, 1600, 1613, 1614, 1640, 1660, 1676, 1700}) {
        std::vector<uint32_t> memory(2048), expected, sums(kLanes), expected_sums(kLanes);
        for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint32_t>(i * 31 % 997);
        expected = memory;
        for (int turn = 0; turn < turns; ++turn) {
          for (unsigned lane = 0; lane < kLanes; ++lane)
            expected_sums[lane] =
                expected_sums[lane] * 3 + expected[static_cast<size_t>(firsts[lane]) + static_cast<size_t>(turn)];
          std::copy(expected_sums.begin(), expected_sums.end(), expected.begin() + out);
        }
        taken.code()(memory.data(), firsts.data(), sums.data(), turns, memory.data() + out, ~0u);
        EXPECT_EQ(sums, expected_sums) << turns << " turns, writes at " << out;
        EXPECT_EQ(memory, expected);
      }
  }
}

TEST(GatheredStrips, ReadNothingThatTheTurnsDoNot) {
  Taken taken(text({}));
  Fenced memory(1 << 16);
  const std::span<uint32_t> numbers = numbers_of(memory);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint32_t>(i);
  for (const int turns : kTurns) {
    std::array<int32_t, kLanes> firsts{};  // at the beginning, and so that the last turn is at the end
    for (unsigned lane = 1; lane < kLanes; lane += 2) firsts[lane] = static_cast<int32_t>(numbers.size()) - turns;
    std::array<uint32_t, kLanes> sums{};
    taken.code()(numbers.data(), firsts.data(), sums.data(), turns, nullptr, ~0u);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      EXPECT_EQ(sums[lane], sum_of(&numbers[static_cast<size_t>(firsts[lane]) % numbers.size()], turns));
  }
}

TEST(GatheredStrips, AreNotTakenWhereThereAreMore) {
  Taken taken(text({}), "znver4", 0);
  EXPECT_FALSE(taken.has_strips());
}

/// A loop that reads a number of each lane in one of two ways, as `asked` says; `note`: the phi's.
std::string ways(const std::string& asked, const std::string& note) {
  return R"(
    define void @f(ptr %base, <32 x i64> %firsts, ptr %result, i64 %turns, i64 %number) {
      br label %header
    header:
      %turn = phi i64 [ 0, %0 ], [ %turn.next, %on ]
      %sum = phi <32 x i32> [ zeroinitializer, %0 ], [ %next, %on ]
      %again = icmp ult i64 %turn, %turns
      br i1 %again, label %ask, label %end
    ask:
      %now = insertelement <32 x i64> poison, i64 %turn, i64 0
      %all = shufflevector <32 x i64> %now, <32 x i64> poison, <32 x i32> zeroinitializer
      %i = add <32 x i64> %all, %firsts
      %a = getelementptr i32, ptr %base, <32 x i64> %i
      %first = extractelement <32 x ptr> %a, i64 0
      %asked = icmp eq i64 )" +
         asked + R"(, %number
      br i1 %asked, label %straight, label %each
    straight:
      %line = load <32 x i32>, ptr %first, align 4
      br label %on
    each:
      %other = add i64 %turn, 7
      %row = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %a, <32 x i1> splat (i1 true), <32 x i32> poison)
      br label %on
    on:
      %read = phi <32 x i32> [ %line, %straight ], [ %row, %each ])" +
         note + R"(
      %next = add <32 x i32> %sum, %read
      %turn.next = add i64 %turn, 1
      br label %header
    end:
      store <32 x i32> %sum, ptr %result, align 4
      ret void
    }
    !0 = !{})";
}

TEST(GatheredStrips, AreForTurnsThatAllReadAlone) {
  EXPECT_FALSE(Taken(ways("%turn", "")).has_strips()) << "some turns read something else";
  EXPECT_TRUE(Taken(ways("%turn", ", !cupola.one.read !0")).has_strips()) << "the same in another way";
  EXPECT_TRUE(Taken(ways("%turns", "")).has_strips()) << "all turns, or none";
  EXPECT_FALSE(Taken(ways("%turn", ", !cupola.one.read !0\n%more = phi i64 [ %turn, %straight ], [ %other, %each ]"))
                   .has_strips())
      << "the ways have more to say";
}

// The read behind which a turn may end is not one of a whole turn.
TEST(GatheredStrips, AreNotTakenWhereTheLoopIsLeftBehindTheRead) {
  const auto loop = [](const std::string& header, const std::string& body) {
    return R"(
    define void @f(ptr %base, <32 x i64> %firsts, ptr %result, i64 %turns) {
      br label %header
    header:
      %turn = phi i64 [ 0, %0 ], [ %turn.next, %body ]
      %sum = phi <32 x i32> [ zeroinitializer, %0 ], [ %next, %body ]
      %now = insertelement <32 x i64> poison, i64 %turn, i64 0
      %all = shufflevector <32 x i64> %now, <32 x i64> poison, <32 x i32> zeroinitializer
      %i = add <32 x i64> %all, %firsts
      %a = getelementptr i32, ptr %base, <32 x i64> %i
      )" + header +
           R"(
      %turn.next = add i64 %turn, 1
      %again = icmp ult i64 %turn, %turns
      br i1 %again, label %body, label %end
    body:
      )" + body +
           R"(
      %next = add <32 x i32> %sum, %row
      br label %header
    end:
      store <32 x i32> %sum, ptr %result, align 4
      ret void
    })";
  };
  const std::string gather =
      "%row = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %a, <32 x i1> splat (i1 true), "
      "<32 x i32> poison)\n";
  EXPECT_TRUE(Taken(loop("", gather)).has_strips());
  EXPECT_FALSE(Taken(loop(gather, "")).has_strips());
}

TEST(GatheredStrips, AreNotTakenWhereTurnsWriteElsewhere) {
  EXPECT_FALSE(Taken(text({.write = "call void @llvm.masked.scatter.v32i32.v32p0(<32 x i32> %next, <32 x ptr> align 4 "
                                    "%a, <32 x i1> splat (i1 true))\n"}))
                   .has_strips())
      << "what another lane may read behind a barrier of the warp";
  EXPECT_FALSE(Taken(text({.addresses = Loop().addresses + "%place = getelementptr i32, ptr %out, i32 %turn\n",
                           .write = "store i32 %turn, ptr %place, align 4\n"}))
                   .has_strips())
      << "in each turn";
  EXPECT_FALSE(Taken(text({.write = "%seen = load volatile i32, ptr %out, align 4\n"})).has_strips())
      << "what others write, too";
}

TEST(GatheredStrips, AreNotTakenOfOtherSteps) {
  EXPECT_FALSE(Taken(text({.addresses = "%now = insertelement <32 x i32> poison, i32 %turn, i64 0\n"
                                        "%all = shufflevector <32 x i32> %now, <32 x i32> poison, <32 x i32> "
                                        "zeroinitializer\n"
                                        "%i = add <32 x i32> %all, %numbers\n"
                                        "%a = getelementptr i32, ptr %base, <32 x i32> %i\n"}))
                   .has_strips())
      << "an index that is extended unseen";
  std::string addresses = Loop().addresses;
  addresses.replace(addresses.find("i32 %turn"), 9, "i32 %twice");
  EXPECT_FALSE(Taken(text({.addresses = "%twice = mul i32 %turn, 2\n" + addresses})).has_strips());
  addresses = Loop().addresses;
  addresses.replace(addresses.find("getelementptr i32"), 17, "getelementptr i64");
  EXPECT_FALSE(Taken(text({.addresses = addresses})).has_strips()) << "every second number";
  EXPECT_FALSE(Taken(text({.start = "%numbers = load <32 x i32>, ptr %firsts, align 4\n",
                           .again = "icmp ne i32 %seen, 7",
                           .before_asking = "%seen = load i32, ptr %out, align 4\n"}))
                   .has_strips())
      << "nobody knows how many turns there are";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
