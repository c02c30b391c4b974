// Oracle: the PTX ISA's ".ftz": f32 operands and results that are denormal are zeros of their sign; other types, moves,
// negations and copies of a sign are as they were.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "kir/kir.h"
#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

constexpr char kFlushes[] = " #0 {\n",
               kAttributes[] = "\nattributes #0 = { \"denormal-fp-math-f32\"=\"preserve-sign\" }";
constexpr float kTiny = 0x1p-127f, kLeast = 0x1p-126f;

template <typename R, typename... Args>
R run(const std::string& head, const std::string& body, Args... args) {
  TestModule module(
      "declare float @llvm.fma.f32(float, float, float)\ndeclare float @llvm.fabs.f32(float)\n"
      "declare float @llvm.minimumnum.f32(float, float)\n"
      "define " +
      head + kFlushes + body + "\n}" + kAttributes);
  flush_denormals(*module, /*by_processor=*/false);
  EXPECT_FALSE(flushes_denormals(*module->getFunction("f")));
  return module.function<R(Args...)>("f")(args...);
}

uint32_t bits(float x) {
  return std::bit_cast<uint32_t>(x);
}

TEST(FlushDenormals, OperandsAndResultsOfArithmetic) {
  const auto f = [](const std::string& op, float a, float b) {
    return bits(run<float>("float @f(float %a, float %b)", "%r = " + op + " float %a, %b\nret float %r", a, b));
  };
  EXPECT_EQ(f("fadd", kTiny, kLeast), bits(kLeast));  // the operand is zero
  EXPECT_EQ(f("fmul", kTiny, 0x1p100f), bits(0.0f));  // though the product were no denormal
  EXPECT_EQ(f("fmul", -kLeast, 0.5f), bits(-0.0f));   // the result
  EXPECT_EQ(f("fsub", kLeast * 1.5f, kLeast), bits(0.0f));
  EXPECT_EQ(f("fdiv", 1, kTiny), bits(INFINITY));
  EXPECT_EQ(f("fadd", 1, 2), bits(3));
}

TEST(FlushDenormals, ComparisonsSeeZeros) {
  EXPECT_EQ(run<int>("i32 @f(float %a)", "%c = fcmp oeq float %a, 0.0\n%r = zext i1 %c to i32\nret i32 %r", kTiny), 1);
}

TEST(FlushDenormals, FunctionsThatHaveSuchAForm) {
  EXPECT_EQ(bits(run<float>(
                "float @f(float %a)",
                "%r = call float @llvm.fma.f32(float %a, float 0x46F0000000000000, float 1.0)\nret float %r", kTiny)),
            bits(1));
  EXPECT_EQ(bits(run<float>("float @f(float %a)",
                            "%r = call float @llvm.minimumnum.f32(float %a, float 1.0)\nret float %r", kTiny)),
            bits(0));
}

TEST(FlushDenormals, MovesSignsAndOtherTypesAreLeft) {
  EXPECT_EQ(bits(run<float>("float @f(float %a)", "%r = fneg float %a\nret float %r", kTiny)), bits(-kTiny));
  EXPECT_EQ(bits(run<float>("float @f(float %a)", "%r = call float @llvm.fabs.f32(float %a)\nret float %r", -kTiny)),
            bits(kTiny));
  EXPECT_EQ(bits(run<float>("float @f(float %a, i32 %c)",
                            "%b = icmp ne i32 %c, 0\n%r = select i1 %b, float %a, float 1.0\nret float %r", kTiny, 1)),
            bits(kTiny));
  EXPECT_EQ((run<double>("double @f(double %a)", "%r = fmul double %a, 0.5\nret double %r", 0x1p-1060)), 0x1p-1061);
}

TEST(FlushDenormals, ConversionsFlushTheFloat) {
  EXPECT_EQ((run<double>("double @f(float %a)", "%r = fpext float %a to double\nret double %r", kTiny)), 0.0);
  EXPECT_EQ(bits(run<float>("float @f(double %a)", "%r = fptrunc double %a to float\nret float %r", 0x1p-130)), 0u);
}

/// Kernels and functions, all of which flush; the processor may. Returns the kernels that leave it to the processor.
std::string left_to_processor(const std::string& text, std::string* after = nullptr) {
  TestModule module("declare float @erff(float)\n" + text + kAttributes +
                    "\nattributes #1 = { \"denormal-fp-math-f32\"=\"preserve-sign\" noinline }");
  flush_denormals(*module, /*by_processor=*/true);
  if (after) *after = module.text();
  std::string names;
  for (const llvm::Function* kernel : kernels(*module))
    if (flushes_denormals(*kernel)) names += kernel->getName().str();
  return names;
}

std::string kernel(const std::string& name, const std::string& body) {
  return "define ptx_kernel void @" + name +
         "(ptr %p, ptr %q) #0 {\n%a = load float, ptr %p\n%m = fmul float %a, 0.5\n" + body +
         "\nstore float %m, ptr %p\nret void\n}\n";
}

TEST(FlushDenormals, IsLeftToTheProcessorWhereNothingElseWouldBeFlushed) {
  std::string after;
  EXPECT_EQ(left_to_processor(kernel("k", ""), &after), "k");
  EXPECT_EQ(after.find("select"), std::string::npos);
  const std::string f64 = "%d = load double, ptr %q\n%e = fmul double %d, 0.5\nstore double %e, ptr %q";
  EXPECT_EQ(left_to_processor(kernel("a", f64) + kernel("b", ""), &after), "b");
  EXPECT_NE(after.find("select"), std::string::npos);
  EXPECT_EQ(left_to_processor(kernel("k", "%d = load double, ptr %q\nstore double %d, ptr %p")), "k");  // moved only
  EXPECT_EQ(left_to_processor(kernel("k", "%d = fpext float %m to double\nstore double %d, ptr %q")), "");
  EXPECT_EQ(left_to_processor(kernel("k", "%e = call float @erff(float %m)\nstore float %e, ptr %q")), "");
  EXPECT_EQ(left_to_processor(kernel("k", "call void %q(float %m)")), "");
  // Whoever does not ask for it.
  EXPECT_EQ(left_to_processor("define ptx_kernel void @k() {\nret void\n}\n"), "");
  const std::string ceiling =
      "declare float @llvm.ceil.f32(float)\ndefine float @f(float %x) noinline {\n"
      "%r = call float @llvm.ceil.f32(float %x)\nret float %r\n}\n";
  EXPECT_EQ(left_to_processor(ceiling + kernel("k", "%c = call float @f(float %m)\nstore float %c, ptr %q")), "");
  // Sums in shared memory keep denormals; what came as an argument lies elsewhere.
  EXPECT_EQ(left_to_processor(kernel("k", "%o = atomicrmw fadd ptr %q, float %m monotonic")), "k");
  EXPECT_EQ(left_to_processor("@s = addrspace(3) global float undef\n" +
                              kernel("k", "%o = atomicrmw fadd ptr addrspace(3) @s, float %m monotonic")),
            "");
}

TEST(FlushDenormals, FunctionsOfBothKindsOfKernelsHaveTheirFlushesWrittenOut) {
  const std::string function = "define float @f(float %x) #1 {\n%r = fmul float %x, 0.5\nret float %r\n}\n";
  const std::string call = "%c = call float @f(float %m)\nstore float %c, ptr %q";
  const std::string f64 = "\n%d = load double, ptr %q\n%e = fadd double %d, 0.5\nstore double %e, ptr %q";
  const auto flushes_of_f = [&](const std::string& text) {
    std::string after;
    left_to_processor(function + text, &after);
    const size_t begin = after.find("@f(float %x)");
    return after.substr(begin, after.find("\n}", begin) - begin).find("select") != std::string::npos;
  };
  EXPECT_FALSE(flushes_of_f(kernel("k", call)));
  EXPECT_TRUE(flushes_of_f(kernel("k", call) + kernel("d", call + f64)));
  EXPECT_TRUE(flushes_of_f(kernel("k", call) + "@pointer = global ptr @f\n"));
}

}  // namespace
}  // namespace cupola::kir
