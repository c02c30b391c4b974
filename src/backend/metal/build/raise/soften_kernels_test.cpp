// Whole kernels of src/device/metal/double_kernels.cu on the cpu device's compiler: with the processor's doubles, and
// in integers. What they leave in memory must be the same to the last bit.

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "backend/cpu/build/test_program.h"
#include "backend/metal/build/raise/soften_doubles.h"
#include "base/file.h"
#include "kir/kir.h"

namespace cupola::metal::build {
namespace {

using cpu::build::testing::TestProgram;

std::string file(const char* path) {
  auto bytes = read_file(path);
  if (!bytes) ADD_FAILURE() << bytes.error().message;
  return std::move(bytes).value_or("");
}
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Without the layout and the triple, which TestProgram adds.
std::string text_of(const llvm::Module& module) {
  std::string all = kir::print(module), kept;
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at) + 1;
    if (all.compare(at, 7, "target ") != 0) kept += all.substr(at, end - at);
    at = end;
  }
  return kept;
}

struct Programs {
  std::string hard, soft;
};
Programs prepared() {
  llvm::LLVMContext context;
  const std::string kernels = file(CUPOLA_DOUBLE_KERNELS), device = file(CUPOLA_LIBRARIES "/device.bc"),
                    library = file(CUPOLA_LIBRARIES "/metal.bc");
  auto module = kir::read(context, bytes_of(kernels));
  EXPECT_TRUE(module) << module.error().message;
  const Result<> done = kir::prepare(**module, {.device_library = bytes_of(device)});
  EXPECT_TRUE(done) << done.error().message;
  Programs texts;
  texts.hard = text_of(**module);
  const Result<> softened = soften_doubles(**module, bytes_of(library));
  EXPECT_TRUE(softened) << softened.error().message;
  texts.soft = text_of(**module);
  for (const char* use : {"double %", "x double]", "load double, ", "(double"}) {
    EXPECT_NE(texts.hard.find(use), std::string::npos) << use;
    EXPECT_EQ(texts.soft.find(use), std::string::npos) << use;
  }
  return texts;
}

class SoftenedKernels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!read_file(CUPOLA_LIBRARIES "/c_library.bc")) GTEST_SKIP() << "the build found no libclc";
    const Programs texts = prepared();
    hard = new TestProgram(texts.hard);
    soft = new TestProgram(texts.soft);
  }
  static void TearDownTestSuite() {
    delete std::exchange(hard, nullptr);
    delete std::exchange(soft, nullptr);
  }
  static inline TestProgram *hard = nullptr, *soft = nullptr;
};

/// The same bits, or NaNs both.
void expect_same(const std::vector<double>& hard, const std::vector<double>& soft) {
  ASSERT_EQ(hard.size(), soft.size());
  for (size_t i = 0; i < hard.size(); ++i) {
    if (std::isnan(hard[i]) && std::isnan(soft[i])) continue;
    ASSERT_EQ(std::bit_cast<uint64_t>(hard[i]), std::bit_cast<uint64_t>(soft[i])) << "at " << i << ": " << hard[i];
  }
}

std::vector<double> numbers(size_t count, double size) {
  std::mt19937_64 random(count);
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<double> all(count);
  for (double& number : all) number = uniform(random);
  return all;
}

TEST_F(SoftenedKernels, MultiplyVectors) {
  constexpr int kCount = 10000;
  std::vector<double> a = numbers(kCount, 1), b = numbers(kCount + 1, 1e10);
  std::vector<double> of_hard = {0.5}, of_soft = {0.5};
  hard->launch("dot", {4}, {32}, a.data(), b.data(), of_hard.data(), kCount);
  soft->launch("dot", {4}, {32}, a.data(), b.data(), of_soft.data(), kCount);
  EXPECT_NE(of_hard[0], 0.5);
  expect_same(of_hard, of_soft);
}

TEST_F(SoftenedKernels, MoveBodies) {
  constexpr int kCount = 256;
  std::vector<double> bodies = numbers(4 * kCount, 1);
  std::vector<double> of_hard(4 * kCount), of_soft(4 * kCount);
  hard->launch("nbody", {kCount / 64}, {64}, bodies.data(), of_hard.data(), kCount, 0.01);
  soft->launch("nbody", {kCount / 64}, {64}, bodies.data(), of_soft.data(), kCount, 0.01);
  EXPECT_NE(of_hard[0], 0);
  expect_same(of_hard, of_soft);
}

TEST_F(SoftenedKernels, ComputeElementaryFunctions) {
  constexpr int kResults = 18;
  std::vector<double> in;
  for (const double size : {1e-310, 1e-5, 1.0, 30.0, 700.0, 5e4, 1e18, 1e300})
    for (const double number : numbers(400, size)) in.push_back(number);
  for (const double number :
       {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -7.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 0x1p-1074, 0x1p1023})
    in.push_back(number);
  const auto count = static_cast<int32_t>(in.size());
  std::vector<double> of_hard(kResults * in.size()), of_soft(kResults * in.size());
  hard->launch("elementary", {2}, {32}, in.data(), of_hard.data(), count);
  soft->launch("elementary", {2}, {32}, in.data(), of_soft.data(), count);
  expect_same(of_hard, of_soft);
}

}  // namespace
}  // namespace cupola::metal::build
