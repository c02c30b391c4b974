// Every operation of soft_doubles.cu, from the bitcode that kernels get, against the host's processor: all pairs (of
// fma all triples) of special operands, and random ones whose exponents are chosen to meet, so that results cancel,
// tie, overflow and become denormal. CUPOLA_DOUBLES=10000000 in the environment takes so many random operands of each
// operation, and prints what one costs.

#include "backend/metal/build/raise/soft_operations.h"

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>

#include "backend/metal/build/raise/soften_doubles.h"
#include "base/file.h"
#include "kir/test_module.h"

namespace cupola::metal::build {
namespace {

using Word = uint64_t;

constexpr Word kSign = Word{1} << 63, kInfinity = Word{0x7ff} << 52, kFraction = (Word{1} << 52) - 1;

double number(Word bits) {
  return std::bit_cast<double>(bits);
}
Word bits(double x) {
  return std::bit_cast<Word>(x);
}

/// What an operation's result is: a double, of which NaNs may be any quiet one; or bits.
enum class Kind { Double, Float, Half, Bfloat, Bits };

struct Operation {
  const char* name;
  int arity;
  Kind kind;
  const char* body;  ///< of doubles %x, %y, %z with the bits %a, %b, %c; defines an i64 %r
  Word (*reference)(Word a, Word b, Word c);
  bool (*in_domain)(Word a) = [](Word) { return true; };
};

/// The number of `places` of a fraction and `width` bits that is nearest to x, even on ties: by trial of the
/// neighbours.
Word nearest_bfloat(double x) {
  const auto value = [](Word size) {  // infinity is where the next number would be
    return size == 0x7f80 ? 0x1p128L
                          : static_cast<long double>(std::bit_cast<float>(static_cast<uint32_t>(size << 16)));
  };
  const Word sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7fff;
  const auto size = static_cast<long double>(std::fabs(x));
  if (size >= 0x1p128L) return sign | 0x7f80;
  Word low = 0, high = 0x7f80;
  while (high - low > 1) {
    const Word middle = (low + high) / 2;
    (value(middle) <= size ? low : high) = middle;
  }
  const long double under = size - value(low), over = value(high) - size;
  return sign | (under < over || (under == over && low % 2 == 0) ? low : high);
}

double smaller(double x, double y) {
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
double larger(double x, double y) {
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}
template <double choose(double, double)>
Word chosen_number(Word a, Word b, Word) {
  const double x = number(a), y = number(b);
  return bits(std::isnan(x) ? y : std::isnan(y) ? x : choose(x, y));
}
template <double choose(double, double)>
Word chosen(Word a, Word b, Word) {
  const double x = number(a), y = number(b);
  return bits(std::isnan(x) || std::isnan(y) ? NAN : choose(x, y));
}

/// One of the ten classes of llvm.is.fpclass.
Word class_of(Word a, Word, Word) {
  const bool negative = (a & kSign) != 0;
  switch (std::fpclassify(number(a))) {
    case FP_NAN:
      return (a >> 51 & 1) != 0 ? 2 : 1;
    case FP_INFINITE:
      return negative ? 4 : 512;
    case FP_NORMAL:
      return negative ? 8 : 256;
    case FP_SUBNORMAL:
      return negative ? 16 : 128;
    default:
      return negative ? 32 : 64;
  }
}

template <typename Integer>
bool fits(Word a) {
  const double x = std::trunc(number(a));
  return x >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
         x < std::ldexp(1.0, std::numeric_limits<Integer>::digits);
}
template <typename Integer>
Word truncated(Word a, Word, Word) {
  return static_cast<Word>(static_cast<Integer>(number(a)));
}

#define ONE(text) "%w = call double @llvm." text ".f64(double %x)\n%r = bitcast double %w to i64"
#define TWO(text) "%w = call double @llvm." text ".f64(double %x, double %y)\n%r = bitcast double %w to i64"
#define BINARY(text) "%w = " text " double %x, %y\n%r = bitcast double %w to i64"
#define COMPARED(predicate, expression)                                                                 \
  {"fcmp " #predicate, 2, Kind::Bits, "%w = fcmp " #predicate " double %x, %y\n%r = zext i1 %w to i64", \
   [](Word a, Word b, Word) -> Word {                                                                   \
     [[maybe_unused]] const double x = number(a), y = number(b);                                        \
     return expression;                                                                                 \
   }}
#define ROUNDED(name, function) \
  {name, 1, Kind::Double, ONE(name), [](Word a, Word, Word) { return bits(function(number(a))); }}

const Operation kOperations[] = {
    {"add", 2, Kind::Double, BINARY("fadd"), [](Word a, Word b, Word) { return bits(number(a) + number(b)); }},
    {"sub", 2, Kind::Double, BINARY("fsub"), [](Word a, Word b, Word) { return bits(number(a) - number(b)); }},
    {"mul", 2, Kind::Double, BINARY("fmul"), [](Word a, Word b, Word) { return bits(number(a) * number(b)); }},
    {"div", 2, Kind::Double, BINARY("fdiv"), [](Word a, Word b, Word) { return bits(number(a) / number(b)); }},
    {"rem", 2, Kind::Double, BINARY("frem"),
     [](Word a, Word b, Word) { return bits(std::fmod(number(a), number(b))); }},
    {"fma", 3, Kind::Double,
     "%w = call double @llvm.fma.f64(double %x, double %y, double %z)\n%r = bitcast double %w to i64",
     [](Word a, Word b, Word c) { return bits(std::fma(number(a), number(b), number(c))); }},
    {"sqrt", 1, Kind::Double, ONE("sqrt"), [](Word a, Word, Word) { return bits(std::sqrt(number(a))); }},
    {"neg", 1, Kind::Bits, "%w = fneg double %x\n%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return a ^ kSign; }},
    {"fabs", 1, Kind::Bits, ONE("fabs"), [](Word a, Word, Word) { return a & ~kSign; }},
    {"copysign", 2, Kind::Bits, TWO("copysign"), [](Word a, Word b, Word) { return (a & ~kSign) | (b & kSign); }},

    COMPARED(oeq, x == y),
    COMPARED(ogt, x > y),
    COMPARED(oge, x >= y),
    COMPARED(olt, x < y),
    COMPARED(ole, x <= y),
    COMPARED(one, x<y || x> y),
    COMPARED(ord, !std::isunordered(x, y)),
    COMPARED(uno, std::isunordered(x, y)),
    COMPARED(ueq, !(x < y || x > y)),
    COMPARED(ugt, !(x <= y)),
    COMPARED(uge, !(x < y)),
    COMPARED(ult, !(x >= y)),
    COMPARED(ule, !(x > y)),
    COMPARED(une, x != y),
    COMPARED(false, false),
    COMPARED(true, true),

    {"minnum", 2, Kind::Double, TWO("minnum"), chosen_number<smaller>},
    {"maxnum", 2, Kind::Double, TWO("maxnum"), chosen_number<larger>},
    {"minimumnum", 2, Kind::Double, TWO("minimumnum"), chosen_number<smaller>},
    {"maximumnum", 2, Kind::Double, TWO("maximumnum"), chosen_number<larger>},
    {"minimum", 2, Kind::Double, TWO("minimum"), chosen<smaller>},
    {"maximum", 2, Kind::Double, TWO("maximum"), chosen<larger>},
    {"class", 1, Kind::Bits,
     "%c0 = call i1 @llvm.is.fpclass.f64(double %x, i32 341)\n"  // every second class
     "%c1 = call i1 @llvm.is.fpclass.f64(double %x, i32 614)\n"  // 2 4 32 64 512: by the second bit of the class's
                                                                 // number
     "%c2 = call i1 @llvm.is.fpclass.f64(double %x, i32 120)\n"  // 8 16 32 64
     "%c3 = call i1 @llvm.is.fpclass.f64(double %x, i32 896)\n"  // 128 256 512
     "%w0 = zext i1 %c0 to i64\n%w1 = zext i1 %c1 to i64\n%w2 = zext i1 %c2 to i64\n%w3 = zext i1 %c3 to i64\n"
     "%s1 = shl i64 %w1, 1\n%s2 = shl i64 %w2, 2\n%s3 = shl i64 %w3, 3\n%o1 = or i64 %w0, %s1\n%o2 = or i64 %s2, %s3\n"
     "%r = or i64 %o1, %o2",
     [](Word a, Word, Word) -> Word {
       const Word one = class_of(a, 0, 0);
       return Word{(341 & one) != 0} | Word{(614 & one) != 0} << 1 | Word{(120 & one) != 0} << 2 |
              Word{(896 & one) != 0} << 3;
     }},

    {"from i32", 1, Kind::Double,
     "%i = trunc i64 %a to i32\n%w = sitofp i32 %i to double\n%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return bits(static_cast<int32_t>(a)); }},
    {"from u32", 1, Kind::Double,
     "%i = trunc i64 %a to i32\n%w = uitofp i32 %i to double\n%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return bits(static_cast<uint32_t>(a)); }},
    {"from i8", 1, Kind::Double, "%i = trunc i64 %a to i8\n%w = sitofp i8 %i to double\n%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return bits(static_cast<int8_t>(a)); }},
    {"from i64", 1, Kind::Double, "%w = sitofp i64 %a to double\n%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return bits(static_cast<double>(static_cast<int64_t>(a))); }},
    {"from u64", 1, Kind::Double, "%w = uitofp i64 %a to double\n%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return bits(static_cast<double>(a)); }},
    {"to i32", 1, Kind::Bits, "%i = fptosi double %x to i32\n%r = sext i32 %i to i64", truncated<int32_t>,
     fits<int32_t>},
    {"to u32", 1, Kind::Bits, "%i = fptoui double %x to i32\n%r = zext i32 %i to i64", truncated<uint32_t>,
     fits<uint32_t>},
    {"to i64", 1, Kind::Bits, "%r = fptosi double %x to i64", truncated<int64_t>, fits<int64_t>},
    {"to u64", 1, Kind::Bits, "%r = fptoui double %x to i64", truncated<uint64_t>, fits<uint64_t>},

    {"to f32", 1, Kind::Float, "%f = fptrunc double %x to float\n%i = bitcast float %f to i32\n%r = zext i32 %i to i64",
     [](Word a, Word, Word) -> Word { return std::bit_cast<uint32_t>(static_cast<float>(number(a))); }},
    {"to f16", 1, Kind::Half, "%f = fptrunc double %x to half\n%i = bitcast half %f to i16\n%r = zext i16 %i to i64",
     [](Word a, Word, Word) -> Word { return std::bit_cast<uint16_t>(static_cast<_Float16>(number(a))); }},
    {"to bf16", 1, Kind::Bfloat,
     "%f = fptrunc double %x to bfloat\n%i = bitcast bfloat %f to i16\n%r = zext i16 %i to i64",
     [](Word a, Word, Word) { return nearest_bfloat(number(a)); }},
    {"from f32", 1, Kind::Double,
     "%i = trunc i64 %a to i32\n%f = bitcast i32 %i to float\n%w = fpext float %f to double\n%r = bitcast double %w to "
     "i64",
     [](Word a, Word, Word) { return bits(std::bit_cast<float>(static_cast<uint32_t>(a))); }},
    {"from f16", 1, Kind::Double,
     "%i = trunc i64 %a to i16\n%f = bitcast i16 %i to half\n%w = fpext half %f to double\n%r = bitcast double %w to "
     "i64",
     [](Word a, Word, Word) { return bits(static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(a)))); }},
    {"from bf16", 1, Kind::Double,
     "%i = trunc i64 %a to i16\n%f = bitcast i16 %i to bfloat\n%w = fpext bfloat %f to double\n"
     "%r = bitcast double %w to i64",
     [](Word a, Word, Word) { return bits(std::bit_cast<float>(static_cast<uint32_t>(a << 16))); }},

    ROUNDED("floor", std::floor),
    ROUNDED("ceil", std::ceil),
    ROUNDED("trunc", std::trunc),
    ROUNDED("rint", std::rint),
    ROUNDED("nearbyint", std::nearbyint),
    ROUNDED("roundeven", std::nearbyint),
    ROUNDED("round", std::round),
    {"ldexp", 2, Kind::Double,
     "%i = trunc i64 %b to i32\n%w = call double @llvm.ldexp.f64.i32(double %x, i32 %i)\n%r = bitcast double %w to i64",
     [](Word a, Word b, Word) { return bits(std::ldexp(number(a), static_cast<int32_t>(b))); }},
    {"ldexp of few", 2, Kind::Double,
     "%i = trunc i64 %b to i12\n%j = sext i12 %i to i32\n%w = call double @llvm.ldexp.f64.i32(double %x, i32 %j)\n"
     "%r = bitcast double %w to i64",
     [](Word a, Word b, Word) { return bits(std::ldexp(number(a), static_cast<int32_t>(b << 20) >> 20)); }},
    {"frexp, fraction", 1, Kind::Double,
     "%w = call { double, i32 } @llvm.frexp.f64.i32(double %x)\n%f = extractvalue { double, i32 } %w, 0\n"
     "%r = bitcast double %f to i64",
     [](Word a, Word, Word) {
       int exponent;
       return bits(std::frexp(number(a), &exponent));
     }},
    {"frexp, exponent", 1, Kind::Bits,
     "%w = call { double, i32 } @llvm.frexp.f64.i32(double %x)\n%f = extractvalue { double, i32 } %w, 1\n"
     "%r = sext i32 %f to i64",
     [](Word a, Word, Word) {
       int exponent;
       std::frexp(number(a), &exponent);
       return static_cast<Word>(exponent);
     },
     [](Word a) { return (a & ~kSign) < kInfinity; }},
    {"modf, fraction", 1, Kind::Double,
     "%w = call { double, double } @llvm.modf.f64(double %x)\n%f = extractvalue { double, double } %w, 0\n"
     "%r = bitcast double %f to i64",
     [](Word a, Word, Word) {
       double whole;
       return bits(std::modf(number(a), &whole));
     }},
    {"modf, whole", 1, Kind::Double,
     "%w = call { double, double } @llvm.modf.f64(double %x)\n%f = extractvalue { double, double } %w, 1\n"
     "%r = bitcast double %f to i64",
     [](Word a, Word, Word) {
       double whole;
       std::modf(number(a), &whole);
       return bits(whole);
     }},
};

std::string text_of_all() {
  std::string text =
      "declare double @llvm.fma.f64(double, double, double)\n"
      "declare double @llvm.ldexp.f64.i32(double, i32)\n"
      "declare { double, i32 } @llvm.frexp.f64.i32(double)\n"
      "declare { double, double } @llvm.modf.f64(double)\n"
      "declare i1 @llvm.is.fpclass.f64(double, i32 immarg)\n";
  for (const char* name : {"sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "round"})
    text += "declare double @llvm." + std::string(name) + ".f64(double)\n";
  for (const char* name : {"copysign", "minnum", "maxnum", "minimumnum", "maximumnum", "minimum", "maximum"})
    text += "declare double @llvm." + std::string(name) + ".f64(double, double)\n";
  int i = 0;
  for (const Operation& operation : kOperations)
    text += "define i64 @f" + std::to_string(i++) +
            "(i64 %a, i64 %b, i64 %c) {\n%x = bitcast i64 %a to double\n%y = bitcast i64 %b to double\n"
            "%z = bitcast i64 %c to double\n" +
            operation.body + "\nret i64 %r\n}\n";
  return text;
}

/// Zeros, denormals, the ends of the ranges of doubles, floats, halves and integers, halfway cases, NaNs.
std::vector<Word> special_operands() {
  std::vector<Word> all = {0,
                           1,
                           2,
                           3,
                           0x0000000000000fff,
                           0x0008000000000000,
                           kFraction - 1,
                           kFraction,
                           kFraction + 1,
                           kFraction + 2,
                           0x001fffffffffffff,
                           0x0020000000000000,
                           0x7fe0000000000000,
                           0x7feffffffffffffe,
                           0x7fefffffffffffff,
                           kInfinity,
                           kInfinity + 1,
                           0x7ff8000000000000,
                           0x7ff8000000000123};
  for (const double x : {0.5,
                         0x1.fffffffffffffp-2,
                         0x1.0000000000001p-1,
                         1.0,
                         0x1.0000000000001p0,
                         0x1.fffffffffffffp0,
                         1.5,
                         2.0,
                         2.5,
                         3.0,
                         3.5,
                         1.0 / 3,
                         0x1p31,
                         0x1p31 - 1,
                         0x1p32 - 0.5,
                         0x1p51 + 0.5,
                         0x1p52 - 0.5,
                         0x1p52,
                         0x1p53,
                         0x1p53 + 2,
                         0x1p63,
                         0x1p63 - 1024,
                         0x1p64 - 2048,
                         0x1p-511,
                         0x1p-537,
                         0x1p512,
                         0x1.fffffffffffffp511,
                         0x1.fffffefffffffp127,
                         0x1.ffffffp127,
                         0x1p-126,
                         0x1.fffffefp-127,
                         0x1p-149,
                         0x1p-150,
                         0x1.0000000000001p-150,
                         0x1.000001p0,
                         0x1.0000030000001p0,
                         65504.0,
                         65520.0,
                         0x1p-24,
                         0x1p-25,
                         0x1.002p0,
                         0x1.01p0})
    all.push_back(bits(x));
  const size_t count = all.size();
  for (size_t i = 0; i < count; ++i) all.push_back(all[i] | kSign);
  return all;
}

/// Random operands. Exponents of the second and third meet the first's in sum, product or quotient; fractions are
/// random, short, or nearly all ones or zeros.
class Operands {
 public:
  explicit Operands(unsigned seed) : random_(seed) {}

  void next(Word (&operands)[3]) {
    if (below(8) == 0) {
      for (Word& operand : operands) operand = random_();
      return;
    }
    const int first = exponent();
    int second = 0;
    switch (below(4)) {
      case 0:
        second = exponent();
        break;
      case 1:
        second = first + around(60);
        break;
      case 2:  // products at an end, or near 1
        second = 1023 - first + edge();
        break;
      default:  // quotients there
        second = first + 1023 - edge();
    }
    operands[0] = made(first), operands[1] = made(second);
    operands[2] = made(below(3) == 0 ? exponent() : first + second - 1023 + around(110));
    if (below(8) == 0)  // what cancels but for the last bits
      operands[1] = (operands[0] ^ kSign) + static_cast<Word>(around(3));
    if (below(8) == 0) operands[2] = bits(-(number(operands[0]) * number(operands[1]))) + static_cast<Word>(around(1));
    if (below(16) == 0) operands[0] = random_() >> below(64);  // integers of all sizes
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<Word>(end)); }
  int around(int most) { return below(2 * most + 1) - most; }
  int edge() { return (below(3) == 0 ? 0 : below(2) == 0 ? 1023 : 2046) + around(60); }
  int exponent() {
    switch (below(5)) {
      case 0:
        return below(2048);
      case 1:
        return below(60);
      case 2:
        return 2047 - below(60);
      case 3:
        return 1023 + around(150);
      default:
        return 1023 + around(60);
    }
  }
  Word made(int exponent) {
    Word fraction = random_() & kFraction;
    switch (below(5)) {
      case 0:
        fraction &= kFraction << (52 - below(30));
        break;
      case 1:
        fraction = kFraction - static_cast<Word>(below(4));
        break;
      case 2:
        fraction = static_cast<Word>(below(4)) | (below(2) ? Word{1} << below(52) : 0);
        break;
      default:
        break;
    }
    const int clamped = std::min(std::max(exponent, 0), 2046 + (below(64) == 0));
    return (random_() & kSign) | static_cast<Word>(clamped) << 52 | (fraction & kFraction);
  }

  std::mt19937_64 random_;
};

bool agrees(Kind kind, Word got, Word expected) {
  const auto nan = [&](Word infinity, Word quiet, Word sign) {
    return (expected & ~sign) > infinity ? (got & ~sign) > infinity && (got & quiet) != 0 : got == expected;
  };
  switch (kind) {
    case Kind::Double:
      return nan(kInfinity, Word{1} << 51, kSign);
    case Kind::Float:
      return nan(0x7f800000, 0x400000, 0x80000000);
    case Kind::Half:
      return nan(0x7c00, 0x200, 0x8000);
    case Kind::Bfloat:
      return nan(0x7f80, 0x40, 0x8000);
    case Kind::Bits:
      break;
  }
  return got == expected;
}

std::string library() {
  return read_file(CUPOLA_LIBRARIES "/metal.bc").value_or("");
}

using Function = Word(Word, Word, Word);

class SoftDoubles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    module = new kir::TestModule(text_of_all());
    const std::string bitcode = library();
    const auto softened = soften_doubles(**module, std::as_bytes(std::span(bitcode)));
    ASSERT_TRUE(softened) << softened.error().message;
    const std::string text = module->text();
    ASSERT_EQ(text.find("double"), std::string::npos);
    for (const char* wide : {"i128", "i256", "alloca", "load ", "store "})
      EXPECT_EQ(text.find(wide), std::string::npos) << wide;
    if (std::getenv("CUPOLA_DOUBLES")) print_sizes();
    for (size_t i = 0; i < std::size(kOperations); ++i)
      functions.push_back(module->function<Function>("f" + std::to_string(i)));
  }
  static void TearDownTestSuite() { delete std::exchange(module, nullptr); }

  /// Instructions of the library's functions, and of comparisons, which have become part of their callers.
  static void print_sizes() {
    for (llvm::Function& function : **module)
      if (function.getName().starts_with(kSoftPrefix))
        std::printf("%s: %u instructions\n", function.getName().str().c_str(), function.getInstructionCount());
    for (size_t i = 0; i < std::size(kOperations); ++i)
      if (std::string(kOperations[i].name).starts_with("fcmp"))
        std::printf("%s: %u instructions\n", kOperations[i].name,
                    (*module)->getFunction("f" + std::to_string(i))->getInstructionCount() - 2);  // zext, ret
  }

  static std::string described(const Operation& operation, const Word (&operands)[3], Word got, Word expected) {
    std::string text = operation.name;
    for (int i = 0; i < operation.arity; ++i) text += formatted(" {:016x}", operands[i]);
    return text + formatted(" gave {:016x}, expected {:016x}", got, expected);
  }

  static inline kir::TestModule* module = nullptr;
  static inline std::vector<Function*> functions;
};

/// Nanoseconds a call, of operands around 1 that depend on the last result.
double cost(Function* function) {
  constexpr int kCalls = 2000000;
  Word last = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kCalls; ++call)
    last = function(bits(1.25) + (last & 0xffff), bits(0.75) + static_cast<Word>(call), bits(-0.9375));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / kCalls * 1e9;
}

TEST_F(SoftDoubles, AgreeWithTheProcessorOnSpecialOperands) {
  const std::vector<Word> special = special_operands();
  ASSERT_GE(special.size(), 120u);
  for (size_t i = 0; i < std::size(kOperations); ++i) {
    const Operation& operation = kOperations[i];
    size_t failures = 0;
    const std::vector<Word> none = {0};
    for (const Word a : special)
      for (const Word b : operation.arity > 1 ? special : none)
        for (const Word c : operation.arity > 2 ? special : none) {
          if (!operation.in_domain(a)) continue;
          const Word got = functions[i](a, b, c), expected = operation.reference(a, b, c);
          if (agrees(operation.kind, got, expected) || ++failures > 3) continue;
          ADD_FAILURE() << described(operation, {a, b, c}, got, expected);
        }
    EXPECT_EQ(failures, 0u) << operation.name;
  }
}

TEST_F(SoftDoubles, AgreeWithTheProcessorOnRandomOperands) {
  const char* asked = std::getenv("CUPOLA_DOUBLES");
  const size_t count = asked ? std::strtoull(asked, nullptr, 10) : 200000;
  for (size_t i = 0; i < std::size(kOperations); ++i) {
    const Operation& operation = kOperations[i];
    Operands operands(static_cast<unsigned>(i) + 1);
    size_t failures = 0, checked = 0;
    for (size_t row = 0; row < count; ++row) {
      Word one[3];
      operands.next(one);
      if (!operation.in_domain(one[0])) continue;
      ++checked;
      const Word got = functions[i](one[0], one[1], one[2]), expected = operation.reference(one[0], one[1], one[2]);
      if (agrees(operation.kind, got, expected) || ++failures > 3) continue;
      ADD_FAILURE() << described(operation, one, got, expected);
    }
    EXPECT_EQ(failures, 0u) << operation.name;
    EXPECT_GT(checked, count / 20) << operation.name;
    if (asked) std::printf("%s: %zu operands, %.1f ns\n", operation.name, checked, cost(functions[i]));
  }
}

}  // namespace
}  // namespace cupola::metal::build
