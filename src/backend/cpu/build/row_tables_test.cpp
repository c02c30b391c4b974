#include "backend/cpu/build/row_tables.h"

#include <gmock/gmock.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <functional>
#include <random>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Row = std::array<uint32_t, 32>;

constexpr const char* kNarrow = "cpu:x86_64:x86-64-v3";
constexpr const char* kWide = "cpu:x86_64:x86-64-v4";

/// A product of a row %x, another %y and numbers that are loaded from %numbers, as text and as what it is.
class Products {
 public:
  explicit Products(uint32_t seed) : random_(seed) {}

  /// `count` factors, each of which chooses its number or the complement; some of them by bits of %x beside each other.
  std::string text(unsigned count) {
    text_ = R"(
      define void @f(ptr %p, ptr %numbers, ptr %q) {
        %x = load <32 x i32>, ptr %p, align 4
        %behind = getelementptr i8, ptr %p, i64 128
        %y = load <32 x i32>, ptr %behind, align 4
)";
    const unsigned first = pick(32);
    std::string product = pick(3) == 0 ? "%y" : "splat (i32 -1)";
    if (product == "%y") also([](uint32_t, uint32_t y) { return y; });
    for (unsigned i = 0; i < count; ++i) {
      product = line("and <32 x i32> {}, {}", factor(i, (first + i) % 32), product);
      if (pick(4) == 0) product = line("freeze <32 x i32> {}", product);
    }
    return text_ + formatted("store <32 x i32> {}, ptr %q, align 4\nret void\n}}\n", product);
  }

  uint32_t expected(uint32_t x, uint32_t y, const std::array<uint32_t, 16>& numbers) const {
    uint32_t product = ~0u;
    for (const auto& factor : factors_) product &= factor(x, y, numbers.data());
    return product;
  }

 private:
  using Factor = std::function<uint32_t(uint32_t x, uint32_t y, const uint32_t* numbers)>;

  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

  template <typename... A>
  std::string line(fmt::format_string<const A&...> format, const A&... arguments) {
    const std::string name = formatted("%v{}", ++lines_);
    text_ += name + " = " + formatted(format, arguments...) + "\n";
    return name;
  }

  void also(std::function<uint32_t(uint32_t, uint32_t)> factor) {
    factors_.push_back([factor](uint32_t x, uint32_t y, const uint32_t*) { return factor(x, y); });
  }

  std::string factor(unsigned i, unsigned bit) {
    const std::string place = line("getelementptr i32, ptr %numbers, i64 {}", i),
                      number = line("load i32, ptr {}", place);
    const std::string one = line("insertelement <32 x i32> poison, i32 {}, i64 0", number);
    const std::string all = line("shufflevector <32 x i32> {}, <32 x i32> poison, <32 x i32> zeroinitializer", one);
    const bool of_y = pick(6) == 0;
    const std::string row = of_y ? "%y" : "%x";
    const auto bit_of = [of_y, bit](uint32_t x, uint32_t y) { return ((of_y ? y : x) >> bit & 1) != 0; };
    const unsigned form = pick(6);
    std::string signs;
    if (form == 5) {  // a mask of no bit
      signs = line("sext <32 x i1> {} to <32 x i32>", line("icmp slt <32 x i32> %x, %y"));
      factors_.push_back([i](uint32_t x, uint32_t y, const uint32_t* numbers) {
        return static_cast<int32_t>(x) < static_cast<int32_t>(y) ? ~numbers[i] : numbers[i];
      });
      return line("xor <32 x i32> {}, {}", all, signs);
    }
    bool when_set = true;  // all ones are
    if (form < 2) {
      when_set = false;
      if (form == 0)
        signs = line("and <32 x i32> {}, splat (i32 1)", line("lshr <32 x i32> {}, splat (i32 {})", row, bit));
      else
        signs =
            line("lshr <32 x i32> {}, splat (i32 {})", line("and <32 x i32> {}, splat (i32 {})", row, 1u << bit), bit);
      signs = line("add <32 x i32> {}, splat (i32 -1)", signs);
    } else {
      const std::string alone = line("and <32 x i32> {}, splat (i32 {})", row, 1u << bit);
      std::string mask = line("icmp ne <32 x i32> {}, zeroinitializer", alone);
      if (bit == 31) {  // the number's size says it too
        when_set = pick(2) != 0;
        mask = when_set ? line("icmp ugt <32 x i32> {}, splat (i32 2147483647)", row)
                        : line("icmp ult <32 x i32> {}, splat (i32 -2147483648)", row);
      } else if (form == 3) {
        mask = line("xor <32 x i1> {}, splat (i1 true)", mask);
        when_set = false;
      }
      signs = line("sext <32 x i1> {} to <32 x i32>", mask);
      if (form == 4) {
        signs = line("xor <32 x i32> {}, splat (i32 -1)", signs);
        when_set = !when_set;
      }
    }
    factors_.push_back([i, bit_of, when_set](uint32_t x, uint32_t y, const uint32_t* numbers) {
      return bit_of(x, y) == when_set ? ~numbers[i] : numbers[i];
    });
    return pick(2) ? line("xor <32 x i32> {}, {}", all, signs) : line("xor <32 x i32> {}, {}", signs, all);
  }

  std::mt19937 random_;
  std::string text_;
  unsigned lines_ = 0;
  std::vector<Factor> factors_;
};

/// Whether this machine runs what is made for the level.
bool runs(const std::string& level) {
  return level == kNarrow ? __builtin_cpu_supports("avx2") : __builtin_cpu_supports("avx512f");
}

void say_what_they_said_before(const std::string& level) {
  if (!runs(level)) GTEST_SKIP() << "no such processor";
  std::mt19937 random(7);
  for (uint32_t seed = 0; seed < 120; ++seed) {
    Products products(seed);
    const unsigned count = 3 + seed % 10;
    kir::TestModule module(products.text(count));
    const std::string before = module.text();
    look_up_in_tables(*module->getFunction("f"), **machine_for(level));
    EXPECT_THAT(module.text(), HasSubstr("perm")) << before;
    std::array<Row, 2> rows;
    std::array<uint32_t, 16> numbers;
    for (Row& row : rows)
      for (uint32_t& number : row) number = static_cast<uint32_t>(random());
    for (uint32_t& number : numbers) number = static_cast<uint32_t>(random() | random());
    Row found;
    module.function<void(const void*, const uint32_t*, Row*)>("f")(rows.data(), numbers.data(), &found);
    for (unsigned lane = 0; lane < 32; ++lane)
      ASSERT_EQ(found[lane], products.expected(rows[0][lane], rows[1][lane], numbers)) << lane << "\n" << before;
  }
}

TEST(RowTables, SayWhatTheySaidBeforeOfEightWords) {
  say_what_they_said_before(kNarrow);
}

TEST(RowTables, SayWhatTheySaidBeforeOfSixteenWords) {
  say_what_they_said_before(kWide);
}

/// The lanes of the same `bits`-bit digit, by votes on its bits.
std::string peers(unsigned bits, const char* level) {
  std::string text = "define <32 x i32> @f(<32 x i32> %x, <32 x i32> %peers0) {\n";
  for (unsigned bit = 0; bit < bits; ++bit)
    text += formatted(R"(
      %alone{0} = and <32 x i32> %x, splat (i32 {1})
      %set{0} = icmp ne <32 x i32> %alone{0}, zeroinitializer
      %vote{0} = bitcast <32 x i1> %set{0} to i32
      %one{0} = insertelement <32 x i32> poison, i32 %vote{0}, i64 0
      %all{0} = shufflevector <32 x i32> %one{0}, <32 x i32> poison, <32 x i32> zeroinitializer
      %clear{0} = xor <32 x i1> %set{0}, splat (i1 true)
      %signs{0} = sext <32 x i1> %clear{0} to <32 x i32>
      %same{0} = xor <32 x i32> %all{0}, %signs{0}
      %peers{2} = and <32 x i32> %same{0}, %peers{0}
)",
                      bit, 1u << bit, bit + 1);
  llvm::LLVMContext context;
  const auto module = parse(context, text + formatted("ret <32 x i32> %peers{}\n}}", bits));
  look_up_in_tables(*module->getFunction("f"), **machine_for(level));
  return kir::print(*module);
}

TEST(RowTables, HaveAWordForEachNumberOfTheirBits) {
  const std::string wide = peers(8, kWide), narrow = peers(6, kNarrow);
  EXPECT_THAT(wide, HasSubstr("permvar.si.512"));
  EXPECT_THAT(wide, HasSubstr("lshr <32 x i32> %x, splat (i32 4)"));
  EXPECT_THAT(wide, Not(HasSubstr("sext")));
  EXPECT_THAT(narrow, HasSubstr("avx2.permd"));
  EXPECT_THAT(narrow, HasSubstr("lshr <32 x i32> %x, splat (i32 3)"));
  EXPECT_THAT(narrow, Not(HasSubstr("sext")));
}

TEST(RowTables, AreNotForFewBits) {
  EXPECT_THAT(peers(2, kWide), Not(HasSubstr("perm")));
  EXPECT_THAT(peers(3, kWide), HasSubstr("perm"));
}

TEST(RowTables, AreNotForProcessorsThatLookNothingUp) {
  EXPECT_THAT(peers(8, "cpu:x86_64:x86-64-v2"), Not(HasSubstr("perm")));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
