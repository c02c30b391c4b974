// Oracle: integers wide enough to hold every operand, product and sum exactly, rounded once to nearest even.

#include "kir/narrow_floats.h"

#include <bit>
#include <random>

#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

using Wide = unsigned _BitInt(2304);
constexpr int kScale = 1100;

/// (-1)^negative * units * 2^-kScale
struct Exact {
  bool negative;
  Wide units;
};

struct Format {
  const char* name;
  int fraction;        ///< bits
  int least_exponent;  ///< of the last place of denormals
  uint16_t infinity;
};
constexpr Format kHalf = {"half", 10, -24, 0x7c00};
constexpr Format kBfloat = {"bfloat", 7, -133, 0x7f80};

bool is_finite(const Format& f, uint16_t bits) {
  return (bits & 0x7fff) < f.infinity;
}

Exact decode(const Format& f, uint16_t bits) {
  const int size = bits & 0x7fff, field = size >> f.fraction;
  const int mantissa = (size & ((1 << f.fraction) - 1)) | (field ? 1 << f.fraction : 0);
  return {(bits & 0x8000) != 0, Wide(mantissa) << (kScale + f.least_exponent + std::max(field - 1, 0))};
}

Exact decode(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | (field ? uint64_t{1} << 52 : 0);
  return {bits >> 63 != 0, Wide(mantissa) << (kScale - 1074 + std::max(field - 1, 0))};
}

/// Both formats' values lie above 2^-kScale/2, so products' low halves are zero.
Exact product(Exact a, Exact b) {
  const auto low = [](Exact& x) {
    const int shift = kScale - 140;
    x.units >>= shift;
    return shift;
  };
  const int shift = low(a) + low(b);
  return {a.negative != b.negative, a.units * b.units << (shift - kScale)};
}

Exact sum(Exact a, Exact b) {
  if (a.negative == b.negative) return {a.negative, a.units + b.units};
  if (a.units == b.units) return {false, 0};
  return a.units > b.units ? Exact{a.negative, a.units - b.units} : Exact{b.negative, b.units - a.units};
}

uint16_t round(const Format& f, Exact x) {
  const uint16_t sign = x.negative ? 0x8000 : 0;
  if (x.units == 0) return sign;
  int highest = 0;
  for (Wide rest = x.units; rest >>= 1;) ++highest;
  const int last = std::max(highest - kScale - f.fraction, f.least_exponent);
  const int shift = last + kScale;
  Wide kept = x.units >> shift;
  const Wide rest = x.units - (kept << shift), tie = Wide(1) << (shift - 1);
  if (rest > tie || (rest == tie && (kept & 1) != 0)) kept += 1;
  if (last - f.least_exponent > 512) return sign | f.infinity;
  const Wide bits = kept + (Wide(last - f.least_exponent) << f.fraction);
  return sign | (bits >= f.infinity ? f.infinity : static_cast<uint16_t>(bits));
}

/// A kernel over `count` rows: `inputs` operands %a, %b, %c of type `from` in turn, and %r of type `to` from `body`.
class Rows {
 public:
  Rows(const std::string& from, int inputs, const std::string& to, const std::string& body,
       const std::string& declarations = "")
      : program_(declarations + text(from, inputs, to, body)) {}

  template <typename From>
  std::vector<uint16_t> run(std::vector<From>& in, size_t results, int32_t rows) {
    std::vector<uint16_t> out(results, 0xdead);
    program_.launch("k", {1}, {1}, in.data(), out.data(), rows);
    return out;
  }

  bool calls_nothing() const { return program_.image.imports.empty(); }

 private:
  static std::string text(const std::string& from, int inputs, const std::string& to, const std::string& body) {
    std::string loads;
    for (int i = 0; i < inputs; ++i) {
      const std::string n = std::to_string(i);
      loads += "%w" + n + " = mul i64 %at, " + std::to_string(inputs) + "\n%x" + n + " = add i64 %w" + n + ", " + n +
               "\n%p" + n + " = getelementptr " + from + ", ptr %in, i64 %x" + n + "\n%" + "abc"[i] + " = load " +
               from + ", ptr %p" + n + "\n";
    }
    return "define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {\n br label %loop\nloop:\n"
           "%i = phi i32 [ 0, %0 ], [ %next, %loop ]\n%at = sext i32 %i to i64\n" +
           loads + body + "\n%to = getelementptr " + to + ", ptr %out, i64 %at\nstore " + to +
           " %r, ptr %to\n%next = add i32 %i, 1\n%more = icmp slt i32 %next, %n\n"
           "br i1 %more, label %loop, label %done\ndone:\n ret void\n}";
  }

  TestProgram program_;
};

std::mt19937_64 generator(20);

/// Any bits; short fractions, whose results are often ties; and operands far from each other.
std::vector<uint16_t> operands(const Format& f, size_t rows, int each) {
  std::vector<uint16_t> result;
  for (size_t row = 0; row < rows; ++row)
    for (int i = 0; i < each; ++i) {
      auto bits = static_cast<uint16_t>(generator());
      if (row % 4 == 1) bits &= static_cast<uint16_t>(0xffff << (f.fraction - 3));
      if (row % 4 == 2 && i == 2) bits &= 0x8007;
      if (row % 4 == 3 && i < 2) bits = static_cast<uint16_t>((bits & ~f.infinity) | (f.infinity / 2 & f.infinity));
      result.push_back(bits);
    }
  return result;
}

constexpr size_t kRows = 200000, kFew = 40000;

void expect_fused(const Format& f, int lanes) {
  const std::string scalar = f.name, of = scalar == "half" ? "f16" : "bf16";
  const std::string type = lanes == 1 ? scalar : "<2 x " + scalar + ">", suffix = lanes == 1 ? of : "v2" + of;
  const std::string callee = type + " @llvm.fma." + suffix + "(" + type;
  Rows program(type, 3, type, "%r = call " + callee + " %a, " + type + " %b, " + type + " %c)",
               "declare " + callee + ", " + type + ", " + type + ")\n");
  EXPECT_TRUE(program.calls_nothing());
  // Lanes of one operand lie side by side.
  std::vector<uint16_t> in = operands(f, kRows, 3);
  if (lanes == 2)
    for (size_t row = 0; row + 1 < kRows; row += 2) {
      const std::vector<uint16_t> was(&in[3 * row], &in[3 * row] + 6);
      for (size_t i = 0; i < 3; ++i) in[3 * row + 2 * i] = was[i], in[3 * row + 2 * i + 1] = was[3 + i];
    }
  const std::vector<uint16_t> out = program.run(in, kRows, static_cast<int32_t>(kRows / lanes));
  size_t checked = 0;
  for (size_t i = 0; i < kRows; ++i) {
    const auto operand = [&](size_t k) {
      return lanes == 1 ? in[3 * i + k] : in[3 * (i & ~size_t{1}) + 2 * k + (i & 1)];
    };
    const uint16_t a = operand(0), b = operand(1), c = operand(2);
    if (!is_finite(f, a) || !is_finite(f, b) || !is_finite(f, c)) continue;
    ++checked;
    const Exact exact = sum(product(decode(f, a), decode(f, b)), decode(f, c));
    uint16_t expected = round(f, exact);
    if (exact.units == 0) expected = ((a ^ b) & 0x8000) && (c & 0x8000) ? 0x8000 : 0;
    ASSERT_EQ(out[i], expected) << std::hex << a << " * " << b << " + " << c;
  }
  EXPECT_GT(checked, kRows / 2);
}

TEST(NarrowFloats, FusedHalvesRoundOnce) {
  expect_fused(kHalf, 1);
  expect_fused(kHalf, 2);
}

TEST(NarrowFloats, FusedBfloatsRoundOnce) {
  expect_fused(kBfloat, 1);
  expect_fused(kBfloat, 2);
}

TEST(NarrowFloats, InfinitiesAndNansOfFusedOperations) {
  for (const Format& f : {kHalf, kBfloat}) {
    const std::string type = f.name, callee = type + " @llvm.fma." + (type == "half" ? "f16" : "bf16") + "(" + type;
    Rows program(type, 3, type, "%r = call " + callee + " %a, " + type + " %b, " + type + " %c)",
                 "declare " + callee + ", " + type + ", " + type + ")\n");
    const uint16_t inf = f.infinity, most = f.infinity - 1, one = f.infinity / 2 & f.infinity, minus = 0x8000;
    std::vector<uint16_t> in = {inf,  0,    one,                    // 0 * infinity
                                inf,  one,  uint16_t(inf | minus),  // infinity - infinity
                                one,  one,  0x7fff,                 // NaN
                                inf,  one,  one,                    //
                                one,  one,  uint16_t(inf | minus),
                                most, most, uint16_t(most | minus)};
    EXPECT_EQ(program.run(in, 6, 6), (std::vector<uint16_t>{0x7fff, 0x7fff, 0x7fff, inf, uint16_t(inf | minus), inf}));
  }
}

TEST(NarrowFloats, SumsProductsAndQuotientsRoundOnceAndKeepDenormals) {
  for (const Format& f : {kHalf, kBfloat}) {
    const std::string type = f.name;
    std::vector<uint16_t> in = operands(f, kFew, 2);
    for (size_t i = 0; i < kFew; i += 5) in[2 * i] &= 0x83ff, in[2 * i + 1] &= 0x83ff;  // small ones
    const auto add = Rows(type, 2, type, "%r = fadd " + type + " %a, %b").run(in, kFew, kFew);
    const auto mul = Rows(type, 2, type, "%r = fmul " + type + " %a, %b").run(in, kFew, kFew);
    const auto div = Rows(type, 2, type, "%r = fdiv " + type + " %a, %b").run(in, kFew, kFew);
    for (size_t i = 0; i < kFew; ++i) {
      const uint16_t a = in[2 * i], b = in[2 * i + 1];
      if (!is_finite(f, a) || !is_finite(f, b)) continue;
      const Exact x = decode(f, a), y = decode(f, b), total = sum(x, y);
      if (total.units != 0) ASSERT_EQ(add[i], round(f, total)) << std::hex << a << " + " << b;
      ASSERT_EQ(mul[i], round(f, product(x, y))) << std::hex << a << " * " << b;
      if (y.units == 0) continue;
      // Mantissas have at most 11 bits: 64 more of the quotient and a bit for the rest say how it rounds.
      int shift_x = kScale + f.least_exponent, shift_y = shift_x;
      while (x.units >> shift_x > 0xffff) ++shift_x;
      while (y.units >> shift_y > 0xffff) ++shift_y;
      const auto mx = static_cast<unsigned __int128>(x.units >> shift_x) << 64;
      const auto my = static_cast<unsigned __int128>(y.units >> shift_y);
      const Wide quotient = Wide(mx / my) << 1 | Wide(mx % my != 0 ? 1 : 0);
      ASSERT_EQ(div[i], round(f, {x.negative != y.negative, quotient << (kScale - 65 + shift_x - shift_y)}))
          << std::hex << a << " / " << b;
    }
  }
}

TEST(NarrowFloats, DoublesRoundOnce) {
  for (const Format& f : {kHalf, kBfloat}) {
    std::vector<double> in;
    for (size_t i = 0; i < kRows; ++i) {
      const uint64_t random = generator();
      double x = std::bit_cast<double>(random);
      if (i % 4) {  // near a tie, or on it
        const auto bits = static_cast<uint16_t>((random & 0x7fff) % f.infinity);
        const Exact low = decode(f, bits), high = decode(f, bits + 1);
        const auto number = [](Exact e) { return std::ldexp(static_cast<double>(e.units >> (kScale - 140)), -140); };
        x = bits + 1 == f.infinity ? number(low) : (number(low) + number(high)) / 2;
        if (i % 4 == 2) x = std::nextafter(x, 0);
        if (i % 4 == 3) x = std::nextafter(x, 1e300);
        if (random >> 63) x = -x;
      }
      in.push_back(std::isfinite(x) ? x : 0);
    }
    in[0] = 0x1p-1074, in[1] = -0x1.fffffffffffffp1023, in[2] = -0.0, in[3] = 1 + 0x1p-8 + 0x1p-40;
    Rows program("double", 1, f.name, std::string("%r = fptrunc double %a to ") + f.name);
    EXPECT_TRUE(program.calls_nothing());
    const auto out = program.run(in, kRows, kRows);
    for (size_t i = 0; i < kRows; ++i) ASSERT_EQ(out[i], round(f, decode(in[i]))) << std::hexfloat << in[i];
  }
}

TEST(NarrowFloats, FloatsKeepDenormals) {
  for (const Format& f : {kHalf, kBfloat}) {
    std::vector<float> in = {0x1p-130f,       0x1.8p-133f, -0x1p-134f,   0x1p-149f,
                             0x1.fffffep127f, 1 + 0x1p-8f, 1 + 0x1.8p-7f};
    for (size_t i = 0; i < 1000; ++i) {
      const auto x = std::bit_cast<float>(static_cast<uint32_t>(generator()));
      if (std::isfinite(x)) in.push_back(x);
    }
    Rows program("float", 1, f.name, std::string("%r = fptrunc float %a to ") + f.name);
    const auto out = program.run(in, in.size(), static_cast<int32_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], round(f, decode(in[i]))) << std::hexfloat << in[i];
  }
}

template <typename T>
void expect_integers(const std::string& type, const std::string& instruction) {
  for (const Format& f : {kHalf, kBfloat}) {
    std::vector<T> in = {0, 1, T(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
    for (size_t i = 0; i < kRows; ++i) {
      const uint64_t random = generator();
      const int width = static_cast<int>(random % (8 * sizeof(T)));
      uint64_t x = generator() >> (63 - width);
      if (i % 2 && width > 10) {  // next to a tie
        x = ((x >> (width - 8)) | 1) << (width - 8);
        x += i % 4 == 1 ? 1 : -1;
      }
      in.push_back(static_cast<T>(random >> 63 ? 0 - x : x));
    }
    Rows program(type, 1, f.name, "%r = " + instruction + " " + type + " %a to " + f.name);
    EXPECT_TRUE(program.calls_nothing());
    const auto out = program.run(in, in.size(), static_cast<int32_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i) {
      const bool negative = in[i] < 0;
      const uint64_t size = negative ? 0 - static_cast<uint64_t>(in[i]) : static_cast<uint64_t>(in[i]);
      ASSERT_EQ(out[i], round(f, {negative, Wide(size) << kScale})) << in[i];
    }
  }
}

TEST(NarrowFloats, IntegersRoundOnce) {
  expect_integers<uint64_t>("i64", "uitofp");
  expect_integers<int64_t>("i64", "sitofp");
  expect_integers<uint32_t>("i32", "uitofp");
  expect_integers<int32_t>("i32", "sitofp");
  expect_integers<int16_t>("i16", "sitofp");
}

TEST(NarrowFloats, IntegersWithZerosBehindStayInfinite) {
  Rows program("i32", 1, "bfloat",
               "%s = shl i32 %a, 21\n%h = uitofp i32 %s to half\n%f = fpext half %h to float\n"
               "%r = fptrunc float %f to bfloat");
  std::vector<uint32_t> in = {0, 1, 0x7ff};
  EXPECT_EQ(program.run(in, 3, 3), (std::vector<uint16_t>{0, kBfloat.infinity, kBfloat.infinity}));
}

TEST(NarrowFloats, FunctionsOfBfloatsGoThroughFloat) {
  Rows root("bfloat", 1, "bfloat", "%r = call bfloat @llvm.sqrt.bf16(bfloat %a)",
            "declare bfloat @llvm.sqrt.bf16(bfloat)\n");
  Rows signs("bfloat", 2, "bfloat",
             "%m = fneg bfloat %a\n%s = call bfloat @llvm.fabs.bf16(bfloat %m)\n"
             "%r = call bfloat @llvm.copysign.bf16(bfloat %s, bfloat %b)",
             "declare bfloat @llvm.fabs.bf16(bfloat)\ndeclare bfloat @llvm.copysign.bf16(bfloat, bfloat)\n");
  EXPECT_TRUE(root.calls_nothing());
  EXPECT_TRUE(signs.calls_nothing());
  std::vector<uint16_t> all(0x7f80);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  const auto roots = root.run(all, all.size(), static_cast<int32_t>(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {  // oracle: the host's root in double, which has twice the digits
    const double x = std::bit_cast<float>(static_cast<uint32_t>(all[i]) << 16);
    ASSERT_EQ(roots[i], round(kBfloat, decode(std::sqrt(x)))) << x;
  }
  std::vector<uint16_t> pairs = {0x0001, 0x8000, 0x8001, 0x0000, 0x3f80, 0xbf80, 0xffc1, 0x0000};
  EXPECT_EQ(signs.run(pairs, 4, 4), (std::vector<uint16_t>{0x8001, 0x0001, 0xbf80, 0x7fc1}));
}

TEST(NarrowFloats, FunctionsOfTwoResultsTakeHalves) {
  Rows program("half", 1, "half",
               "%m = call { half, half } @llvm.modf.f16(half %a)\n%q = extractvalue { half, half } %m, 0\n"
               "%e = call { half, i32 } @llvm.frexp.f16.i32(half %a)\n%s = extractvalue { half, i32 } %e, 0\n"
               "%r = fadd half %q, %s",
               "declare { half, half } @llvm.modf.f16(half)\ndeclare { half, i32 } @llvm.frexp.f16.i32(half)\n");
  std::vector<uint16_t> in = {0x4500};                                // 5
  EXPECT_EQ(program.run(in, 1, 1), (std::vector<uint16_t>{0x3900}));  // no fraction, and 5 is 0.625 * 8
}

TEST(NarrowFloats, WiderIntegersAreRefused) {
  const auto image = build_text(
      "define ptx_kernel void @k(ptr %p) { %x = load i128, ptr %p\n %r = uitofp i128 %x to bfloat\n"
      " store bfloat %r, ptr %p\n ret void }");
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, ErrorCode::NotSupported);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
